"""The generations of a scenario: each rebalance as an assignor's result."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assignors import registry
from assignors.arrays import group_arrays
from assignors.layout import Layout
from assignors.model import Assignment, Assignor, AssignorError, Group, Member, Topic
from assignors.patterns import resolved
from assignors.planning import plan
from assignors.whatif.events import Event, Scenario
from assignors.whatif.group_state import GroupState, Step
from assignors.whatif.loads import KnownLoads, known_loads
from assignors.whatif.moves import Moves, moves
from assignors.whatif.quality import Quality, measure
from assignors.whatif.rebalance_protocol import RebalanceProtocol, paused

MOST_ROUNDS = 8  # of one cooperative rebalance: Kafka's own need two


@dataclass(frozen=True, slots=True)
class Generation:
    """A group at the start, after a rebalance, or after the restart of a static member (same number as before).

    `number` is the generation of the classic protocol, or the group epoch (KIP-848). `at_ms` is the time of the event
    since the scenario began, not the time at which the group notices it. `members` (with what they own) and `topics`
    are those after it.
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


def in_turn(scenario: Scenario, assignor: str | Assignor | None = None) -> list[Generation]:
    """The generations of a scenario whose events each have their effect before the next one (`timing.overlaps`).

    `assignor` (a name, or your own) replaces the scenario's.

    The first one is the start: what members own (`number`: their highest generation), else the first assignment, or
    number 0 for a group without members. Then one for each rebalance, in the order of events:

    - An eager group (range, roundrobin, sticky, and every assignor that is not Kafka's) revokes everything and assigns
      once. A cooperative one (KIP-429) assigns again while members have to give up partitions. A KIP-848 group gets one
      target assignment per event, a share group one assignment.
    - A member that crashes, freezes or is cut off, and a static one (KIP-345) that leaves, is removed, as after its
      session or max.poll.interval.ms; the text says which. Members that resume or join own nothing.
    - The restart of a static member is a generation without a rebalance. A dynamic member leaves and rejoins in two
      rebalances. It keeps its member id here, while Kafka gives it a new one.
    - Events without an effect make no generation: a topic without subscribers, an equal subscription.
    - Events while the coordinator is down take effect in one rebalance when it is back.

    Raises AssignorError with the event's number, time and title when it cannot happen or the assignor fails.
    """
    scenario.check_events()
    folded = _Fold(scenario, _assignor(scenario.assignor if assignor is None else assignor))
    for number, event in enumerate(scenario.events, 1):
        try:
            folded.take(event)
        except AssignorError as error:
            raise event.failed(number, error) from error
    return folded.generations


def _assignor(chosen: str | Assignor) -> Assignor:
    if isinstance(chosen, str):
        return registry.get(chosen)
    if not isinstance(chosen.name, str):
        raise AssignorError(f"The name of {type(chosen).__name__} is {chosen.name!r}. Make it a string.")
    return chosen


class _Fold:
    """The group, from event to event."""

    def __init__(self, scenario: Scenario, assignor: Assignor) -> None:
        self.generations: list[Generation] = []
        self._scenario = scenario
        capacity, settings = scenario.loads.capacity_per_s, scenario.protocol
        members = tuple(resolved(member, scenario.topics) for member in scenario.members)
        self._state = GroupState(members, scenario.topics, assignor, capacity_per_s=capacity, settings=settings)
        self._number = max((member.generation or 0 for member in scenario.members), default=0)
        self._now = Assignment(None, {})
        self._pending: list[tuple[int, Step]] = []
        self._known: tuple[Layout, KnownLoads] | None = None
        self._begin()

    def _begin(self) -> None:
        if any(len(member.owned) for member in self._state.members):
            self._number = max(self._number, 1)
            owned = {member.member_id: member.owned for member in self._state.members}
            self._now = Assignment(self._number, owned)
            self._stand("initial state", 0, 0)
        elif self._state.members:
            self._rebalance("first assignment", 0)
        else:
            self._stand("the group has no members", 0, 0)

    def take(self, event: Event) -> None:
        """Continue with the next event."""
        self._apply(event.action.apply(self._state), event.at_ms)

    def _apply(self, step: Step, at_ms: int) -> None:
        self._state = step.state
        self._pending.append((at_ms, step))
        if step.state.is_coordinator_up:
            self._settle(at_ms)
        if step.followed_by is not None:
            self._apply(step.followed_by(self._state), at_ms)

    def _settle(self, at_ms: int) -> None:
        """Record the effect of the pending steps together: a rebalance, a pause, or nothing."""
        since_ms, steps = self._pending[0][0], [step for _, step in self._pending]
        self._pending = []
        noticed = [step for step in steps if step.rebalances or step.restarted]
        text = "; ".join(step.text for step in noticed)
        if since_ms < at_ms:
            text = f"the coordinator is back: {text}"
        if any(step.rebalances for step in noticed):
            self._rebalance(text, at_ms, revokes_all=any(step.revokes_all for step in noticed))
        elif noticed:
            restarted = {step.restarted for step in noticed}
            self._stand(text, at_ms, sum(len(self._now.by_member.get(name or "", ())) for name in restarted))

    def _stand(self, text: str, at_ms: int, pauses: int) -> None:
        self._record(text, at_ms, self._now, rebalances=0, pauses=pauses)

    def _rebalance(self, text: str, at_ms: int, *, revokes_all: bool = False) -> None:
        protocol = RebalanceProtocol.EAGER if revokes_all else self._state.protocol
        must_plan_again = self._plan(text, at_ms, protocol)
        for count in range(2, MOST_ROUNDS + 1):
            if not must_plan_again:
                return
            must_plan_again = self._plan(f"{text} (rebalance {count})", at_ms, protocol)

    def _plan(self, text: str, at_ms: int, protocol: RebalanceProtocol) -> bool:
        """Assign once; True when members rejoin at once because they gave up partitions (KIP-429)."""
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
        """The loads by code, computed again only when the layout changes."""
        if self._known is None or not self._known[0].is_like(layout):
            self._known = layout, known_loads(self._scenario.loads, layout)
        return self._known[1]


def _owning(member: Member, after: Assignment) -> Member:
    """The member as it joins next time. `sticky` reads these fields if there is no user data."""
    return replace(
        member,
        owned=after.by_member[member.member_id],
        owned_topics=after.topics_by_member.get(member.member_id, ()),
        generation=after.generation,
        user_data=None,
    )
