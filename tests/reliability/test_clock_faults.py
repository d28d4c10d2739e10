"""The dashboard's clock jumps; the clocks of the brokers are right."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.reliability.bench import Bench, Fault, anything
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import dashboard
from tests.reliability.truth import Truth

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

LIBRARIES = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a process that runs with `environment`; only the time of day moves."""

    file: Path

    def set(self, offset: str) -> None:
        """As libfaketime writes it: `+1h` is an hour ahead of the real time."""
        self.file.write_text(f"{offset}\n")

    @property
    def environment(self) -> dict[str, str]:
        """For the process."""
        return {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    """A right one, at first."""
    if not LIBRARIES:
        pytest.skip("libfaketime is not there: apt-get install faketime")
    made = Clock(tmp_path / "clock")
    made.set("+0")
    return made


@pytest.fixture
def bench(three: Cluster, truth: Truth, tmp_path: Path, clock: Clock) -> Iterator[Bench]:
    """A dashboard by that clock."""
    with dashboard(tmp_path / "output", three.client_file, tmp_path / "history", clock.environment) as shown:
        yield Bench(three, truth, shown)


@pytest.mark.parametrize(
    ("name", "offset"), [("Clock an hour ahead", "+1h"), ("Clock an hour behind", "-1h")], ids=["ahead", "behind"]
)
def test_clock(bench: Bench, clock: Clock, name: str, offset: str) -> None:
    made = "the dashboard's clock jumps, and later back (libfaketime)"
    bench.row(Fault(name, made, lambda: clock.set(offset), lambda: clock.set("+0"), anything, 40))
