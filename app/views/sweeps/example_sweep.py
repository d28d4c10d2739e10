"""The example sweep and its rows, which come with groupscope because computing them takes over a second.

`python -m app.views.sweeps.example_sweep` computes them again, for when an assignor or a column has changed.
"""

import json
from pathlib import Path

from lag.sweeps import fleet
from lag.sweeps.measures import Row, rows
from lag.sweeps.plan import Failure, Plan, SweepRequest, parse_member_counts
from lag.whole_file import write_whole

EXAMPLE_FLEET = Path(__file__).with_name("example_fleet")
EXAMPLE_REQUEST = SweepRequest((), parse_member_counts("x0.5,x1,x1.5,x2"), (Failure.NONE, Failure.CRASH))
_ROWS = Path(__file__).with_name("example_sweep.jsonl")


def plan() -> Plan:
    """The cases of the example fleet."""
    return Plan(fleet.of_files(EXAMPLE_FLEET).scenarios, EXAMPLE_REQUEST)


def stored_rows() -> list[Row]:
    """The row of each case, in order."""
    return [json.loads(line) for line in _ROWS.read_text(encoding="utf-8").splitlines()]


def store_rows() -> None:
    """Compute the rows and write the file."""
    its = plan()
    lines = (json.dumps(row) + "\n" for row in rows(its, range(len(its))))
    write_whole(_ROWS, "".join(lines).encode(), mode=0o644)


if __name__ == "__main__":
    store_rows()
