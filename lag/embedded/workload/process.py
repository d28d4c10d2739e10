"""Starts and stops the workload as a separate process."""

import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Self

from lag.embedded.signals import uninterrupted
from lag.embedded.workload.controls import Controls
from lag.errors import EmbeddedError
from lag.process_family import end_family, environment, living, new_family

KEY_ENVIRONMENT = "GROUPSCOPE_DEMO_KEY"
STOP_S = 10.0
LEFT_S = 2.0
POLL_S = 0.1
LAST_BYTES = 4000


class Workload:
    """The demo workload on an embedded Kafka. It ends with `stop`, or when this process ends.

    The workload watches a pipe that only this process holds; its members end with it. `folder` is for its files,
    such as sockets; the owner of the folder removes it, as the embedded Kafka does.
    Raises EmbeddedError if it cannot run: confluent-kafka is missing, or the Kafka is not empty or not on this machine.
    """

    def __init__(self, bootstrap_servers: str, folder: Path) -> None:
        self._bootstrap_servers, self._folder = bootstrap_servers, folder
        self._family = new_family()
        self._process: subprocess.Popen[bytes] | None = None
        self._controls: Controls | None = None
        self._log: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def controls(self) -> Controls:
        """The panel's actions. EmbeddedError before `start`."""
        if self._controls is None:
            raise EmbeddedError("The demo workload has not been started", "Call start() first.")
        return self._controls

    @property
    def pid(self) -> int | None:
        """The process id of the workload; None if it does not run."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start the set-up; `wait_ready` waits until it is done."""
        if importlib.util.find_spec("confluent_kafka") is None:
            raise EmbeddedError("The demo workload needs confluent-kafka", "Install groupscope with the extra `demo`.")
        key = secrets.token_bytes(32)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  (closed in stop; it has no name that could be left)
        with ExitStack() as undo:
            with uninterrupted():
                self._process = self._spawn(key)
                undo.callback(self.stop)
            self._controls = Controls(self._port(self._process), key)
            undo.pop_all()

    def wait_ready(self, timeout_s: float = 60.0) -> None:
        """Wait until every case is set up. Raises EmbeddedError if the set-up fails or takes longer."""
        deadline_s = time.monotonic() + timeout_s
        while True:
            self._check_alive()
            state = self.controls.readiness()
            if state.failure:
                raise EmbeddedError(f"The demo workload could not be set up: {state.failure}")
            if state.ready:
                return
            if time.monotonic() > deadline_s:
                waiting = ", ".join(state.waiting) or "the first records"
                raise EmbeddedError(f"The demo workload is not ready after {timeout_s:.0f} s, waiting for {waiting}")
            time.sleep(POLL_S)

    def stop(self) -> None:
        """Let the members leave their groups, and end the process. May be called twice."""
        process, log = self._process, self._log
        self._process = self._log = self._controls = None
        if process is None or log is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _end(self._family)
        log.close()

    def _spawn(self, key: bytes) -> subprocess.Popen[bytes]:
        what = ["--bootstrap-server", self._bootstrap_servers, "--folder", str(self._folder)]
        return subprocess.Popen(
            [sys.executable, "-m", "lag.embedded.workload", *what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(str(self._folder), self._family) | {KEY_ENVIRONMENT: key.hex(), "MALLOC_ARENA_MAX": "2"},
            start_new_session=True,
        )

    def _port(self, process: subprocess.Popen[bytes]) -> int:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            process.wait(STOP_S)
            self._check_alive()
        return int(json.loads(line)["port"])

    def ended(self) -> EmbeddedError | None:
        """Why it no longer runs; None while it does, before `start` and after `stop`."""
        process = self._process
        if process is None or process.poll() is None:
            return None
        return EmbeddedError(f"The demo workload has exited unexpectedly: {self._last_lines()}", "Start it again.")

    def _check_alive(self) -> None:
        if (error := self.ended()) is not None:
            raise error

    def _last_lines(self) -> str:
        if self._log is None:
            return "it wrote nothing"
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - LAST_BYTES))
        return self._log.read().decode(errors="replace").strip() or "it wrote nothing"


def _end(family: str) -> None:
    """Wait until the processes of the workload are gone, and kill those that stay."""
    deadline_s = time.monotonic() + LEFT_S
    while time.monotonic() < deadline_s and living(family):
        time.sleep(POLL_S / 10)
    end_family(family)
