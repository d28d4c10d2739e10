"""What of the access to this server goes to the audit log: logins, refused requests, changed files."""

import logging
from asyncio import sleep, wrap_future
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

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
LOOK_EVERY_S = 0.1


class AuditBusy(Exception):
    """Too many events wait for the audit log. A request that cannot be recorded is not answered."""


class AccessRecorder:
    """Records to what `audit` returns. What cannot be written goes to the server's log."""

    def __init__(self, audit: Callable[[], AuditLog], clock_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._audit, self._clock_ms = audit, clock_ms
        self._refused = TokenBuckets(BURST, EVERY_S)

    async def login(self, session: Session) -> None:
        """Somebody has logged in. It is in the audit log when this returns."""
        event = self._event("login", Outcome.OK, session.name, session.address, "")
        while (written := self._appended(event)) is None:
            await sleep(LOOK_EVERY_S)
        with suppress(ConfigError):
            await wrap_future(written)

    def refused(self, asked: Connection, refusal: Refusal, name: str | None = None) -> None:
        """A request was refused. Of its address only the path is recorded: a query may hold a secret.

        Raises AuditBusy while too many events wait for the audit log.
        """
        if not self._refused.wait_s(asked.address):
            kind = "WebSocket" if asked.is_websocket else asked.method
            detail = f"{kind} {asked.path}: {refusal.status.value} {refusal.detail}"
            event = self._event("request", Outcome.REFUSED, name, asked.address, detail)
            if self._appended(event) is None:
                log.error("Not recorded: %s", event.line())
                raise AuditBusy

    def file_read(self, kind: str, problem: ConfigError | None) -> None:
        """The file of roles or tokens has changed and was read again; a broken one is not in force."""
        outcome, detail = Outcome.OK, f"The {kind} file was reloaded"
        if problem is not None:
            outcome = Outcome.REFUSED
            detail = f"The {kind} file is invalid; the last valid version remains in effect: {problem}"
        event = self._event(kind, outcome, None, "", detail)
        if self._appended(event) is None:
            log.error("Not recorded: %s", event.line())

    def _event(self, action: str, outcome: Outcome, actor: str | None, address: str, detail: str) -> AuditEvent:
        return AuditEvent(self._clock_ms(), action, outcome, actor, address, detail=detail)

    def _appended(self, event: AuditEvent) -> Future[None] | None:
        """None while too many events wait for the audit log."""
        written = self._audit().append_soon(event)
        if written is not None:
            written.add_done_callback(partial(_check, event))
        return written


def _check(event: AuditEvent, written: Future[None]) -> None:
    if (error := written.exception()) is not None:
        log.error("%s; not recorded: %s", error, event.line())
