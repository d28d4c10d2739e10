"""A scenario's events through an assignor, one rebalance after the other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assignors import registry
from assignors.arrays import group_arrays
from assignors.layout import Layout
from assignors.model import Assignment, Assignor, AssignorError, Group, Member, Topic
from assignors.patterns import resolved
from assignors.planning import plan
from assignors.whatif.events import Action, CoordinatorDown, CoordinatorUp, CreateTopic, Event, Join, Scenario
from assignors.whatif.group_state import GroupState, Step, step
from assignors.whatif.loads import KnownLoads, known_loads
from assignors.whatif.moves import Moves, moves
from assignors.whatif.quality import Quality, measure
from assignors.whatif.rebalance_protocol import RebalanceProtocol, paused

MOST_ROUNDS = 8  # of one cooperative rebalance: Kafka's own need two


@dataclass(frozen=True, slots=True)
class Generation:
    """A group after a step: a rebalance, the start, or the restart of a static member (same number as before).

    `number` is the classic protocol's generation, KIP-848's epoch. `event` says what happened, `at_ms` when, since the
    scenario began: the event itself; when the group notices is the simulator's business. `members` and `topics` are as
    they are after it; members own what they got.
    """

    number: int
    at_ms: int
    event: str
    members: tuple[Member, ...]
    before: Assignment
    after: Assignment
    moves: Moves
    quality: Quality
    assignor: str
    topics: Mapping[str, Topic]


def fold(scenario: Scenario, assignor: str | Assignor | None = None) -> list[Generation]:
    """The generations of a scenario; `assignor` (a name, or your own) takes the place of the scenario's.

    The first is the start: as it is, when members own anything (`number`: their highest generation), else the first
    assignment, or number 0 of a group without members. Then one for each rebalance, in the order of events:

    - An eager group (range, roundrobin, sticky, and every assignor that is not Kafka's) gives up everything and plans
      once; a cooperative one (KIP-429) plans again as long as a member had to give up something; a KIP-848 group gets
      one target for each event, and each share group one plan.
    - A member that crashes, freezes, or is static (KIP-345) and leaves, is gone, as when its session or
      max.poll.interval.ms has ended; the text says which. Resume and Join own nothing.
    - A static member's Restart is a step without a rebalance. A dynamic one leaves and joins anew, in two rebalances;
      Kafka then gives it a new member id, while here it keeps its own, so that people can follow it.
    - Events that change nothing for the group make no generation: a topic without subscribers, an equal subscription.
    - What happens while the coordinator is down waits, and becomes one rebalance when it is back.

    Raises AssignorError naming the event when it cannot happen (number, time, which), or when the assignor fails.
    """
    run = _Run(scenario, _assignor(scenario.assignor if assignor is None else assignor))
    for number, event in enumerate(scenario.events, 1):
        try:
            run.take(event)
        except AssignorError as error:
            raise AssignorError(f"Event {number} at {_time(event.at_ms)} ({title(event.action)}): {error}") from error
    return run.generations


def _assignor(chosen: str | Assignor) -> Assignor:
    if isinstance(chosen, str):
        return registry.get(chosen)
    if not isinstance(chosen.name, str):
        raise AssignorError(f"The name of {type(chosen).__name__} is {chosen.name!r}. Make it a text.")
    return chosen


class _Run:
    """The group on its way through the events."""

    def __init__(self, scenario: Scenario, assignor: Assignor) -> None:
        self.generations: list[Generation] = []
        self._scenario = scenario
        capacity, settings = scenario.loads.capacity_per_s, scenario.protocol
        members = tuple(resolved(member, scenario.topics) for member in scenario.members)
        self._state = GroupState(members, scenario.topics, assignor, {}, frozenset(), capacity, settings)
        self._number = max((member.generation or 0 for member in scenario.members), default=0)
        self._now = Assignment(None, {})
        self._waiting: list[Step] | None = None
        self._known: tuple[Layout, KnownLoads] | None = None
        self._begin()

    def _begin(self) -> None:
        if any(len(member.owned) for member in self._state.members):
            self._number = max(self._number, 1)
            owned = {member.member_id: member.owned for member in self._state.members}
            self._now = Assignment(self._number, owned)
            self._stand("as it is", 0, 0)
        elif self._state.members:
            self._rebalance("first assignment", 0)
        else:
            self._stand("nobody is in the group", 0, 0)

    def take(self, event: Event) -> None:
        """Go on with the next event."""
        if isinstance(event.action, CoordinatorDown):
            self._go_down()
        elif isinstance(event.action, CoordinatorUp):
            self._come_back(event.at_ms)
        else:
            self._apply(step(event.action, self._state), event.at_ms)

    def _apply(self, made: Step, at_ms: int) -> None:
        self._state = made.state
        if self._waiting is None:
            self._settle([made], at_ms, "")
        else:
            self._waiting.append(made)
        if made.then is not None:
            self._apply(made.then(self._state), at_ms)

    def _go_down(self) -> None:
        if self._waiting is not None:
            raise AssignorError("the coordinator is down already. Leave this event out.")
        self._waiting = []

    def _come_back(self, at_ms: int) -> None:
        if self._waiting is None:
            raise AssignorError("the coordinator is not down. Leave this event out.")
        waiting, self._waiting = self._waiting, None
        self._settle(waiting, at_ms, "the coordinator is back: ")

    def _settle(self, steps: Sequence[Step], at_ms: int, prefix: str) -> None:
        """What those steps, together, come to: a rebalance, a pause, or nothing."""
        noticed = [made for made in steps if made.rebalances or made.restarted]
        text = prefix + "; ".join(made.text for made in noticed)
        if any(made.rebalances for made in noticed):
            self._rebalance(text, at_ms, stops_all=any(made.stops_all for made in noticed))
        elif noticed:
            restarted = {made.restarted for made in noticed}
            self._stand(text, at_ms, sum(len(self._now.by_member.get(name or "", ())) for name in restarted))

    def _stand(self, text: str, at_ms: int, pauses: int) -> None:
        self._record(text, at_ms, self._now, rebalances=0, pauses=pauses)

    def _rebalance(self, text: str, at_ms: int, *, stops_all: bool = False) -> None:
        protocol = RebalanceProtocol.EAGER if stops_all else self._state.protocol
        must_plan_again = self._plan(text, at_ms, protocol)
        for count in range(2, MOST_ROUNDS + 1):
            if not must_plan_again:
                return
            must_plan_again = self._plan(f"{text} (rebalance {count})", at_ms, protocol)

    def _plan(self, text: str, at_ms: int, protocol: RebalanceProtocol) -> bool:
        """Plan once; whether a member, having given up something, joins again at once."""
        self._number += 1
        claimed = Assignment(None, {member.member_id: member.owned for member in self._state.members})
        after = replace(plan(self._state.assignor, self._group()), generation=self._number)
        owners = tuple(_owning(member, after) for member in self._state.members)
        self._state = replace(self._state, members=owners)
        self._record(text, at_ms, after, pauses=protocol)
        return self._state.protocol is RebalanceProtocol.COOPERATIVE and bool(
            paused(moves(claimed, after), RebalanceProtocol.COOPERATIVE)
        )

    def _record(
        self, text: str, at_ms: int, after: Assignment, *, rebalances: int = 1, pauses: int | RebalanceProtocol
    ) -> None:
        group, state = self._group(), self._state
        layout = group_arrays(group).layout
        changes = moves(self._now, after, layout)
        quality = measure(
            self._now,
            after,
            group,
            replace(self._scenario.loads, capacity_per_s=state.capacity_per_s),
            changes=changes,
            known=self._loads(layout),
            rebalances=rebalances,
            pauses=paused(changes, pauses) if isinstance(pauses, RebalanceProtocol) else pauses,
        )
        made = (self._number, at_ms, text, state.members, self._now, after, changes, quality)
        self.generations.append(Generation(*made, state.assignor.name, state.topics))
        self._now = after

    def _group(self) -> Group:
        state = self._state
        return Group(self._scenario.name, state.members, state.topics, state.assignor.name)

    def _loads(self, layout: Layout) -> KnownLoads:
        """The loads by code; while the topics in play stay, they are the same."""
        if self._known is None or not self._known[0].is_like(layout):
            self._known = layout, known_loads(self._scenario.loads, layout)
        return self._known[1]


def _owning(member: Member, after: Assignment) -> Member:
    """The member as it will join next time. What `sticky` puts into user data, it reads from these fields, too."""
    return replace(member, owned=after.by_member[member.member_id], generation=after.generation, user_data=None)


def title(action: Action) -> str:
    """What happens, in two or three words: `crash c1`."""
    words = re.sub(r"(?<!^)(?=[A-Z])", " ", type(action).__name__).lower()
    return f"{words} {_subject(action)}".rstrip()


def _subject(action: Action) -> str:
    if isinstance(action, Join):
        return action.member.member_id
    if isinstance(action, CreateTopic):
        return action.topic.name
    fields = [getattr(action, name) for name in action.__slots__]
    return str(fields[0]) if fields else ""


def _time(at_ms: int) -> str:
    return f"{at_ms / 1000:g} s"
