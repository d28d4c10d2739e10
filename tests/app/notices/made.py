"""Incidents and polls made by hand."""

from collections.abc import Mapping
from typing import Any

from app.notices.due import Event
from app.notices.incidents import Incident, Poll
from app.notices.notice import Notice
from lag.verdict.health import Finding, Health
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from tests.lag.make import GroupSpec, cluster, deleted, end, group, judged

ENDS = {"orders-0": end(1_000), "gone-0": deleted()}
OK, WAITS = group({"orders-0": 1_000}), group({"orders-0": 900}, members=0, state="Empty")
UNCOMMITTED = group({"orders-0": None})
GONE = group({"gone-0": 5}, members=0, state="Empty")
T0 = 1_790_000_000_000
SECRET = "s3cret-Passw0rd"


def health(number: int, at_ms: int, **groups: GroupSpec) -> Health:
    """A poll: OK, WAITS (no members: warning), UNCOMMITTED (never committed: warning) or GONE (topic deleted: info)."""
    return judged([cluster(groups, ENDS, number, at_ms)])


def poll(at_ms: int, verdicts: Mapping[str, Status], **rest: Any) -> Poll:
    """A complete poll of the cluster "prod"."""
    found = {name: Finding(verdict, "rule", f"{name} is {verdict} at {at_ms}") for name, verdict in verdicts.items()}
    return Poll("prod", at_ms, verdicts, rest.pop("undecided", frozenset()), found.__getitem__, **rest)


def onset(at_ms: int) -> Onset:
    return Onset(at_ms, True, OnsetSource.COMMIT)


def incident(verdict: Status = Status.STOPPED, **rest: Any) -> Incident:
    """Of group "billing" on "prod"."""
    named = {
        "id": "i-1",
        "cluster": "prod",
        "group_id": "billing",
        "evidence": "1,024 records behind",
        "started_ms": T0,
    }
    return Incident(**{**named, "verdict": verdict, **rest})


def notice(event: Event = Event.OPEN, verdict: Status = Status.STOPPED, **rest: Any) -> Notice:
    """A minute after it began; the end has `closed_ms`."""
    at_ms = T0 + 60_000
    its = rest.pop("its", None) or incident(verdict, closed_ms=at_ms if event is Event.CLOSE else None)
    return Notice(its, event, at_ms, **rest)
