"""What a target is to be sent now. Pure: the incidents, the target's rules and the time decide.

Nothing is queued. A target that could not be reached, or was in its quiet hours, is sent what is true afterwards, and
nothing about an incident that began and ended in the meantime.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from app.notices.incidents import Delivery, Incident
from app.notices.quiet import Maintenance, QuietHours, every_group
from lag.verdict.catalogue import Severity


class Event(StrEnum):
    """Why a notice is sent."""

    OPEN = "open"
    ESCALATED = "escalated"  # the verdict is more serious than in the last notice
    REPEAT = "repeat"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Rules:
    """What a target wants.

    threshold      the lowest severity that is sent; the end of an incident is sent whatever the severity
    repeat_ms      by severity: how long after a notice it is repeated; never, where there is none
    send_close     whether the end of an incident is sent
    clusters       names; None is all
    has_group      whether a group is chosen by the patterns
    """

    threshold: Severity = Severity.WARNING
    repeat_ms: Mapping[Severity, int] = field(default_factory=dict)
    send_close: bool = True
    quiet_hours: tuple[QuietHours, ...] = ()
    clusters: frozenset[str] | None = None
    has_group: Callable[[str], bool] = field(default=every_group, compare=False)


def due(
    target: str,
    rules: Rules,
    incidents: Iterable[Incident],
    maintenance: Sequence[Maintenance],
    now_ms: int,
    failed: Sequence[str] = (),
) -> tuple[Incident, Event] | None:
    """The first notice that the target is to be sent now; None: there is none. `now_ms` is ms since 1970.

    Ends come first, then the most severe. Those whose last attempt failed come after all others: `failed` has their
    ids, the latest failure last.
    """
    wanted = (
        (one, event)
        for one in incidents
        if (event := _event(one, one.deliveries.get(target), rules, now_ms))
        and _may_send(one, rules, maintenance, now_ms)
    )
    turn = {incident_id: number for number, incident_id in enumerate(failed, 1)}
    return min(
        wanted,
        key=lambda found: (turn.get(found[0].id, 0), found[1] is not Event.CLOSE, -found[0].severity),
        default=None,
    )


def _event(incident: Incident, last: Delivery | None, rules: Rules, now_ms: int) -> Event | None:
    if incident.closed_ms is not None:
        return Event.CLOSE if rules.send_close and last is not None and not last.closed else None
    if incident.severity < rules.threshold:
        return None
    if last is None or not last.confirmed:
        return Event.OPEN
    if incident.severity > last.severity:
        return Event.ESCALATED
    after_ms = rules.repeat_ms.get(incident.severity)
    if after_ms is None or 0 <= now_ms - last.at_ms < after_ms:
        return None
    return Event.REPEAT  # also if the clock was set back: it would be silent until the clock is there again


def _may_send(incident: Incident, rules: Rules, maintenance: Sequence[Maintenance], now_ms: int) -> bool:
    if rules.clusters is not None and incident.cluster not in rules.clusters:
        return False
    if any(hours.holds_back(incident.severity, now_ms) for hours in rules.quiet_hours):
        return False
    if any(window.covers(incident.cluster, incident.group_id, now_ms) for window in maintenance):
        return False
    return rules.has_group(incident.group_id)
