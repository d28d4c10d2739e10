"""`python -m benchmarks [NAME ...]`: run the named suites, or all; each in a process of its own.

What one suite leaves in memory would else count for the next.
"""

import subprocess
import sys

from benchmarks import (
    assignors,
    burrow,
    exporters,
    first_sentence,
    history,
    memory,
    metrics,
    open_pages,
    pages,
    records,
    report,
    rollup,
    server_assignors,
    simulation,
    snapshots,
    soak,
    stream,
    sweep,
    verdict_rates,
)
from benchmarks.measure import machine

SUITES = {
    "snapshots": snapshots.rows,
    "pages": pages.rows,
    "first_sentence": first_sentence.rows,
    "open_pages": open_pages.rows,
    "soak": soak.rows,
    "metrics": metrics.rows,
    "exporters": exporters.rows,
    "assignors": assignors.rows,
    "server_assignors": server_assignors.rows,
    "simulation": simulation.rows,
    "records": records.rows,
    "stream": stream.rows,
    "rollup": rollup.rows,
    "burrow": burrow.rows,
    "memory": memory.rows,
    "history": history.rows,
    "sweep": sweep.rows,
    "verdict_rates": verdict_rates.rows,
}


def main(names: list[str]) -> None:
    """Run and report. Exits with 1 on an unknown name; raises CalledProcessError when a suite of several fails."""
    unknown = set(names) - set(SUITES)
    if unknown:
        sys.exit(f"unknown suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    if len(names) == 1:
        report.write(names[0], machine(), SUITES[names[0]]())
        return
    for name in names or SUITES:
        subprocess.run([sys.executable, "-m", "benchmarks", name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
