"""The processes that real consumers live in, from outside: started, commanded, listened to, frozen and killed."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assignors.model import TopicPartition

_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a host has reported, in ms since 1970; `key` names the consumer."""

    at_ms: float
    key: str
    what: str
    partitions: tuple[TopicPartition, ...]


class Host:
    """One process with Java consumers in it (`tests.fidelity.host`)."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fidelity.host"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            stated = json.loads(line)
            partitions = tuple(TopicPartition(topic, number) for topic, number in stated["partitions"])
            self.heard.append(Heard(stated["at_ms"], stated["key"], stated["what"], partitions))

    def report(self, do: str, key: str, **more: str | Mapping[str, str]) -> None:
        """Have it do that with the consumer of that name."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"do": do, "key": key, **more}) + "\n")
        self._process.stdin.flush()

    def signal(self, number: signal.Signals) -> float:
        """Send it a signal; the time then, in ms since 1970."""
        self._process.send_signal(number)
        return time.time() * 1000

    @property
    def ended(self) -> int | None:
        """Its exit code, if it is no more."""
        return self._process.poll()

    def end(self) -> None:
        """Kill it, and wait until it is gone and all that it reported is read."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
