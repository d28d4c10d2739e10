"""The audit log: a file of JSON lines that only its owner can read, and its older files beside it.

Several processes may append to it, as the server and `groupscope token` do.
"""

import errno
import os
import socket
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import chain
from pathlib import Path

from lag.audit.event import AuditEvent, event_of
from lag.errors import ConfigError
from lag.locked_file import locked_file

APPEND = os.O_APPEND | os.O_CREAT | os.O_RDWR
MOST_BYTES = 10_000_000
OLDER_FILES = 5
MOST_KEPT = 1_000
"""Events in memory, of a log without a file."""
MOST_WAITING = 1_000
"""Events that wait for the file."""
CLOSE_WITHIN_S = CHECK_WITHIN_S = 5.0
"""How long `close` and `check` wait for the file."""
LOCKED = "is locked by another process"

Waiting = tuple[AuditEvent, Future[None]]


class AuditLog:
    """The events of a server. Without a `path`, the last MOST_KEPT are kept in memory. Thread safe.

    A file of more than `most_bytes` becomes `PATH.1`, that one `PATH.2` and so on; `older_files` of them are kept.
    """

    def __init__(self, path: Path | None = None, most_bytes: int = MOST_BYTES, older_files: int = OLDER_FILES) -> None:
        self.path, self._most_bytes, self._older = path, most_bytes, older_files
        self._kept: deque[AuditEvent] = deque(maxlen=MOST_KEPT)
        self._lock = threading.Lock()
        self._waiting, self._changes = deque[Waiting](), threading.Condition()

    def append(self, event: AuditEvent) -> None:
        """Add an event; it is in the file when this returns. Raises ConfigError if it cannot be written."""
        with self._lock:
            if self.path is None:
                self._kept.append(event)
                return
            try:
                with locked_file(self.path, APPEND) as file:
                    _add(file, event.line())
                    if os.fstat(file).st_size > self._most_bytes:
                        self._rotate(self.path)
            except OSError as error:
                raise _unusable(self.path, error) from None

    def append_soon(self, event: AuditEvent) -> Future[None] | None:
        """Add an event without waiting for the file, which another process may have locked.

        It is in the file when the future is done; the future has a ConfigError if it cannot be written. Returns None
        while MOST_WAITING events wait: this one is not added.
        """
        written = Future[None]()
        written.set_running_or_notify_cancel()  # whoever waits for it cannot take the event back
        if self.path is None:
            self.append(event)
            written.set_result(None)
            return written
        with self._changes:
            if len(self._waiting) >= MOST_WAITING:
                return None
            self._waiting.append((event, written))
            if len(self._waiting) == 1:  # no thread is writing
                threading.Thread(target=self._write, args=self._waiting[0], name="audit", daemon=True).start()
        return written

    def close(self) -> None:
        """Wait up to CLOSE_WITHIN_S until all events are written. The futures of the others then have a ConfigError."""
        with self._changes:
            self._changes.wait_for(lambda: not self._waiting, CLOSE_WITHIN_S)
            left = list(self._waiting)
            self._waiting.clear()
        for _, written in left:
            written.set_exception(ConfigError(f"The audit log {self.path} {LOCKED}"))

    @property
    def place(self) -> str:
        """A name for where the events are kept, which no other log has."""
        host = socket.gethostname()
        return f"{host}:process {os.getpid()}" if self.path is None else f"{host}:{self.path.resolve()}"

    @property
    def version(self) -> object:
        """A value that changes with every event. Raises ConfigError if the file cannot be read."""
        if self.path is None:
            return self._kept[-1].event_id if self._kept else None
        try:
            file = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self.path, error) from None
        return file.st_ino, file.st_size

    def newest_first(self) -> Iterator[AuditEvent]:
        """All events that are kept, file by file, each once: a file that is rotated meanwhile is read twice.

        One that is added meanwhile may come after older ones. Raises ConfigError if a file cannot be read.
        """
        if self.path is None:
            with self._lock:
                kept = list(self._kept)
            yield from reversed(kept)
            return
        seen: set[str] = set()
        try:
            for event in chain.from_iterable(map(_newest, self._files(self.path))):
                if event.event_id not in seen:
                    seen.add(event.event_id)
                    yield event
        except OSError as error:
            raise _unusable(self.path, error) from None

    def check(self) -> None:
        """Raise ConfigError if the file cannot be written, or another process has locked it for CHECK_WITHIN_S."""
        if self.path is not None:
            try:
                with locked_file(self.path, APPEND, CHECK_WITHIN_S):
                    pass
            except TimeoutError:
                hint = f"`fuser {self.path}` shows which; or name another file with --audit"
                raise ConfigError(f"The audit log {self.path} {LOCKED}", hint) from None
            except OSError as error:
                raise _unusable(self.path, error) from None

    def _write(self, event: AuditEvent, written: Future[None]) -> None:
        """Write it and those that wait behind it."""
        following: Waiting | None = (event, written)
        while following is not None:
            following = self._write_one(*following)

    def _write_one(self, event: AuditEvent, written: Future[None]) -> Waiting | None:
        """Returns the next one."""
        error = self._failure(event)
        with self._changes:
            if not self._waiting or self._waiting[0][1] is not written:
                return None  # `close` has given it up
            self._waiting.popleft()
            following = self._waiting[0] if self._waiting else None
            self._changes.notify_all()
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)
        return following

    def _failure(self, event: AuditEvent) -> Exception | None:
        try:
            self.append(event)
        except Exception as error:  # noqa: BLE001 - the events behind it must be written
            return error
        return None

    def _rotate(self, path: Path) -> None:
        files = self._files(path)
        for newer, older in zip(files[-2::-1], files[:0:-1], strict=True):
            with suppress(FileNotFoundError):
                os.replace(newer, older)

    def _files(self, path: Path) -> list[Path]:
        """The newest first."""
        return [path, *(path.with_name(f"{path.name}.{number}") for number in range(1, self._older + 1))]


def _add(file: int, line: str) -> None:
    """Append the line, whole or not at all. A line that a crash has cut off must not run into it."""
    size, data = os.fstat(file).st_size, f"{line}\n".encode()
    if size and os.pread(file, 1, size - 1) != b"\n":
        data = b"\n" + data
    if os.write(file, data) < len(data):
        os.ftruncate(file, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _newest(path: Path) -> Iterator[AuditEvent]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return
    yield from (event for line in reversed(lines) if (event := event_of(line)) is not None)


def _unusable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"The audit log {path} cannot be used: {error.strerror}", "Name another file with --audit")
