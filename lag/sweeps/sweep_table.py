"""Writes a sweep to the history: its cases and its groups; a sweep with the same id is replaced."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import pyarrow as pa

from assignors.scenario.dump import document
from lag.history.schemas import SWEEP_GROUPS, SWEEPS, Table
from lag.history.store import History, literal
from lag.sweeps.measures import Row, current_row
from lag.sweeps.plan import Plan, SweepRequest

ID_LETTERS = 12


@dataclass(frozen=True, slots=True)
class SweepHeader:
    """The columns that all rows of a sweep share."""

    sweep_id: str
    cluster: str
    at: datetime

    def table(self, rows: Iterable[Row], of: Table) -> pa.Table:
        """The rows as a table without the day."""
        own = {"sweep_id": self.sweep_id, "cluster": self.cluster, "at": self.at}
        return pa.Table.from_pylist([own | row for row in rows], of.file_schema)


def groups(plan: Plan) -> list[Row]:
    """One row for each present group, with its scenario."""
    return [current_row(its) | {"scenario": json.dumps(document(its))} for its in plan.scenarios]


def sweep_id(cluster: str, group_rows: Sequence[Row], request: SweepRequest) -> str:
    """An id derived from cluster, groups and request: the same sweep has the same id."""
    parts = [cluster, repr(request), *(row["scenario"] for row in group_rows)]
    return sha256("\n".join(parts).encode(errors="surrogatepass")).hexdigest()[:ID_LETTERS]


def write(
    history: History, header: SweepHeader, group_rows: Sequence[Row], found: Sequence[pa.Table]
) -> Mapping[str, int]:
    """Write the sweep; returns the rows written by table. Raises HistoryError.

    Groups are written first, because a sweep is listed once it has cases.
    """
    made: dict[str, Any] = {
        SWEEP_GROUPS.name: header.table(group_rows, SWEEP_GROUPS),
        SWEEPS.name: pa.concat_tables(found),
    }
    for name, rows in made.items():
        history.replace(name, rows, f"sweep_id = {literal(header.sweep_id)}")
    return {name: len(rows) for name, rows in made.items()}
