"""A notice: one event of one incident, as the forms of the targets and the templates see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from app.notices.due import Event
from app.notices.incidents import Incident
from lag.times import from_ms
from lag.verdict.catalogue import Severity

TEST_MARK = "[TEST] "


@dataclass(frozen=True, slots=True)
class Notice:
    """`at_ms`: when it is made, ms since 1970. `url`: the group's page, None if the file names no dashboard.

    `sent_severity`: that of the last notice of this incident to this target. `extras`: those of the target.
    `is_test`: somebody asked for it, and nothing is wrong.
    """

    incident: Incident
    event: Event
    at_ms: int
    url: str | None = None
    sent_severity: Severity | None = None
    extras: Mapping[str, str] = field(default_factory=dict)
    is_test: bool = False

    @property
    def is_close(self) -> bool:
        """The incident is over."""
        return self.event is Event.CLOSE

    @property
    def summary(self) -> str:
        """One line: `billing on prod: stopped`."""
        incident = self.incident
        state = "closed, was " if self.is_close else ""
        mark = TEST_MARK if self.is_test else ""
        return f"{mark}{incident.group_id} on {incident.cluster}: {state}{words(incident.verdict)}"

    def document(self) -> dict[str, object]:
        """The fields of templates, and the JSON that a webhook is sent."""
        incident = self.incident
        return {
            "id": incident.id,
            "event": self.event.value,
            "cluster": incident.cluster,
            "group": incident.group_id,
            "verdict": incident.verdict.value,
            "severity": incident.severity.word,
            "summary": self.summary,
            "evidence": incident.evidence,
            "started": iso(incident.started_ms),
            "started_ms": incident.started_ms,
            "closed": None if incident.closed_ms is None else iso(incident.closed_ms),
            "closed_ms": incident.closed_ms,
            "at": iso(self.at_ms),
            "at_ms": self.at_ms,
            "url": self.url,
            "extras": dict(self.extras),
            "test": self.is_test,
        }


def words(name: str) -> str:
    """`falling_behind` as words."""
    return name.replace("_", " ")


def iso(at_ms: int) -> str:
    """ISO 8601 in UTC, to the second."""
    return from_ms(at_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


def group_page(dashboard: str | None, incident: Incident) -> str | None:
    """The address of the group's page."""
    if dashboard is None:
        return None
    query = urlencode({"cluster": incident.cluster, "group": incident.group_id})
    return f"{dashboard.rstrip('/')}/group?{query}"
