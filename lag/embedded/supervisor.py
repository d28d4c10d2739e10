"""A small process that runs the brokers of one embedded cluster, so that they end when their owner ends.

    python -m lag.embedded.supervisor PARENT_PID

It owns a data folder in the temp dir and every process started in it. It reads JSON requests from stdin, one per line,
and writes one line to stdout for each. When stdin closes (the parent has ended), on a signal, or when its parent is no
longer PARENT_PID, it kills the processes, removes the folder and ends. Its first line is `{"folder": PATH}`.

If the supervisor is killed, the kernel kills its processes (Linux), and the next supervisor removes the folder: a
folder is in use as long as a process holds the lock on it. `owned_folder` is for processes without a supervisor. The
folder is also the name of the family (`lag.process_family`) of the processes in it.

Only the standard library is imported here, so that it starts quickly.
"""

import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lag.process_family import end_family, environment

PREFIX = "groupscope-kafka-"
_NEW_FOR_S = 60
_CHECK_PARENT_EVERY_S = 1.0
_PR_SET_PDEATHSIG = 1
_GONE_WITHIN_S = 10


class Supervisor:
    """The processes of one cluster by name, and their folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do one request: `start` (name, command, log) -> pid; `poll` (name) -> code; `signal` (name, number)."""
        name = request["name"]
        match request["do"]:
            case "start":
                self._processes[name] = _start(request["command"], self._folder, Path(request["log"]))
                return {"pid": self._processes[name].pid}
            case "poll":
                return {"code": self._processes[name].poll()}
            case "signal":
                self._processes[name].send_signal(request["number"])
                if request["number"] == signal.SIGSTOP and sys.platform == "linux":
                    _wait_until_stopped(self._processes[name].pid)
                return {}
            case other:
                raise ValueError(f"unknown request {other}")

    def close(self) -> None:
        """Kill every process, with all that it started, and remove the folder.

        The data is discarded, so no orderly shutdown is needed.
        """
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
        end_family(str(self._folder))
        _remove(self._folder)


def _remove(folder: Path) -> None:
    """Retried until it is gone: the demo workload, which ends at the same time, may still write there."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)


def _start(command: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(str(folder)),
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )


def _wait_until_stopped(pid: int) -> None:
    """A busy machine delivers the signal late: until then the process still answers."""
    with suppress(ChildProcessError):  # it has ended, and `poll` knows already
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def owned_folder(prefix: str) -> Iterator[Path]:
    """A folder in the temp dir for the block. If this process is killed, the next owner with that prefix removes it."""
    sweep(Path(tempfile.gettempdir()), prefix)
    folder, lock = _make_folder(prefix)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_folder(prefix: str) -> tuple[Path, int]:
    """A new folder and the descriptor that holds its lock; it gets its final name once it is locked."""
    new = Path(tempfile.mkdtemp(prefix=_new_prefix(prefix)))
    lock = os.open(new, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = new.with_name(prefix + new.name.removeprefix(_new_prefix(prefix)))
    new.rename(folder)
    return folder, lock


def _new_prefix(prefix: str) -> str:
    return f".{prefix}new-"


def sweep(where: Path, prefix: str = PREFIX) -> None:
    """Remove the folders of owners that were killed, and kill what still runs of them."""
    for folder in where.glob(f"{prefix}*"):
        remove_if_abandoned(folder)
    for folder in where.glob(f"{_new_prefix(prefix)}*"):
        with suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > _NEW_FOR_S:
                remove_if_abandoned(folder)


def remove_if_abandoned(folder: Path) -> None:
    """Remove a folder, and kill its family, unless its owner is alive."""
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:  # another user's, or already gone
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        end_family(str(folder))
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(lock)


def _serve(supervisor: Supervisor, parent: int, signalled: int) -> None:
    pending = b""
    while os.getppid() == parent:
        ready, _, _ = select.select([0, signalled], [], [], _CHECK_PARENT_EVERY_S)
        arrived = os.read(0, 65536) if 0 in ready else None
        if signalled in ready or arrived == b"":
            return
        *lines, pending = (pending + (arrived or b"")).split(b"\n")
        for line in lines:
            _write(_answer_or_error(supervisor, json.loads(line)))


def _answer_or_error(supervisor: Supervisor, request: dict[str, Any]) -> dict[str, Any]:
    try:
        return supervisor.answer(request)
    except OSError as error:
        return {"error": f"{error.strerror or error}: {error.filename}" if error.filename else str(error)}


def _write(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _catch_signals() -> int:
    """Turn SIGTERM, SIGINT and SIGHUP into bytes on the descriptor returned: no operation is interrupted."""
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: None)
    return readable


def main(parent: int) -> None:
    """Serve until the parent is gone or a signal arrives; then clean up."""
    signalled = _catch_signals()
    sweep(Path(tempfile.gettempdir()))
    folder, lock = _make_folder(PREFIX)
    supervisor = Supervisor(folder)
    try:
        _write({"folder": str(folder)})
        _serve(supervisor, parent, signalled)
    except BrokenPipeError:
        return
    finally:
        supervisor.close()
        os.close(lock)


if __name__ == "__main__":
    main(int(sys.argv[1]))
