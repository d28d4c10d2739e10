"""Which events of a scenario fall within the time that an earlier one takes to have its effect."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from math import inf
from operator import attrgetter

from assignors.whatif.events import CoordinatorDown, CoordinatorUp, Event, Join, Scenario
from assignors.whatif.rebalance_protocol import protocol_of
from assignors.whatif.timeouts import Timeouts


def overlaps(scenario: Scenario, assignor: str) -> bool:
    """Whether only a clock tells the result: an event falls within the time of an earlier one, or has no end.

    Events between the failure of the coordinator and its return at the same moment count as one. Raises AssignorError
    for settings that are no numbers.
    """
    return bool(shared_instances(scenario)) or any(is_open for is_open, _ in _moments(scenario, assignor))


def shared_instances(scenario: Scenario) -> list[str]:
    """Instance ids that several members have at once: the coordinator decides which of them is in the group."""
    there = Counter(member.instance_id for member in scenario.members)
    found = {name for name, count in there.items() if count > 1}
    for event, membership in zip(scenario.events, scenario.memberships(), strict=False):
        if isinstance(event.action, Join) and (name := event.action.member.instance_id) is not None:
            found |= {name} & {member.instance_id for member in membership.members.values()}
    return sorted(name for name in found if name is not None)


def settled_ms(scenario: Scenario, assignor: str) -> int:
    """When every event has had its effect; one without an end counts as if it had none. Raises AssignorError."""
    ends = [ends_ms for _, ends_ms in _moments(scenario, assignor) if ends_ms < inf]
    return int(max(ends, default=0))


def _moments(scenario: Scenario, assignor: str) -> Iterator[tuple[bool, float]]:
    """For each time with events: whether an effect is open then, and when theirs ends."""
    timeouts = Timeouts.of(scenario.protocol, protocol_of(assignor))
    waits = bool(scenario.members) and not any(member.owned for member in scenario.members)
    ends_ms: float = timeouts.start_ms + timeouts.rebalance_ms if waits else 0
    is_down = False
    memberships = scenario.memberships()
    for at_ms, same in groupby(scenario.events, attrgetter("at_ms")):
        events = list(same)
        takes_ms = 0.0
        for event in events:
            member = next(memberships).members.get(event.action.subject)
            takes_ms = max(takes_ms, event.action.takes_ms(member, timeouts))
        returns = is_down and len(events) == 1 and isinstance(events[0].action, CoordinatorUp)
        is_open = at_ms < ends_ms or (is_down and not returns) or takes_ms == inf or not _is_one(events)
        is_down = _is_down(is_down, events)
        ends_ms = max(ends_ms, at_ms + takes_ms + timeouts.rebalance_ms)
        yield is_open, ends_ms


def _is_one(events: list[Event]) -> bool:
    """Whether these have one effect: there is one, or the coordinator notices them at once."""
    first, last = events[0].action, events[-1].action
    between = [event for event in events[1:-1] if isinstance(event.action, CoordinatorDown | CoordinatorUp)]
    together = isinstance(first, CoordinatorDown) and isinstance(last, CoordinatorUp) and not between
    return len(events) == 1 or together


def _is_down(before: bool, events: list[Event]) -> bool:
    """Whether the coordinator is down after these."""
    changes = [event.action for event in events if isinstance(event.action, CoordinatorDown | CoordinatorUp)]
    return isinstance(changes[-1], CoordinatorDown) if changes else before
