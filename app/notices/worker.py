"""Sends the notices of one target, in a thread of its own: a target that hangs does not delay the others."""

import logging
import random
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from app.notices.board import Board
from app.notices.due import Event
from app.notices.incidents import Incident
from app.notices.messages import Undelivered
from app.notices.notice import Notice, group_page
from app.notices.targets import Target
from app.notices.templates import InvalidTemplate
from lag.schedule import pause_before_retry

log = logging.getLogger(__name__)

TICK_S = 1.0
"""How often repetitions and the end of quiet hours are looked for between polls."""
MOST_FAILED = 1_000
"""Incidents whose last attempt failed; they come after the others."""


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """The state of a target. Times are ms since 1970.

    `sent` and `refused` count notices since the start. `error` is that of the last attempt, None if it was good;
    `failures` counts failed attempts in a row. `sending_since_ms`: an attempt is under way.
    """

    name: str
    kind: str
    sent: int = 0
    refused: int = 0
    failures: int = 0
    error: str | None = None
    last_sent_ms: int | None = None
    sending_since_ms: int | None = None
    next_try_ms: int | None = None


class Worker:
    """Takes what is due from the board and sends it, until the board stops. `target` may be replaced by another one of
    the same name and kind."""

    def __init__(
        self,
        target: Target,
        board: Board,
        clock_ms: Callable[[], int],
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.target, self._board = target, board
        self._clock_ms, self._chance = clock_ms, chance
        self._is_removed = False
        self._failed_ids: deque[str] = deque(maxlen=MOST_FAILED)
        self.status = TargetStatus(target.name, target.kind)
        self._thread = threading.Thread(target=self._run, name=f"notices {target.name}", daemon=True)

    def start(self) -> None:
        """Start the thread; only once."""
        self._thread.start()

    def remove(self) -> None:
        """Send nothing more; the thread ends at its next step."""
        self._is_removed = True

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the thread. An attempt that does not end by then ends with the process."""
        if self._thread.ident is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        is_running = True
        while is_running and not self._is_removed:
            is_running = self._board.wait(*self._step())

    def _step(self) -> tuple[float, bool]:
        """Send the next notice, if there is one; how long to wait then, and whether a poll ends that."""
        found = self._board.due(self.target, tuple(self._failed_ids))
        if found is None:
            self._board.save()
            return TICK_S, True
        return self._attempt(*found), False

    def _attempt(self, incident: Incident, event: Event) -> float:
        is_first = self._board.begin(self.target, incident)
        self.status = replace(self.status, sending_since_ms=self._clock_ms(), next_try_ms=None)
        try:
            self.target.send(self._notice(incident, event))
        except Undelivered as error:
            if error.never_arrived and is_first:
                self._board.withdraw(self.target, incident)
            return self._failed(incident, str(error), error.is_final)
        except InvalidTemplate as error:
            return self._failed(incident, str(error), is_final=True)
        except Exception as error:  # noqa: BLE001 - its text may have a secret; the thread must go on
            return self._failed(incident, f"internal error ({type(error).__name__})", is_final=True)
        return self._succeeded(incident)

    def _notice(self, incident: Incident, event: Event) -> Notice:
        last = incident.deliveries.get(self.target.name)
        return Notice(
            incident,
            event,
            self._clock_ms(),
            group_page(self._board.dashboard, incident),
            None if last is None else last.severity,
            self.target.extras,
        )

    def _succeeded(self, incident: Incident) -> float:
        self._forget_failure(incident)
        self._board.confirm(self.target, incident)
        before, now_ms = self.status, self._clock_ms()
        if before.failures:
            log.info("target %s: accepts notices again", before.name)
        self.status = TargetStatus(before.name, before.kind, before.sent + 1, before.refused, last_sent_ms=now_ms)
        return 0.0

    def _failed(self, incident: Incident, cause: str, is_final: bool) -> float:
        self._forget_failure(incident)
        self._failed_ids.append(incident.id)
        before, failures = self.status, self.status.failures + 1
        if cause != before.error:
            log.warning("target %s: %s", before.name, cause)
        pause = pause_before_retry(failures, self._chance())
        next_ms = pause.ends_ms(self._clock_ms())
        self.status = replace(before, failures=failures, error=cause, sending_since_ms=None, next_try_ms=next_ms)
        if is_final:
            self._board.confirm(self.target, incident)  # it would be refused again, and hold up those behind it
            self.status = replace(self.status, refused=before.refused + 1)
        return pause.seconds

    def _forget_failure(self, incident: Incident) -> None:
        with suppress(ValueError):
            self._failed_ids.remove(incident.id)
