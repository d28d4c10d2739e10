"""What `assign` and `simulate` say about a scenario, and events in turn beside the simulated coordinator."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assignors.model import AssignorError, Member, Topic
from assignors.simulation.fold import fold
from assignors.simulation.run import simulate
from assignors.simulation.settings import read
from assignors.simulation.timeline.generations import generations
from assignors.simulation.timeline.tables import INITIAL_STATE
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Event,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Restart,
    Resume,
    Scenario,
    Split,
    Subscribe,
)
from assignors.whatif.generations import Generation, in_turn
from assignors.whatif.rebalance_protocol import protocol_of
from assignors.whatif.timing import overlaps
from tests.oracle.tally import Checked, generator

NAME = "plans"
CLASSIC = ("range", "roundrobin", "sticky", "cooperative-sticky")
CONSUMER = ("uniform", "server-range")
SUBSCRIPTIONS = (("t",), ("u",), ("t", "u"))
NEAR_MS = (500, 2_000, 7_000, 20_000, 44_000, 60_000)
FAR_MS = (400_000, 700_000)
SEEDS = 8

Plan = tuple[int, dict[str, list[str]]]


class Course:
    """A group that owns what was planned for it, and what happens to it, one event after the other."""

    def __init__(self, r: random.Random, spread_ms: Sequence[int], *, renames: bool = True) -> None:
        self._r, self._renames = r, renames
        self.name = r.choice(CLASSIC if renames else CONSUMER)
        self._joined, self._now_ms, self._size = 0, 0, r.randint(1, 9)
        topics = {"t": Topic("t", self._size), "u": Topic("u", r.randint(1, 5))}
        members = tuple(self._member(f"m{at}") for at in range(r.randint(1, 4)))
        self._there, self._away = {member.member_id for member in members}, dict[str, type[Resume] | type[Heal]]()
        self._is_down = False
        start = Scenario("course", self.name, topics, members)
        self.start = replace(start, members=in_turn(start)[-1].members)
        self.events = tuple(self._event(spread_ms) for _ in range(r.randint(1, 6)))

    @property
    def scenario(self) -> Scenario:
        return replace(self.start, events=self.events)

    def _member(self, name: str) -> Member:
        """An instance id is the beginning of the member's id, as Kafka makes it, so both have one order."""
        return Member(name, topics=self._r.choice(SUBSCRIPTIONS), instance_id=name if self._r.random() < 0.4 else None)

    def _event(self, spread_ms: Sequence[int]) -> Event:
        self._now_ms += self._r.choice(spread_ms)
        action = self._action(spread_ms is NEAR_MS)
        made = Event(self._now_ms, action)
        self._now_ms += action.pause_ms
        return made

    def _action(self, near: bool) -> Action:
        """Under KIP-848 a process that starts has a random id, on which the plan depends: none starts without names."""
        kinds = ["leave", "crash", "freeze", "split", "return", "add", "subscribe", "pause"]
        kinds += ["join", "restart"] if self._renames else []
        kinds += ["coordinator"] if near else []
        kind = self._r.choice(kinds)
        if kind == "coordinator":
            self._is_down = not self._is_down
            return CoordinatorDown() if self._is_down else CoordinatorUp()
        if kind == "return" and self._away:
            name = min(self._away)
            self._there.add(name)
            return self._away.pop(name)(name)
        if kind == "add" or (not self._there and not self._renames):
            self._size += self._r.randint(1, 3)
            return AddPartitions("t", self._size)
        if kind == "join" or not self._there:
            self._joined += 1
            member = self._member(f"n{self._joined}")
            self._there.add(member.member_id)
            return Join(member)
        return self._of_member(kind, self._r.choice(sorted(self._there)))

    def _of_member(self, kind: str, name: str) -> Action:
        match kind:
            case "leave" | "crash":
                self._there.remove(name)
                return Leave(name) if kind == "leave" else Crash(name)
            case "freeze" | "split":
                self._there.remove(name)
                self._away[name] = Resume if kind == "freeze" else Heal
                return Freeze(name) if kind == "freeze" else Split(name)
            case "restart":
                return Restart(name)
            case "pause":
                return GcPause(name, self._r.choice((5_000, 60_000)))
        return Subscribe(name, self._r.choice(SUBSCRIPTIONS))


def check(seed: int, number: int) -> Iterator[Checked]:
    """A scenario with events within timeouts by both commands, and one with events in turn by both engines."""
    r = generator(seed, number)
    near = Course(r, NEAR_MS).scenario
    if overlaps(near, near.assignor):
        yield _beside(near)
    for renames in (True, False):
        far = Course(r, FAR_MS, renames=renames).scenario
        if not overlaps(far, far.assignor):
            yield _in_turn_beside(far)


def _in_turn_beside(scenario: Scenario) -> Checked:
    """Sticky plans depend on member ids, which are of chance for processes that start: one of eight agrees."""
    ours = in_turn(scenario)
    found = (_differs(scenario, ours, simulated(scenario, seed), with_times=False) for seed in range(SEEDS))
    first = next(found)
    return Checked(NAME, first if first and all(found) else "")


def _beside(scenario: Scenario) -> Checked:
    """What both commands say; an event that cannot happen, as on a process that is just restarting, has one error."""
    try:
        theirs = simulated(scenario)
    except AssignorError as error:
        try:
            fold(scenario)
        except AssignorError as ours:
            return Checked(NAME, "" if str(ours) == str(error) else f"{scenario}\n{ours}\n{error}", refused=True)
        return Checked(NAME, f"{scenario}\nonly simulate says: {error}")
    return Checked(NAME, _differs(scenario, fold(scenario), theirs, with_times=True))


def simulated(scenario: Scenario, seed: int = 0) -> list[Generation]:
    """What the command `simulate` finds, as generations."""
    protocol = protocol_of(scenario.assignor)
    return generations(simulate(scenario, read(scenario.protocol), protocol, seed=seed), scenario.loads)


def _differs(scenario: Scenario, one: Sequence[Generation], other: Sequence[Generation], *, with_times: bool) -> str:
    ours, theirs = plans(one), plans(other)
    times = [[made.at_ms for made in its] for its in (one, other)] if with_times else []
    if ours == theirs and (not times or times[0] == times[1]):
        return ""
    return f"{scenario}\n{ours}\n{theirs}\n{times}"


def plans(made: Sequence[Generation]) -> list[Plan]:
    """Numbers and owners of the generations that a rebalance made."""
    return [
        (its.number, {who: sorted(map(str, held)) for who, held in its.after.by_member.items()})
        for its in made
        if its.quality.rebalances and its.event != INITIAL_STATE
    ]
