"""Every oracle in turn with a fresh seed: `python -m tests.oracle.fuzz [--seconds N] [--seed S] [--number N]`.

Ends with 1 when anything differs. What has one number of one seed is always the same: `--number` looks at it again.
"""

import argparse
import secrets
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context

from tests.oracle import (
    burrow,
    classic_coordinator,
    consumer_coordinator,
    plans,
    records,
    scenario_files,
    server_assignors,
)
from tests.oracle.client_assignors import NAMES, ClientOracle
from tests.oracle.generations import GenerationOracle
from tests.oracle.java_maps import MapOracle
from tests.oracle.tally import Check, Tally, run
from tests.support.java import start_jvm

SECONDS = 3600  # on two cores: three quarters of a million plans, more than 100,000 sequences of each coordinator
PROCESSES = 2
SHOWN = 3
SHOWN_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Oracle:
    """How to make its check, where the JVM runs; the names under which it counts; its share of the time."""

    make: Callable[[], Check]
    names: tuple[str, ...]
    share: float


def _server() -> Check:
    return server_assignors.check


def _burrow() -> Check:
    return burrow.check


def _scenario_files() -> Check:
    return scenario_files.check


def _plans() -> Check:
    return plans.check


ORACLES = (
    Oracle(ClientOracle, NAMES, 0.12),
    Oracle(_server, tuple(server_assignors.CLASSES), 0.12),
    Oracle(GenerationOracle, ("generations",), 0.05),
    Oracle(MapOracle, ("java maps",), 0.02),
    Oracle(classic_coordinator.ClassicOracle, (classic_coordinator.NAME,), 0.27),
    Oracle(consumer_coordinator.ConsumerOracle, (consumer_coordinator.NAME,), 0.24),
    Oracle(records.RecordsOracle, (records.NAME,), 0.03),
    Oracle(_burrow, (burrow.NAME,), 0.01),
    Oracle(_scenario_files, (scenario_files.NAME,), 0.1),
    Oracle(_plans, (plans.NAME,), 0.04),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all oracles; 1 when anything differs."""
    wanted = _parser().parse_args(arguments)
    _say(f"seed {wanted.seed}")
    context = get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context, initializer=start_jvm) as pool:
        tallies = [_tally(pool, at, wanted) for at in range(len(ORACLES))]
    return int(any(tally.differences for tally in tallies))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long all of it takes, about")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--number", type=int, help="look at this number only")
    return parser


def _tally(pool: Executor, at: int, wanted: argparse.Namespace) -> Tally:
    seconds = wanted.seconds * ORACLES[at].share
    parts = [pool.submit(part, at, wanted.seed, seconds, wanted.number, first) for first in range(PROCESSES)]
    tally = Tally()
    for done in parts:
        tally += done.result()
    for line in report(wanted.seed, ORACLES[at].names, tally):
        _say(line)
    return tally


def part(at: int, seed: int, seconds: float, number: int | None, first: int) -> Tally:
    """One process's part of the numbers: every other one; or the one number that is asked for."""
    if number is None:
        return run(ORACLES[at].make(), seed, seconds=seconds, numbers=count(first, PROCESSES))
    return run(ORACLES[at].make(), seed, numbers=[number] if first == 0 else [])


def report(seed: int, names: Sequence[str], tally: Tally) -> list[str]:
    """The first differences, with the way back to them, and a closing line for each name."""
    lines = []
    for number, checked in sorted(tally.differences, key=lambda found: found[0])[:SHOWN]:
        lines.append(f"{checked.name} differs: {checked.difference[:SHOWN_CHARACTERS]}")
        lines.append(f"To reproduce: python -m tests.oracle.fuzz --seed {seed} --number {number}")
    for name in names:
        differ = sum(checked.name == name for _, checked in tally.differences)
        lines.append(f"{name}: {tally.cases[name]} cases, {differ} differ")
    return lines


if __name__ == "__main__":
    sys.exit(main())
