"""The dashboard's clock jumps; the clocks of the brokers are right."""

import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import which

import pytest

from tests.reliability.bench import Bench, Fault, anything
from tests.reliability.brokers import Cluster
from tests.reliability.dashboard import dashboard
from tests.reliability.truth import Truth

pytestmark = [pytest.mark.reliability, pytest.mark.timeout(900)]

SOURCE = Path(__file__).with_name("jumping_clock.c")
HOUR_S = 3_600
MIN_SAMPLES = 3
"""Of the policy: when the clock goes back, earlier polls do not count, and a verdict about movement needs new ones."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a process that runs with `environment`; only the time of day moves."""

    library: Path
    file: Path

    def set(self, ahead_s: int) -> None:
        """Set how far it is ahead of the real time. The file is written in place: the process has mapped it."""
        with self.file.open("r+b" if self.file.exists() else "wb") as file:
            file.write(struct.pack("q", ahead_s))

    @property
    def environment(self) -> dict[str, str]:
        """For the process."""
        return {"LD_PRELOAD": str(self.library), "JUMPING_CLOCK": str(self.file)}


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    """A right one, at first."""
    if which("gcc") is None:
        pytest.skip("no gcc to compile the clock: apt-get install gcc libc6-dev")
    made = Clock(tmp_path / "jumping_clock.so", tmp_path / "clock")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", made.library, SOURCE, "-ldl"], check=True)
    made.set(0)
    return made


@pytest.fixture
def bench(three: Cluster, truth: Truth, tmp_path: Path, clock: Clock) -> Iterator[Bench]:
    """A dashboard by that clock."""
    with dashboard(tmp_path / "output", three.client_file, tmp_path / "history", clock.environment) as shown:
        yield Bench(three, truth, shown)


@pytest.mark.parametrize(
    ("name", "ahead_s"),
    [("Clock an hour ahead", HOUR_S), ("Clock an hour behind", -HOUR_S)],
    ids=["ahead", "behind"],
)
def test_clock(bench: Bench, clock: Clock, name: str, ahead_s: int) -> None:
    made = "the dashboard's clock jumps, and later back; those of the brokers are right"
    bench.row(Fault(name, made, lambda: clock.set(ahead_s), lambda: clock.set(0), anything, 40, most_polls=MIN_SAMPLES))
