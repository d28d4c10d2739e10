"""Scenarios of all kinds for hypothesis: every member, topic and event that a file can hold, none that it cannot.

What a member owns is grouped by topic and capacities stand where the file puts them, so that a round trip is exact.
"""

import string
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from assignors import names
from assignors.model import Member, Topic, TopicPartition
from assignors.patterns import resolved
from assignors.scenario.group_schema import MAX_GENERATION
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Loads,
    Restart,
    Resume,
    Scenario,
    Slow,
    Split,
    Subscribe,
    UseAssignor,
)

Draw = st.DrawFn
TRICKY = (
    "on",
    "yes",
    "null",
    "~",
    "1",
    "007",
    "1e5",
    "0x10",
    "1:30",
    "2026-01-01",
    "<<",
    "=",
    "é",
    "用户-1",
    "a: b",
    "- x",
)
LETTERS = string.ascii_letters + string.digits + "._-"

texts = st.sampled_from(TRICKY) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
topic_names = st.text(LETTERS, min_size=1, max_size=8).filter(lambda name: name not in (".", "..")) | st.text(
    "x", min_size=249, max_size=249
)
amounts = st.integers(0, 10**6).map(float) | st.floats(0, 1e15)
lengths = st.integers(0, 86_400_000)
patterns = st.sampled_from(("x+", ".*", "[a-m].*", "orders-(eu|us)", r"\d+", "on", "1", "a: b"))
capacities = st.floats(0, 1e15, exclude_min=True)
settings = texts | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def topics(draw: Draw, name: str) -> Topic:
    """A topic of up to 6 partitions, with or without racks and an id."""
    count = draw(st.integers(1, 6))
    racks = st.lists(texts, max_size=3).map(tuple)
    return Topic(
        name,
        count,
        draw(st.none() | st.lists(racks, min_size=count, max_size=count).map(tuple)),
        draw(st.none() | st.uuids().map(str)),
    )


@st.composite
def members(draw: Draw, member_id: str, instance_id: str | None, known: list[str]) -> Member:
    """A member that owns nothing. It may subscribe to nothing, or to what does not exist."""
    subscribed = (st.sampled_from(known) | topic_names) if known else topic_names
    return Member(
        member_id=member_id,
        instance_id=instance_id,
        client_id=draw(st.just("") | texts),
        host=draw(st.just("") | texts),
        rack=draw(st.none() | texts),
        **draw(subscriptions(subscribed)),
    )


@st.composite
def subscriptions(draw: Draw, names: st.SearchStrategy[str]) -> dict[str, Any]:
    """By name, or by a pattern whose topics are found later."""
    if draw(st.integers(0, 3)) == 0:
        return {"pattern": draw(patterns)}
    return {"topics": tuple(draw(st.lists(names, unique=True, max_size=4)))}


@st.composite
def owners(draw: Draw, member: Member, there: dict[str, Topic]) -> Member:
    """The same member with partitions that it owns, as of some generation, or none."""
    owned: list[TopicPartition] = []
    for name in draw(st.lists(st.sampled_from(sorted(there)), unique=True, max_size=3)) if there else ():
        numbers = draw(st.lists(st.integers(0, there[name].partitions - 1), unique=True))
        owned += [TopicPartition(name, number) for number in numbers]
    generation = draw(st.none() | st.integers(0, MAX_GENERATION))
    return resolved(replace(member, owned=tuple(owned), generation=generation), there)


class Course:
    """What can still happen: who is there, which topics exist."""

    def __init__(self, draw: Draw, there: dict[str, Topic], group: tuple[Member, ...], spare: list[str]) -> None:
        self.draw, self.spare = draw, spare
        self.most = {name: topic.partitions for name, topic in there.items()}
        self.now = dict(self.most)
        self.members = {member.member_id for member in group}
        self.frozen: set[str] = set()
        self.split: set[str] = set()
        self.still: dict[str, int] = {}
        self.now_ms = 0
        self.up = True

    def next(self, at_ms: int) -> Action:
        """One thing that can happen at that time."""
        self.now_ms = at_ms
        possible: list[Callable[[], Action]] = [self._assignor, self._coordinator, self._create]
        possible += [self._join] if self.spare else []
        possible += [self._grow, self._delete] if self.now else []
        possible += [self._go, self._stay, self._freeze, self._split] if self._able() else []
        possible += [self._resume] if self.frozen else []
        possible += [self._heal] if self.split else []
        return self.draw(st.sampled_from(possible))()

    def _assignor(self) -> Action:
        return UseAssignor(self.draw(st.sampled_from(names())))

    def _coordinator(self) -> Action:
        self.up = not self.up
        return CoordinatorUp() if self.up else CoordinatorDown()

    def _create(self) -> Action:
        topic = self.draw(topics(self.draw(topic_names.filter(lambda name: name not in self.now))))
        self._set(topic.name, topic.partitions)
        return CreateTopic(topic)

    def _join(self) -> Action:
        member = self.spare.pop()
        self.members.add(member)
        return Join(self.draw(members(member, None, sorted(self.now))), self.draw(st.none() | capacities))

    def _grow(self) -> Action:
        name = self.draw(st.sampled_from(sorted(self.now)))
        self._set(name, self.now[name] + self.draw(st.integers(1, 6)))
        return AddPartitions(name, self.now[name])

    def _delete(self) -> Action:
        name = self.draw(st.sampled_from(sorted(self.now)))
        del self.now[name]
        return DeleteTopic(name)

    def _go(self) -> Action:
        member = self._member()
        self.members.remove(member)
        return Leave(member) if self.draw(st.booleans()) else Crash(member)

    def _stay(self) -> Action:
        member = self._member()
        kind = self.draw(st.sampled_from(("restart", "subscribe", "rack", "pause", "slow")))
        if kind == "restart":
            return Restart(member)
        if kind == "pause":
            return self._pause(member)
        if kind == "slow":
            return Slow(member, self.draw(lengths))
        if kind == "rack":
            return ChangeRack(member, self.draw(st.none() | texts))
        return Subscribe(member, **self.draw(subscriptions(topic_names)))

    def _pause(self, member: str) -> Action:
        """Meanwhile nothing else can happen to it."""
        lasts_ms = self.draw(lengths)
        self.still[member] = self.now_ms + lasts_ms
        return GcPause(member, lasts_ms)

    def _split(self) -> Action:
        member = self._member()
        self.members.remove(member)
        self.split.add(member)
        return Split(member)

    def _heal(self) -> Action:
        member = self.draw(st.sampled_from(sorted(self.split)))
        self.split.remove(member)
        self.members.add(member)
        return Heal(member)

    def _freeze(self) -> Action:
        """Who is frozen can do nothing but resume."""
        member = self._member()
        self.members.remove(member)
        self.frozen.add(member)
        return Freeze(member)

    def _resume(self) -> Action:
        member = self.draw(st.sampled_from(sorted(self.frozen)))
        self.frozen.remove(member)
        self.members.add(member)
        return Resume(member)

    def _member(self) -> str:
        return self.draw(st.sampled_from(self._able()))

    def _able(self) -> list[str]:
        return sorted(member for member in self.members if self.still.get(member, 0) <= self.now_ms)

    def _set(self, name: str, count: int) -> None:
        self.now[name] = count
        self.most[name] = max(count, self.most.get(name, 0))


@st.composite
def scenarios(draw: Draw, most_events: int = 6) -> Scenario:
    """A scenario that a file can hold."""
    there = {name: draw(topics(name)) for name in draw(st.lists(topic_names, unique=True, max_size=4))}
    ids = draw(st.lists(texts, unique=True, min_size=1, max_size=6))
    cut = draw(st.integers(0, len(ids)))
    instances = draw(st.lists(texts, unique=True, min_size=cut, max_size=cut))
    static = [draw(st.sampled_from((None, instance))) for instance in instances]
    fresh = (draw(members(name, who, sorted(there))) for name, who in zip(ids[:cut], static, strict=True))
    group = tuple(draw(owners(member, there)) for member in fresh)
    course = Course(draw, there, group, ids[cut:])
    times = sorted(draw(st.lists(st.integers(0, 86_400_000), max_size=most_events)))
    events = tuple(Event(at_ms, course.next(at_ms)) for at_ms in times)
    return Scenario(
        name=draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=20)),
        assignor=draw(st.sampled_from(names())),
        topics=there,
        members=group,
        events=events,
        loads=draw(loads(course.most, ids[:cut])),
        protocol=draw(st.dictionaries(texts, settings, max_size=2)),
        description=draw(st.just("") | texts),
    )


@st.composite
def loads(draw: Draw, most: dict[str, int], group: list[str]) -> Loads:
    """Loads of some partitions, of those that come later too."""
    partitions = [TopicPartition(name, number) for name, count in most.items() for number in range(count)]
    some = st.dictionaries(st.sampled_from(partitions), amounts, max_size=8) if partitions else st.just({})
    return Loads(
        weights=draw(some | amounts.map(lambda amount: dict.fromkeys(partitions, amount))),
        lag_records=draw(some),
        produced_per_s=draw(some),
        capacity_per_s=draw(st.dictionaries(st.sampled_from(group), capacities)) if group else {},
        default_capacity_per_s=draw(st.none() | capacities),
    )
