"""A file of settings that is read again when it changes."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lag.errors import ConfigError

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value]):
    """What is in force, and what is wrong with its file; None: nothing."""

    value: Value
    problem: ConfigError | None = None


class WatchedFile(Generic[Value]):
    """A file that is read again after a change. If it is invalid then, its earlier content stays in force.

    Thread safe. `load` raises ConfigError for a broken file; so does the constructor.
    """

    def __init__(self, path: Path, load: Callable[[Path], Value]) -> None:
        self._path, self._load, self._lock = path, load, threading.Lock()
        self._version = _version(path)
        self._reading = Reading(load(path))

    def has_changed(self) -> bool:
        """Whether the next `read` opens the file. Waits for nobody who reads it."""
        return _version(self._path) != self._version

    def read(self) -> Reading[Value]:
        """What is in force now: the file is opened only if its time, size or place on the disk changed."""
        with self._lock:
            version = _version(self._path)
            if version != self._version:
                self._version, self._reading = version, self._read_again()
            return self._reading

    def _read_again(self) -> Reading[Value]:
        try:
            return Reading(self._load(self._path))
        except ConfigError as error:
            error.__traceback__ = error.__context__ = None
            return Reading(self._reading.value, error)
        except Exception as error:  # noqa: BLE001 - whatever is in the file must not stop a poll
            return Reading(self._reading.value, ConfigError(f"{self._path} cannot be read: {type(error).__name__}"))


def _version(path: Path) -> tuple[int, int, int] | None:
    """Differs after each change of the file; None: it cannot be seen."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
