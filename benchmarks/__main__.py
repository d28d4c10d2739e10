"""`python -m benchmarks [NAME ...]`: run the named suites, or all."""

import sys

from benchmarks import (
    assignors,
    history,
    memory,
    pages,
    records,
    report,
    rollup,
    server_assignors,
    simulation,
    snapshots,
    stream,
    sweep,
)
from benchmarks.measure import machine

SUITES = {
    "snapshots": snapshots.rows,
    "pages": pages.rows,
    "assignors": assignors.rows,
    "server_assignors": server_assignors.rows,
    "simulation": simulation.rows,
    "records": records.rows,
    "stream": stream.rows,
    "rollup": rollup.rows,
    "memory": memory.rows,
    "history": history.rows,
    "sweep": sweep.rows,
}


def main(names: list[str]) -> None:
    """Run and report. Exits with 2 on an unknown name."""
    unknown = set(names) - set(SUITES)
    if unknown:
        sys.exit(f"unknown suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    for name in names or SUITES:
        report.write(name, machine(), SUITES[name]())


if __name__ == "__main__":
    main(sys.argv[1:])
