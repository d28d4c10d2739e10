"""A table of figures: printed as they come, and kept in `results/<suite>.md`."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, how much, and what it is to be held against."""

    what: str
    figure: str
    remark: str


def write(suite: str, machine: str, rows: Iterable[Row]) -> None:
    """Print each row as it arrives; write the table when all are there."""
    lines = [f"# {suite.capitalize()}", "", f"Measured by `make bench` on {machine}.", "", "| | | |", "|---|---|---|"]
    for row in rows:
        print(f"{row.what:<62}{row.figure:>12}   {row.remark}", flush=True)
        lines.append(f"| {row.what} | {row.figure} | {row.remark} |")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{suite}.md").write_text("\n".join(lines) + "\n")
