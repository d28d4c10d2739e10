"""Incidents: from the first verdict of a group that is not OK until it is OK again. Pure; the clock is an argument."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lag.verdict.catalogue import INCIDENTS, UNDECIDED, Severity
from lag.verdict.health import Finding, Health
from lag.verdict.status import TOO_EARLY, URGENCY, Status

KEPT_CLOSED_MS = 24 * 3600 * 1000
"""How long a closed incident is kept for targets that are no longer in the file, or are sent no ends."""

MOST_CLOSED = 10_000
"""Closed incidents that are kept until their end is sent; of more, those that closed first are forgotten."""

GONE = "the group no longer exists"
NOT_READ = "the cluster is no longer monitored"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The last notice of an incident that a target was sent: the severity then, and when.

    Not `confirmed`: the first notice was sent, and may not have arrived. `closed`: it was that of the end.
    """

    severity: Severity
    at_ms: int
    confirmed: bool = True
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Incident:
    """A group that is not OK. Times are ms since 1970; `closed_ms` is None while it is open.

    `id` is a UUID and stays the same until the end, also over restarts. `started_ms` is the onset of the first verdict.
    `deliveries` has an entry for each target that was sent something.
    """

    id: str
    cluster: str
    group_id: str
    verdict: Status
    evidence: str
    started_ms: int
    closed_ms: int | None = None
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)

    @property
    def severity(self) -> Severity:
        """That of the last verdict that was not OK."""
        return INCIDENTS[self.verdict]

    def delivered(self, target: str, delivery: Delivery) -> "Incident":
        """With what the target was sent last."""
        return replace(self, deliveries={**self.deliveries, target: delivery})

    def undelivered(self, target: str) -> "Incident":
        """The target was sent nothing."""
        return replace(self, deliveries={name: sent for name, sent in self.deliveries.items() if name != target})

    @property
    def awaiting_close(self) -> Collection[str]:
        """The targets that know of it, and not of its end."""
        return [name for name, delivery in self.deliveries.items() if not delivery.closed]


Incidents = Mapping[str, Incident]
"""By id, oldest first."""


@dataclass(frozen=True, slots=True)
class Poll:
    """The verdicts of one poll of a cluster. `at_ms` is that of the snapshot.

    `verdicts` has every group that was read, except those with too few polls for a verdict and those whose verdict is
    UNDECIDED; `undecided` has these. `finding` returns the evidence of a group in `verdicts`. A group in neither is
    gone if the poll is `complete` or the group was among those `seen` before by this process: a group that only could
    not be read is in `undecided` then.
    """

    cluster: str
    at_ms: int
    verdicts: Mapping[str, Status]
    undecided: frozenset[str]
    finding: Callable[[str], Finding]
    complete: bool = True
    seen: frozenset[str] = frozenset()


def poll_of(cluster: str, health: Health, seen: frozenset[str]) -> Poll:
    """The poll that a health is about; `seen`: the groups of the poll before."""
    snapshot = health.snapshot
    codes = health.columns.status.tolist()
    names = [group.group_id for group in snapshot.groups]
    found = {name: URGENCY[code] for name, code in zip(names, codes, strict=True) if code != TOO_EARLY}
    verdicts = {name: verdict for name, verdict in found.items() if verdict not in UNDECIDED}
    undecided = frozenset(names) - verdicts.keys()
    return Poll(
        cluster,
        snapshot.at_ms,
        verdicts,
        undecided,
        lambda name: health.groups[snapshot.by_group[name]].finding,
        snapshot.lists_every_group,
        seen,
    )


def after(
    incidents: Incidents, poll: Poll, least: Severity, sent_close: frozenset[str], new_id: Callable[[], str]
) -> Incidents:
    """The incidents after a poll of one cluster. Those of other clusters stay as they are.

    A verdict of severity `least` or above opens an incident. A group that is OK, or no longer exists, closes its
    incident. A group that was not read, or has no verdict, changes nothing. A closed incident is kept until the
    targets in `sent_close`, those that are sent ends, know of its end, however late that is.
    """
    kept = {one.id: _after(one, poll) for one in _kept(incidents.values(), sent_close, poll.at_ms)}
    known = {one.group_id for one in kept.values() if one.cluster == poll.cluster and one.closed_ms is None}
    failing = {name for name, verdict in poll.verdicts.items() if INCIDENTS.get(verdict, 0) >= least}
    opened = [_opened(group_id, poll, new_id()) for group_id in sorted(failing - known)]
    return {**kept, **{one.id: one for one in opened}}


def restored(incidents: Incidents, clusters: Iterable[str], now_ms: int) -> Incidents:
    """Stored incidents at the start of a process: those of clusters that are no longer configured are closed."""
    configured = set(clusters)
    return {
        one.id: one
        if one.cluster in configured or one.closed_ms is not None
        else replace(one, closed_ms=now_ms, evidence=NOT_READ)
        for one in incidents.values()
    }


def _opened(group_id: str, poll: Poll, incident_id: str) -> Incident:
    finding = poll.finding(group_id)
    started_ms = poll.at_ms if finding.onset is None else min(finding.onset.at_ms, poll.at_ms)
    return Incident(incident_id, poll.cluster, group_id, poll.verdicts[group_id], finding.evidence, started_ms)


def _after(incident: Incident, poll: Poll) -> Incident:
    if incident.cluster != poll.cluster or incident.closed_ms is not None or incident.group_id in poll.undecided:
        return incident
    verdict = poll.verdicts.get(incident.group_id)
    if verdict is None:
        is_gone = poll.complete or incident.group_id in poll.seen
        return replace(incident, closed_ms=poll.at_ms, evidence=GONE) if is_gone else incident
    if verdict not in INCIDENTS:
        return replace(incident, closed_ms=poll.at_ms, evidence=poll.finding(incident.group_id).evidence)
    if verdict == incident.verdict:
        return incident  # its evidence is made when a notice is sent: that takes time
    return replace(incident, verdict=verdict, evidence=poll.finding(incident.group_id).evidence)


def _kept(incidents: Iterable[Incident], sent_close: frozenset[str], now_ms: int) -> list[Incident]:
    kept = [one for one in incidents if not _is_over(one, sent_close, now_ms)]
    closed = sorted((one.closed_ms, one.id) for one in kept if one.closed_ms is not None)
    forgotten = {incident_id for _, incident_id in closed[:-MOST_CLOSED]}
    return [one for one in kept if one.id not in forgotten]


def _is_over(incident: Incident, sent_close: frozenset[str], now_ms: int) -> bool:
    if incident.closed_ms is None or not sent_close.isdisjoint(incident.awaiting_close):
        return False
    return not incident.awaiting_close or now_ms - incident.closed_ms > KEPT_CLOSED_MS
