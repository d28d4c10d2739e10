"""A test notice: marked as such, about a group that does not exist."""

import uuid
from dataclasses import replace

from app.notices.due import Event
from app.notices.incidents import Incident
from app.notices.notice import Notice, group_page
from app.notices.targets import Target
from lag.times import wall_clock_ms
from lag.verdict.status import Status

EVIDENCE = "This is a test of groupscope's notices. Nothing is wrong."


def send_trial(target: Target, dashboard: str | None) -> None:
    """Send the start of an incident and, if the target is sent ends, its end. Raises what `Target.send` raises."""
    now_ms = wall_clock_ms()
    incident = Incident(str(uuid.uuid4()), "test", "test-group", Status.STOPPED, EVIDENCE, now_ms)
    made = Notice(incident, Event.OPEN, now_ms, group_page(dashboard, incident), extras=target.extras, is_test=True)
    target.send(made)
    if target.rules.send_close:
        closed = replace(incident, closed_ms=now_ms)
        target.send(replace(made, incident=closed, event=Event.CLOSE, sent_severity=incident.severity))
