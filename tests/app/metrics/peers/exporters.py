"""The real exporters, where they are installed: on PATH, or in the folder that GROUPSCOPE_TEST_EXPORTERS names."""

import os
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tests.support.waiting import wait_until

FOLDER = "GROUPSCOPE_TEST_EXPORTERS"


@dataclass(frozen=True, slots=True)
class Exporter:
    """A program, the prefix of its metrics, and how it is started: its arguments and its environment.

    `{bootstrap}`, `{port}` and `{folder}` stand for the broker, the port that it serves and a folder of its own, in
    which `files` are. It is ready once `ready` is in what it serves. `not_served` are its metrics that our set of the
    same names leaves out.
    """

    program: str
    prefix: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    not_served: frozenset[str]
    files: Mapping[str, str] = field(default_factory=dict)
    ready: str = ""

    @property
    def path(self) -> str | None:
        """Where it is; None if it is not installed."""
        return shutil.which(self.program, path=os.environ.get(FOLDER)) or shutil.which(self.program)


KAFKA_EXPORTER = Exporter(
    "kafka_exporter",
    "kafka_",
    # Without --concurrent.enable a race in its Collect loses the last series of some scrapes.
    ("--kafka.server={bootstrap}", "--web.listen-address=127.0.0.1:{port}", "--concurrent.enable"),
    {},
    frozenset({"kafka_exporter_build_info"}),
)
KMINION = Exporter(
    "kminion",
    "kminion_",
    (),
    {
        "KAFKA_BROKERS": "{bootstrap}",
        "EXPORTER_HOST": "127.0.0.1",
        "EXPORTER_PORT": "{port}",
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
BURROW = Exporter(
    "burrow",
    "burrow_",
    ("-config-dir={folder}",),
    {},
    frozenset(),
    {
        "burrow.toml": """
[client-profile.local]
kafka-version = "2.8.0"
[cluster.peers]
class-name = "kafka"
servers = ["{bootstrap}"]
client-profile = "local"
offset-refresh = 1
[consumer.peers]
class-name = "kafka"
cluster = "peers"
servers = ["{bootstrap}"]
client-profile = "local"
[evaluator.default]
class-name = "caching"
expire-cache = 1
[httpserver.default]
address = "127.0.0.1:{port}"
"""
    },
    'burrow_kafka_consumer_current_offset{cluster="peers",consumer_group="steady"',
)


class Running(NamedTuple):
    """An exporter's process, and the address of its metrics."""

    process: subprocess.Popen[bytes]
    address: str


@contextmanager
def running(exporter: Exporter, bootstrap: str, folder: Path) -> Iterator[Running]:
    """The exporter until it is no longer needed; what it logs is in the folder."""
    assert exporter.path is not None
    port = _free_port()

    def filled(template: str) -> str:
        return template.format(bootstrap=bootstrap, port=port, folder=folder)

    for name, content in exporter.files.items():
        (folder / name).write_text(filled(content))
    environment = {**os.environ, **{name: filled(value) for name, value in exporter.environment.items()}}
    with (folder / "log").open("wb") as log:
        command = [exporter.path, *map(filled, exporter.arguments)]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            yield Running(process, f"http://127.0.0.1:{port}/metrics")
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def scrape(exporter: Exporter, served: Running) -> str:
    """What it serves, as soon as it is ready."""

    def answer() -> str:
        try:
            with urllib.request.urlopen(served.address, timeout=30) as response:
                body: str = response.read().decode()
        except OSError:
            return ""
        return body if exporter.ready in body else ""

    return wait_until(answer, 60)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
