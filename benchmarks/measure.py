"""Whole processes: how long they take from their start to their end, and how much memory they hold at most."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

GROUPSCOPE = str(Path(sys.executable).with_name("groupscope"))


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a process."""

    wall_s: float
    peak_mb: float
    stdout: Path


def process(command: Sequence[str], stdout: Path) -> Run:
    """Run `command` to its end. Raises CalledProcessError when it fails."""
    with stdout.open("wb") as out:
        started = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Run(wall_s, usage.ru_maxrss / 1024, stdout)


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
