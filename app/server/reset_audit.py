"""Who may reset a group on a page, and what of it goes to the audit log."""

import logging

from app.server.access.visitor import Role
from app.server.reset_task import ResetRun
from app.server.source import Source
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.audit.reset_events import NOT_ALL_DONE, Change
from lag.errors import ConfigError, GroupscopeError, ResetRefused, WritesNotAllowed
from lag.reset.model import Plan
from lag.times import wall_clock_ms

log = logging.getLogger(__name__)


class AuditedChange:
    """The application of a plan by a visitor, from start to end."""

    def __init__(self, its: Source, cluster: str, plan: Plan) -> None:
        visitor = its.visitor
        actor, address = (None, "") if visitor is None else (visitor.name, visitor.address)
        self._its, self._log = its, its.audit
        self._change = Change(plan, actor, address, cluster)

    def start(self) -> None:
        """Record that it begins. Raises WritesNotAllowed for a viewer, ConfigError if it cannot be recorded."""
        if not self._its.may(Role.OPERATOR, self._change.cluster, self._change.plan.group_id):
            refusal = WritesNotAllowed(
                f"Your role does not allow changes to group {self._change.plan.group_id}",
                "Ask for the operator role for this group",
            )
            self._log.append(self._change.event(wall_clock_ms(), Outcome.REFUSED, refusal.cause))
            raise refusal
        self._log.append(self._change.event(wall_clock_ms(), Outcome.STARTED))

    def not_started(self, error: GroupscopeError) -> None:
        """Record that it did not begin after all."""
        self._log.append(self._change.event(wall_clock_ms(), Outcome.REFUSED, str(error)))

    def end(self, run: ResetRun) -> None:
        """Record how it ended. What cannot be recorded goes to the server's log."""
        _append(self._log, self._change.event(wall_clock_ms(), *_ending(run)))


def _ending(run: ResetRun) -> tuple[Outcome, str]:
    if run.document is None:
        return Outcome.REFUSED if isinstance(run.error, ResetRefused) else Outcome.FAILED, str(run.error or "")
    if run.document["done"]:
        return Outcome.OK, ""
    return Outcome.FAILED, run.document.get("error") or NOT_ALL_DONE


def _append(audit: AuditLog, event: AuditEvent) -> None:
    try:
        audit.append(event)
    except ConfigError as error:
        log.error("%s; not recorded: %s", error, event.line())
