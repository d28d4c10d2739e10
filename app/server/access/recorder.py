"""What of the access to this server goes to the audit log: logins, refused requests, changed files."""

import logging
import threading
from asyncio import sleep, wrap_future
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from ipaddress import IPv6Address, ip_address, ip_network

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
BURST_OF_ALL, EVERY_S_OF_ALL = 500, 10.0
"""The same for all addresses together: somebody may have many."""
MOST_NAMED = 10
"""Addresses that are named in the count of requests that are not listed."""
OTHERS = "other addresses"
LOOK_EVERY_S = 0.1

Later = Callable[[float, Callable[[], None]], None]


def later(seconds: float, call: Callable[[], None]) -> None:
    """Call it once, after that time, in a thread that does not keep the process alive."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()


class AuditBusy(Exception):
    """Too many events wait for the audit log. A request that cannot be recorded is not answered."""


class AccessRecorder:
    """Records to what `audit` returns. An event that cannot be written goes to the server's log. Thread safe."""

    def __init__(
        self, audit: Callable[[], AuditLog], clock_ms: Callable[[], int] = wall_clock_ms, later: Later = later
    ) -> None:
        self._audit, self._clock_ms, self._later = audit, clock_ms, later
        self._refused, self._of_all = TokenBuckets(BURST, EVERY_S), TokenBuckets(BURST_OF_ALL, EVERY_S_OF_ALL)
        self._left_out: Counter[str] = Counter()
        self._lock = threading.Lock()

    async def login(self, session: Session) -> None:
        """Somebody has logged in. It is in the audit log when this returns."""
        event = self._event("login", Outcome.OK, session.name, session.address, "")
        while (written := self._appended(event)) is None:
            await sleep(LOOK_EVERY_S)
        with suppress(ConfigError):
            await wrap_future(written)

    def refused(self, asked: Connection, refusal: Refusal, name: str | None = None) -> None:
        """A request was refused. Of its address only the path is recorded: a query may hold a secret.

        Of requests beyond the limits, the number is recorded within EVERY_S. Raises AuditBusy while too many events
        wait for the audit log.
        """
        network = _network(asked.address)
        if self._refused.wait_s(network) or self._of_all.wait_s(""):
            self._leave_out(Counter((network,)))
            return
        kind = "WebSocket" if asked.is_websocket else asked.method
        detail = f"{kind} {asked.path}: {refusal.status.value} {refusal.detail}"
        event = self._event("request", Outcome.REFUSED, name, asked.address, detail)
        if self._appended(event) is None:
            log.error("Not recorded: %s", event.line())
            raise AuditBusy

    def _leave_out(self, of_networks: Counter[str]) -> None:
        with self._lock:
            is_first = not self._left_out
            for network, count in of_networks.items():
                is_counted = network in self._left_out or len(self._left_out) < MOST_NAMED
                self._left_out[network if is_counted else OTHERS] += count
        if is_first:
            self._later(EVERY_S, self._count)

    def _count(self) -> None:
        with self._lock:
            left_out, self._left_out = self._left_out, Counter()
        listed = ", ".join(f"{count:,} from {network}" for network, count in left_out.most_common())
        detail = f"Further requests were refused and are not listed one by one: {listed}"
        if self._appended(self._event("request", Outcome.REFUSED, None, "", detail)) is None:
            self._leave_out(left_out)

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


def _network(address: str) -> str:
    """What the limit of an address is kept for: somebody with an IPv6 address has its network of 64 bits."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found)
