"""A what-if in the making: the scenario it starts from, and its events with undo.

Pure: pages hold a `Draft` per session and replace it by another one at every click.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from assignors.model import AssignorError, Member
from assignors.scenario.values import MOST_MS
from assignors.whatif.events import Action, CoordinatorDown, CoordinatorUp, Event, Join, Scenario
from assignors.whatif.timing import settled_ms

EVERY_MS = 30_000
MOST_EVENTS = 1_000
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario, what it was before the last changes (oldest first), and after those that were undone.

    `key` identifies the start, for caches; `title` names the start; `notes` say what is estimated.
    `group_id` and `revision` are set when it began as a live group.
    """

    key: str
    title: str
    scenario: Scenario
    notes: tuple[str, ...] = ()
    group_id: str | None = None
    revision: str | None = None
    past: tuple[Scenario, ...] = ()
    undone: tuple[Scenario, ...] = ()

    def changed(self, scenario: Scenario) -> "Draft":
        """With another scenario; `undo` takes it back."""
        return replace(self, scenario=scenario, past=(*self.past, self.scenario), undone=())

    def undo(self) -> "Draft":
        """Before the last change; itself when there is none."""
        if not self.past:
            return self
        return replace(self, scenario=self.past[-1], past=self.past[:-1], undone=(*self.undone, self.scenario))

    def redo(self) -> "Draft":
        """As before the last undo; itself when there was none."""
        if not self.undone:
            return self
        return replace(self, scenario=self.undone[-1], past=(*self.past, self.scenario), undone=self.undone[:-1])

    def with_events(self, events: Iterable[Event]) -> "Draft":
        """The same with other events."""
        return self.changed(replace(self.scenario, events=tuple(events)))

    def then(self, actions: Sequence[Action]) -> "Draft":
        """With actions after the last event and the end of every pause and timeout.

        Those between the failure of the coordinator and its return are at one time; otherwise each has its effect
        before the next one.
        """
        scenario = self.scenario
        for same in [actions] if isinstance(actions[0], CoordinatorDown) else [[action] for action in actions]:
            ends_ms = [its.at_ms + its.action.pause_ms for its in scenario.events]
            at_ms = min(max(max(ends_ms, default=0) + EVERY_MS, _settled_ms(scenario)), MOST_MS)
            scenario = replace(scenario, events=(*scenario.events, *(Event(at_ms, action) for action in same)))
        return self.changed(scenario)

    def without(self, position: int) -> "Draft":
        """Without the event at that position, and without a bracket that is then empty."""
        events = (*self.scenario.events[:position], *self.scenario.events[position + 1 :])
        ends = brackets(events)
        opening = {at for at in ends if isinstance(events[at].action, CoordinatorDown)}
        empty = {end for pair in pairwise(ends) if pair[1] - pair[0] == 1 and pair[0] in opening for end in pair}
        return self.with_events(event for at, event in enumerate(events) if at not in empty)

    def with_capacity(self, per_s: float | None) -> "Draft":
        """With another number of records a second that a member can process."""
        loads = replace(self.scenario.loads, default_capacity_per_s=per_s)
        return self.changed(replace(self.scenario, loads=loads))


def _settled_ms(scenario: Scenario) -> int:
    """When all events have had their effect, in steps of EVERY_MS; 0 for settings that are no numbers."""
    try:
        return -(-settled_ms(scenario, scenario.assignor) // EVERY_MS) * EVERY_MS
    except AssignorError:
        return 0


def joining_together(joins: Sequence[Join]) -> list[Action]:
    """The joins in one rebalance: the coordinator notices them at once, when it is back at the same moment."""
    return [CoordinatorDown(), *joins, CoordinatorUp()] if len(joins) > 1 else [*joins]


def brackets(events: Sequence[Event]) -> list[int]:
    """The positions of a coordinator that fails, and of its return at the same moment.

    They only combine the events in between into one rebalance.
    """
    times = [{its.at_ms for its in events if isinstance(its.action, kind)} for kind in (CoordinatorDown, CoordinatorUp)]
    ends = (at for at, its in enumerate(events) if isinstance(its.action, CoordinatorDown | CoordinatorUp))
    return [at for at in ends if events[at].at_ms in times[0] & times[1]]


def is_together(events: Sequence[Event], position: int) -> bool:
    """Whether the event at that position shares its rebalance with others."""
    return sum(at < position for at in brackets(events)) % 2 == 1


def members_at_end(scenario: Scenario) -> list[Member]:
    """Who is in the group after the last event."""
    *_, last = scenario.memberships()
    return list(last.members.values())


def topics_at_end(scenario: Scenario) -> dict[str, int]:
    """Topics after the last event, by name, with their number of partitions."""
    *_, last = scenario.memberships()
    return {name: last.topics[name].partitions for name in sorted(last.topics)}
