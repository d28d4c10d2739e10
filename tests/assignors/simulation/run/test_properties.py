"""What holds for every story, on random ones."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from hypothesis import Phase, given
from hypothesis import strategies as st

from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Hold, MemberState, OwnershipSpan, Plan, Timeline
from assignors.whatif.events import (
    Action,
    AddPartitions,
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
    Restart,
    Resume,
    Scenario,
    Slow,
    Split,
    Subscribe,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import CONSUMER, COOPERATIVE, EAGER, QUICK, SESSION, played
from tests.support.random_examples import random_examples

NAMES = "abcd"
SUBSCRIPTIONS = st.sampled_from([(("t",), None), (("t", "u"), None), (("u",), None), ((), None), ((), "[tu]")])
"""Topics, and a pattern."""
SLOWEST_RESTART_MS = 30_000


class Course:
    """What can still happen to whom."""

    def __init__(self, draw: st.DrawFn, group: Iterable[Member]) -> None:
        self.draw = draw
        self.there = {member.member_id for member in group}
        self.away: dict[str, type[Freeze | Split]] = {}
        self.still: dict[str, int] = {}
        self.back: dict[str, int] = {}
        self.partitions = {"t": 4}
        self.now_ms = 0
        self.up = True

    def next(self, at_ms: int) -> Action:
        """One thing that can happen at that time."""
        self.now_ms = at_ms
        possible: list[Callable[[], Action]] = [self._topic, self._coordinator]
        possible += [self._join] if len(self.there) + len(self.away) < len(NAMES) else []
        possible += [self._happen] * 4 if self._able() else []
        possible += [self._return] * 2 if self.away else []
        return self.draw(st.sampled_from(possible))()

    def _topic(self) -> Action:
        if "u" not in self.partitions:
            self.partitions["u"] = 2
            return CreateTopic(Topic("u", 2))
        if self.draw(st.booleans()):
            del self.partitions["u"]
            return DeleteTopic("u")
        self.partitions["t"] += 2
        return AddPartitions("t", self.partitions["t"])

    def _coordinator(self) -> Action:
        self.up = not self.up
        return CoordinatorUp() if self.up else CoordinatorDown()

    def _join(self) -> Action:
        name = next(name for name in NAMES if name not in {*self.there, *self.away})
        self.there.add(name)
        return Join(self.draw(members(name)))

    def _happen(self) -> Action:
        name = self.draw(st.sampled_from(self._able()))
        kinds = [Leave, Crash, Split, Subscribe, Slow]
        kinds += [Freeze, Restart, GcPause] if self.back.get(name, -1) < self.now_ms else []
        kind = self.draw(st.sampled_from(kinds))
        if kind is Subscribe:
            return Subscribe(name, *self.draw(SUBSCRIPTIONS))
        if kind is Slow:
            return Slow(name, self.draw(st.sampled_from((0, 700, 12_000))))
        if kind is GcPause:
            self.still[name] = self.now_ms + self.draw(st.sampled_from((2_000, 30_000)))
            return GcPause(name, self.still[name] - self.now_ms)
        if kind is Restart:
            self.back[name] = self.now_ms + SLOWEST_RESTART_MS
        else:
            self.there.remove(name)
        if kind in (Freeze, Split):
            self.away[name] = kind
        made: Action = kind(name)
        return made

    def _able(self) -> list[str]:
        return sorted(name for name in self.there if self.still.get(name, -1) < self.now_ms)

    def _return(self) -> Action:
        name = self.draw(st.sampled_from(sorted(self.away)))
        self.there.add(name)
        return Resume(name) if self.away.pop(name) is Freeze else Heal(name)


@st.composite
def members(draw: st.DrawFn, name: str) -> Member:
    """A member, static or not."""
    topics, pattern = draw(SUBSCRIPTIONS)
    return Member(name, instance_id=name if draw(st.booleans()) else None, topics=topics, pattern=pattern)


@st.composite
def stories(draw: st.DrawFn) -> Scenario:
    """Up to four members, up to six events within two minutes; at the end there is a coordinator."""
    group = tuple(draw(members(name)) for name in NAMES[: draw(st.integers(0, 3))])
    course = Course(draw, group)
    times = sorted(draw(st.lists(st.integers(0, 120_000), max_size=6)))
    events = [Event(at_ms, course.next(at_ms)) for at_ms in times]
    events += [] if course.up else [Event(121_000, CoordinatorUp())]
    chosen = QUICK | {
        "max.poll.interval.ms": draw(st.sampled_from((20_000, 60_000))),
        "metadata.max.age.ms": 30_000,
        "group.initial.rebalance.delay.ms": draw(st.sampled_from((0, 3_000))),
        "simulated.append.ms": draw(st.sampled_from((0, 5, 300))),
        "simulated.latency.ms": draw(st.sampled_from((0, 1, 40))),
        "simulated.processing.ms": draw(st.sampled_from((0, 700, 5_000))),
        "simulated.restart.ms": draw(st.sampled_from((0, 4_000, SLOWEST_RESTART_MS))),
        "simulated.freeze": draw(st.sampled_from(("polling", "process"))),
    }
    return Scenario("random", "cooperative-sticky", {"t": Topic("t", 4)}, group, tuple(events), protocol=chosen)


def has_static(story: Scenario) -> bool:
    joining = [event.action.member for event in story.events if isinstance(event.action, Join)]
    return any(member.instance_id is not None for member in (*story.members, *joining))


def grows(story: Scenario) -> bool:
    return any(isinstance(event.action, AddPartitions | CreateTopic) for event in story.events)


def restarts(story: Scenario) -> bool:
    return any(isinstance(event.action, Restart) for event in story.events)


def polls_too_rarely(story: Scenario) -> bool:
    """A classic group whose members poll more rarely than their sessions last may rebalance for ever."""
    return any(isinstance(event.action, Slow) and event.action.processing_ms > SESSION for event in story.events)


def gets_what_it_does_not_read(timeline: Timeline) -> bool:
    """Kafka's `sticky` may give a partition back to who had it but reads its topic no more: it joins for ever."""
    return any(tp.topic not in member.topics for member in timeline.plans[-1].members for tp in member.owned)


def by_partition(timeline: Timeline) -> dict[TopicPartition, list[OwnershipSpan]]:
    """The ownership table, partition by partition."""
    rows: dict[TopicPartition, list[OwnershipSpan]] = defaultdict(list)
    for row in timeline.ownership:
        rows[row.partition].append(row)
    return rows


def spells(rows: Iterable[OwnershipSpan]) -> list[tuple[int, int, list[OwnershipSpan]]]:
    """The time between any two changes, with those who hold then."""
    found = list(rows)
    edges = sorted({edge for row in found for edge in (row.start_ms, row.end_ms)})
    return [(a, b, [row for row in found if row.start_ms <= a and b <= row.end_ms]) for a, b in pairwise(edges)]


@random_examples(300, phases=[Phase.reuse, Phase.generate])
@given(stories(), st.sampled_from((EAGER, COOPERATIVE, CONSUMER)))
def test_every_story(story: Scenario, protocol: RebalanceProtocol) -> None:
    timeline = played(story, protocol)
    deleted = {event.action.topic for event in story.events if isinstance(event.action, DeleteTopic)}
    nobody_has_two_owners(timeline, deleted if protocol is CONSUMER else set())
    lanes_have_no_holes(timeline)
    owners_consume(timeline)
    generations_increase(timeline)
    summary_is_that_of_the_table(timeline)
    messages_take_their_time(timeline, int(story.protocol["simulated.latency.ms"]))
    if timeline.unsettled is None:
        at_rest_everybody_has_what_was_planned(timeline)
        waits = grows(story) or (protocol is COOPERATIVE and restarts(story))
        if protocol is CONSUMER or not (has_static(story) and waits):
            at_rest_every_partition_that_somebody_reads_is_owned(timeline, story)
    else:
        assert protocol is not CONSUMER
        assert polls_too_rarely(story) or gets_what_it_does_not_read(timeline)
    if protocol is not EAGER:
        only_what_a_plan_takes_away_stops(timeline, deleted)


def nobody_has_two_owners(timeline: Timeline, deleted: set[str]) -> None:
    """A zombie is never an owner, and whoever holds in another way is no member or stands still.

    But for topics that are `deleted`: to a KIP-848 coordinator one of the same name is another, and free at once.
    """
    for partition, rows in by_partition(timeline).items():
        for _, _, held in spells(rows) if partition.topic not in deleted else ():
            assert sum(row.hold is Hold.OWNED for row in held) <= 1, held
            assert {row.member is None for row in held if row.hold is Hold.NOBODY} <= {True}
            assert len(held) <= 1 or Hold.NOBODY not in {row.hold for row in held}


def lanes_have_no_holes(timeline: Timeline) -> None:
    """Spans adjoin up to the end, of members as of the group; who holds a partition is known all the time."""
    for one, other in pairwise(timeline.spans):
        if one.member == other.member:
            assert one.end_ms == other.start_ms
            assert (one.state, one.generation) != (other.state, other.generation)
        else:
            assert one.end_ms == timeline.end_ms
    for before, after in pairwise(timeline.group):
        assert before.end_ms == after.start_ms
    for rows in by_partition(timeline).values():
        assert all(held for _, _, held in spells(rows)) or rows[0].partition.topic == "u"


def owners_consume(timeline: Timeline) -> None:
    """Who owns a partition consumes all that time; another hold names what the member does instead."""
    consumes = {MemberState.CONSUMING, MemberState.REJOINING, MemberState.SPLIT}
    states = {Hold.OWNED: consumes, Hold.STALLED: {MemberState.STALLED}, Hold.FROZEN: {MemberState.FROZEN}}
    for row in timeline.ownership:
        meanwhile = {
            span.state
            for span in timeline.spans
            if span.member == row.member and span.start_ms < row.end_ms and row.start_ms < span.end_ms
        }
        assert meanwhile <= states.get(row.hold, set(MemberState)), (row, meanwhile)


def generations_increase(timeline: Timeline) -> None:
    for one, other in pairwise(timeline.plans):
        assert one.generation < other.generation
        assert one.at_ms <= other.at_ms


def summary_is_that_of_the_table(timeline: Timeline) -> None:
    """Computed in another way: by what holds between any two changes."""
    summary = summarize(timeline)
    for down in summary.downtime:
        rows = by_partition(timeline)[down.partition]
        owned = [row for row in rows if row.hold is Hold.OWNED]
        first_ms = min((row.start_ms for row in owned), default=timeline.end_ms)
        without = [
            b - a
            for a, b, held in spells(rows)
            if a >= first_ms and held and all(row.hold is not Hold.OWNED for row in held)
        ]
        assert down.down_ms == sum(without)
        assert down.waited_ms == (first_ms - rows[0].start_ms if owned else None)
    assert summary.down_ms == sum(down.down_ms for down in summary.downtime)
    paused = [span.end_ms - span.start_ms for span in timeline.spans if span.state is MemberState.PAUSED]
    assert summary.paused_ms == sum(paused)


def messages_take_their_time(timeline: Timeline, latency_ms: int) -> None:
    took = {message.arrived_ms - message.sent_ms for message in timeline.messages if message.arrived_ms is not None}
    assert took <= {latency_ms}


def at_rest_everybody_has_what_was_planned(timeline: Timeline) -> None:
    """Who consumes at the end has what the last plan gave it, if the topic is still there."""
    held = {row.partition: row.member for row in timeline.ownership if row.end_ms == timeline.end_ms and row.member}
    last = {span.member: span.state for span in timeline.spans}
    consuming = {member for member, state in last.items() if state is MemberState.CONSUMING}
    owned = {partition for partition, member in held.items() if member in consuming}
    planned = timeline.plans[-1].by_member if timeline.plans else {}
    assert all(held[partition] in planned and partition in planned[held[partition] or ""] for partition in owned)


def at_rest_every_partition_that_somebody_reads_is_owned(timeline: Timeline, story: Scenario) -> None:
    """By one who is there and does its work: of what there was of the topics that such a one reads since the last plan.

    Not where a classic group has static members and topics grow, or processes restart in a cooperative one. A static
    leader that comes back takes the topics as they are for what was planned (KIP-814); a static member that was about
    to join again without what it gave up gets its old place without a rebalance. In Kafka too both wait for the next.
    """
    if not timeline.plans:
        return
    last, plan = {span.member: span.state for span in timeline.spans}, timeline.plans[-1]
    there = {member for member, state in last.items() if state in (MemberState.CONSUMING, MemberState.IDLE)}
    later = [event.action for event in story.events if event.at_ms > plan.at_ms]
    same = there - {action.member_id for action in later if isinstance(action, Subscribe)}
    read = {topic for member in plan.members for topic in member.topics if member.member_id in same}
    for partition, rows in by_partition(timeline).items():
        known = plan.topics.get(partition.topic)
        if partition.topic in read and known is not None and partition.partition < known.partitions:
            final = [row for row in rows if row.end_ms == timeline.end_ms]
            assert not final or any(row.member in there and row.hold is Hold.OWNED for row in final), final


def only_what_a_plan_takes_away_stops(timeline: Timeline, deleted: set[str]) -> None:
    """Under cooperative and KIP-848, what a member keeps through a rebalance is consumed all the time.

    Of members that never lose their place, of topics that are never deleted, and times in which every plan became
    Stable: others are not in the table.
    """
    steady = steady_members(timeline)
    for partition, rows in by_partition(timeline).items():
        for one, other in gaps(rows):
            if one.member in steady and partition.topic not in deleted:
                plans = plans_between(timeline, one.end_ms, other.start_ms)
                assert plans is None or any(partition not in plan.by_member.get(one.member or "", ()) for plan in plans)


def gaps(rows: Iterable[OwnershipSpan]) -> Iterator[tuple[OwnershipSpan, OwnershipSpan]]:
    """Where an owner stops and later goes on, with no other owner between."""
    for one, other in pairwise(row for row in rows if row.hold is Hold.OWNED):
        if one.member == other.member and one.end_ms < other.start_ms:
            yield one, other


def plans_between(timeline: Timeline, start_ms: int, end_ms: int) -> list[Plan] | None:
    """The plan that held at the start, those until the end, and one more on each side; None when one is missing."""
    before = sum(plan.at_ms <= start_ms for plan in timeline.plans)
    until = sum(plan.at_ms <= end_ms for plan in timeline.plans)
    found = timeline.plans[max(0, before - 2) : until + 1]
    is_whole = all(one.generation + 1 == other.generation for one, other in pairwise(found))
    return list(found) if is_whole else None


def steady_members(timeline: Timeline) -> set[str]:
    """Those that once they have a place never lose it."""
    calm = {MemberState.CONSUMING, MemberState.IDLE, MemberState.REJOINING}
    states = defaultdict(list)
    for span in timeline.spans:
        states[span.member].append(span.state)
    return {member for member, its in states.items() if set(its[1:]) <= calm}
