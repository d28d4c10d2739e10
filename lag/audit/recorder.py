"""Copies an audit log to the history in its own thread, so that no request waits for the disk of the history."""

import logging
import threading

from lag.audit.log import AuditLog
from lag.audit.stored import AuditCopy
from lag.errors import GroupscopeError
from lag.history.store import History

logger = logging.getLogger(__name__)

COPY_EVERY_S = 30.0


class AuditRecorder:
    """Copies the events of a log while it is open as a context manager, and once more when it closes."""

    def __init__(self, log: AuditLog, history: History, every_s: float = COPY_EVERY_S) -> None:
        self._copy, self._every_s = AuditCopy(log, history), every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit-history", daemon=True)
        self.problem: str | None = None
        """Why events cannot be copied now."""

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            self._try()
        self._try()

    def _try(self) -> None:
        """Copy; a failure is logged once until it succeeds again, and its events are copied later."""
        try:
            self._copy.copy()
        except GroupscopeError as error:
            self._failed(str(error))
        except Exception as error:  # noqa: BLE001 - the thread must go on
            self._failed(f"Audit events are not copied to the history: internal error ({type(error).__name__})")
        else:
            self.problem = None

    def _failed(self, problem: str) -> None:
        if self.problem != problem:
            logger.warning("%s", problem)
        self.problem = problem

    def __enter__(self) -> "AuditRecorder":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(10)
