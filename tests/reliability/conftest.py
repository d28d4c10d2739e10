"""One cluster of three brokers for all faults, and a dashboard for those that leave it alive."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.reliability.bench import Bench
from tests.reliability.brokers import Cluster, three_brokers
from tests.reliability.dashboard import dashboard
from tests.reliability.truth import Truth
from tests.reliability.workload import working


@pytest.fixture(scope="session")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three brokers with groups at work."""
    with three_brokers(tmp_path_factory.mktemp("brokers")) as cluster, working(cluster.servers):
        yield cluster


@pytest.fixture(scope="session")
def truth(three: Cluster) -> Iterator[Truth]:
    """What Kafka says."""
    with closing(Truth(three.servers)) as asked:
        yield asked


@pytest.fixture(scope="module")
def bench(three: Cluster, truth: Truth, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A dashboard with a history, for the faults of a module."""
    folder: Path = tmp_path_factory.mktemp("dashboard")
    with dashboard(folder / "output", three.client_file, folder / "history") as shown:
        yield Bench(three, truth, shown)
