"""The client of the supervisor process (`lag.embedded.supervisor`)."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from lag.embedded.signals import uninterrupted
from lag.embedded.supervisor import remove_if_abandoned
from lag.errors import EmbeddedError

_END_WITHIN_S = 30


class Keeper:
    """Starts and watches processes through a supervisor. They end with this process, and their folder is removed."""

    def __init__(self) -> None:
        """Start the supervisor and wait for its folder. Raises EmbeddedError if it does not start."""
        self._lock = threading.Lock()
        self._closed = False
        self.folder: Path | None = None
        with ExitStack() as undo:
            with uninterrupted():
                self._process = _supervisor()
                undo.callback(self.close)
            self.folder = Path(self._read()["folder"])
            undo.pop_all()

    def start(self, name: str, command: list[str], log: Path) -> int:
        """Start a process with a name, its output appended to `log`; returns its pid."""
        pid: int = self._ask({"do": "start", "name": name, "command": command, "log": str(log)})["pid"]
        return pid

    def poll(self, name: str) -> int | None:
        """The exit code of the process (negative: the signal that ended it), None while it runs."""
        code: int | None = self._ask({"do": "poll", "name": name})["code"]
        return code

    def signal(self, name: str, number: int) -> None:
        """Send a signal to the process."""
        self._ask({"do": "signal", "name": name, "number": int(number)})

    def close(self) -> None:
        """End the supervisor, and with it every process and the folder; returns when they are gone."""
        self._closed = True
        with self._asking(_END_WITHIN_S):
            self._hang_up()
        try:
            self._process.wait(_END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self.folder is not None:
            remove_if_abandoned(self.folder)  # still there only if the supervisor was killed

    def _hang_up(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    @contextmanager
    def _asking(self, within_s: float = -1) -> Iterator[None]:
        """One request at a time. `close` waits for a running request, but not longer than `within_s`."""
        mine = self._lock.acquire(timeout=within_s)
        try:
            yield
        finally:
            if mine:
                self._lock.release()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        with self._asking():
            if self._closed:
                raise EmbeddedError("The embedded Kafka has been stopped", "Start it again.")
            try:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                raise self._ended() from None
            return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._ended()
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise EmbeddedError(f"A process of the embedded Kafka could not be started: {answer['error']}")
        return answer

    def _ended(self) -> EmbeddedError:
        assert self._process.stderr is not None
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        why = f": {lines[-1]}" if lines else " (was it killed?)"
        return EmbeddedError(f"The supervisor of the embedded Kafka has ended{why}", "Start the cluster again.")


def _supervisor() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "lag.embedded.supervisor", str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that Ctrl-C in the terminal does not reach it
    )


def log_tail(log: Path, lines: int = 15, start: int = 0) -> list[str]:
    """The last lines of a log from byte `start` on; the frames of stack traces are left out."""
    written = read_log(log, start).splitlines()
    return [line for line in written if not line.startswith(("\tat ", "\t..."))][-lines:]


def read_log(log: Path, start: int = 0) -> str:
    """The text of a log from byte `start` on; empty without the file."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(start)
        return file.read().decode(errors="replace")


class Companion:
    """A process beside the brokers of an embedded cluster: it works in the cluster's folder and ends with the cluster.

    Its output goes to a log in the folder.
    """

    def __init__(self, name: str, keeper: Keeper, folder: Path, command: list[str]) -> None:
        self._name, self._keeper, self._log = name, keeper, folder / f"{name}.log"
        self.pid = keeper.start(name, command, self._log)

    def last_line(self) -> str | None:
        """The last line of its output, once it has ended; None while it runs. EmbeddedError after the cluster's end."""
        if self._keeper.poll(self._name) is None:
            return None
        return (log_tail(self._log, 1) or ["it wrote nothing"])[0]
