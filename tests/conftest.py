"""What tests share: a real Kafka, started when the first test asks for it, and Kafka's Java classes.

With pytest-xdist each worker has its own. Tests keep apart by the names of their topics and groups.
"""

import gc
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype
import pytest
from hypothesis import settings

from app.server.workers import pool
from assignors import registry
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.workload import BROKER_PROPERTIES, Workload
from tests.support import secure_kafka as secure
from tests.support.installed import Yours, install
from tests.support.java import start_jvm
from tests.support.secure_kafka import SecureKafka

pytest_plugins = ["tests.support.scheduling"]

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A run in the background of a shell ignores it, and so would every command that a test starts and interrupts."""

settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")
"""Each run tries the same examples; `--hypothesis-profile=default`, with a seed or without, looks for others."""

settings.register_profile("few", settings.get_profile("same"), max_examples=25)
"""A quarter of them, for `make check`."""

USERS = {"alice": "alice-secret", "bob": "bob-secret"}


NEEDS = {
    "java_classes": "jvm",
    "spark": "spark",
    "played": "broker",
    "chromium": "browser",
    **dict.fromkeys(("kafka", "kafka3", "secure_kafka", "demo", "cluster"), "broker"),
}
"""Fixtures that start something, and the mark of the tests that use them: `make check` leaves these tests out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what it needs."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in NEEDS:
                item.add_marker(NEEDS[fixture])


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the garbage collector need not go through them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_workers() -> Iterator[None]:
    """What a page or request has computed is computed in this process: starting workers takes a second."""
    its = pool.install(None)
    yield
    pool.install(its)


@pytest.fixture(autouse=True)
def _same_main() -> Iterator[None]:
    """multiprocessing runs `__main__` in each process that it starts, and Streamlit's AppTest replaces it."""
    ours = sys.modules["__main__"]
    yield
    assert sys.modules["__main__"] is ours


@pytest.fixture
def workers() -> Iterator[pool.WorkerPool]:
    """Worker processes, as a server has them."""
    its = pool.WorkerPool()
    pool.install(its)
    yield its
    its.close()


@pytest.fixture(scope="session")
def kafka() -> Iterator[EmbeddedKafka]:
    """One broker with a PLAINTEXT listener."""
    with EmbeddedKafka() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def kafka3() -> Iterator[EmbeddedKafka]:
    """Three brokers, fresh for each module: its tests may freeze and kill them, and put them back."""
    with EmbeddedKafka(brokers=3, heap_mb=384) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def secure_kafka() -> Iterator[SecureKafka]:
    """One broker with SASL_SSL and an authorizer: alice (of USERS) may do everything, bob what ACLs allow.

    The PLAINTEXT listener has every right, for preparing things.
    """
    with secure.secure_kafka(USERS, super_user="alice") as cluster:
        yield cluster


@dataclass(frozen=True)
class Demo:
    """The embedded Kafka with the demo workload, every case set up."""

    kafka: EmbeddedKafka
    workload: Workload


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """What `groupscope up` shows; tests leave it as they found it. It ends with its module: it never rests."""
    with (
        EmbeddedKafka(properties=BROKER_PROPERTIES) as cluster,
        Workload(cluster.bootstrap_servers, cluster.folder) as workload,
    ):
        workload.wait_ready(120)
        yield Demo(cluster, workload)


@pytest.fixture(scope="session")
def java_classes() -> Callable[[str], Any]:
    """`java_classes("org.apache.kafka...")` -> the Java class, in a JVM inside this process."""
    start_jvm()
    jclass: Callable[[str], Any] = jpype.JClass
    return jclass


@pytest.fixture
def install_yours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Yours]]:
    """`install_yours("first", "hangs")` installs those assignors of `tests.support.installed` for this test."""

    def installed(*names: str) -> Yours:
        its = install(tmp_path, *names)
        monkeypatch.syspath_prepend(tmp_path)
        registry._installed.cache_clear()
        return its

    yield installed
    registry._installed.cache_clear()
    sys.modules.pop("yours", None)
