"""Whole processes: how long they take from their start to their end, and how much memory they hold at most."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

GROUPSCOPE = str(Path(sys.executable).with_name("groupscope"))
TIMED = [sys.executable, "-I", "-S", str(Path(__file__).with_name("timed.py"))]


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a process."""

    wall_s: float
    peak_mb: float
    stdout: Path


def process(command: Sequence[str], stdout: Path) -> Run:
    """Run `command` to its end. Raises CalledProcessError when it fails."""
    with stdout.open("wb") as out:
        report = subprocess.run([*TIMED, *command], stdout=out, stderr=subprocess.PIPE, check=True, text=True).stderr
    wall_s, peak_kib = report.split()
    return Run(float(wall_s), float(peak_kib) / 1024, stdout)


def typical(runs: Sequence[Run]) -> Run:
    """The run with the median wall time."""
    middle = median(run.wall_s for run in runs)
    return min(runs, key=lambda run: abs(run.wall_s - middle))


def load() -> str:
    """How busy the machine is: processes that ran or waited for a core in the last minute, on average."""
    return f"{os.getloadavg()[0]:.1f}"


def machine() -> str:
    """What this was measured on."""
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        "unknown processor",
    )
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} x {model}, {memory_gb:.0f} GiB, Python {sys.version.split()[0]}"
