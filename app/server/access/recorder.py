"""What of the access to this server goes to the audit log: logins, refused requests, changed files."""

import logging
from collections.abc import Callable

from app.server.access.connection import Connection
from app.server.access.limits import TokenBuckets
from app.server.access.refusal import Refusal
from app.server.access.session import Session
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.errors import ConfigError
from lag.times import wall_clock_ms

log = logging.getLogger(__name__)

BURST, EVERY_S = 20, 30.0
"""Of one address, BURST refused requests are recorded at once, then one every EVERY_S: nobody floods the log."""


class AccessRecorder:
    """Records to what `audit` returns. An event that cannot be written goes to the server's log."""

    def __init__(self, audit: Callable[[], AuditLog], clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._audit, self._clock_ms = audit, clock_ms
        self._refused = TokenBuckets(BURST, EVERY_S)

    def login(self, session: Session) -> None:
        """Somebody has logged in."""
        self._record("login", Outcome.OK, session.name, session.address, "")

    def refused(self, asked: Connection, refusal: Refusal, name: str | None = None) -> None:
        """A request was refused. Of its address only the path is recorded: a query may hold a secret."""
        if not self._refused.wait_s(asked.address):
            kind = "WebSocket" if asked.is_websocket else asked.method
            detail = f"{kind} {asked.path}: {refusal.status.value} {refusal.detail}"
            self._record("request", Outcome.REFUSED, name, asked.address, detail)

    def file_read(self, kind: str, problem: ConfigError | None) -> None:
        """The file of roles or tokens has changed and was read again; a broken one is not in force."""
        if problem is None:
            self._record(kind, Outcome.OK, None, "", f"The {kind} file was reloaded")
        else:
            self._record(
                kind,
                Outcome.REFUSED,
                None,
                "",
                f"The {kind} file is invalid; the last valid version remains in effect: {problem}",
            )

    def _record(self, action: str, outcome: Outcome, actor: str | None, address: str, detail: str) -> None:
        event = AuditEvent(self._clock_ms(), action, outcome, actor, address, detail=detail)
        try:
            self._audit().append(event)
        except ConfigError as error:
            log.error("%s; not recorded: %s", error, event.line())
