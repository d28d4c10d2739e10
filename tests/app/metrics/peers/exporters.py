"""The real exporters, where they are installed: on PATH, or in the folder that GROUPSCOPE_TEST_EXPORTERS names."""

import os
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.waiting import wait_until

FOLDER = "GROUPSCOPE_TEST_EXPORTERS"


@dataclass(frozen=True, slots=True)
class Exporter:
    """A program, the prefix of its metrics, and how it is started for a broker and a port.

    `not_served` are its metrics that our set of the same names leaves out.
    """

    program: str
    prefix: str
    arguments: Callable[[str, int], Sequence[str]]
    environment: Callable[[str, int], Mapping[str, str]]
    not_served: frozenset[str]

    @property
    def path(self) -> str | None:
        """Where it is; None if it is not installed."""
        return shutil.which(self.program, path=os.environ.get(FOLDER)) or shutil.which(self.program)


KAFKA_EXPORTER = Exporter(
    "kafka_exporter",
    "kafka_",
    lambda bootstrap, port: (f"--kafka.server={bootstrap}", f"--web.listen-address=127.0.0.1:{port}"),
    lambda bootstrap, port: {},
    frozenset({"kafka_exporter_build_info"}),
)

KMINION = Exporter(
    "kminion",
    "kminion_",
    lambda bootstrap, port: (),
    lambda bootstrap, port: {
        "KAFKA_BROKERS": bootstrap,
        "EXPORTER_HOST": "127.0.0.1",
        "EXPORTER_PORT": str(port),
        "MINION_CONSUMERGROUPS_SCRAPEMODE": "adminApi",
    },
    frozenset(
        {
            "kminion_kafka_broker_log_dir_size_total_bytes",
            "kminion_kafka_topic_log_dir_size_total_bytes",
            "kminion_kafka_received_bytes_total",
            "kminion_kafka_requests_received_total",
            "kminion_kafka_requests_sent_total",
            "kminion_kafka_sent_bytes_total",
            "kminion_log_messages_total",
        }
    ),
)


@contextmanager
def running(exporter: Exporter, bootstrap: str, folder: Path) -> Iterator[str]:
    """The address of its metrics; what it logs is in the folder."""
    assert exporter.path is not None
    port = _free_port()
    environment = {**os.environ, **exporter.environment(bootstrap, port)}
    with (folder / f"{exporter.program}.log").open("wb") as log:
        command = [exporter.path, *exporter.arguments(bootstrap, port)]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield f"http://127.0.0.1:{port}/metrics"
        finally:
            process.terminate()
            process.wait(30)


def scrape(address: str) -> str:
    """What it serves, as soon as it does."""

    def answer() -> str:
        try:
            with urllib.request.urlopen(address, timeout=30) as response:
                body: str = response.read().decode()
        except OSError:
            return ""
        return body

    return wait_until(answer, 60)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
