"""A sweep in the history: its rows, and the groups that it began with, in the place of what was there under its id."""

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
from lag.sweeps.measures import Row, as_it_is
from lag.sweeps.plan import Asked, Plan

ID_LETTERS = 12


@dataclass(frozen=True, slots=True)
class Stamp:
    """What all rows of a sweep have in common."""

    sweep_id: str
    cluster: str
    at: datetime

    def table(self, rows: Iterable[Row], of: Table) -> pa.Table:
        """Rows as columns of the table, without the day."""
        own = {"sweep_id": self.sweep_id, "cluster": self.cluster, "at": self.at}
        return pa.Table.from_pylist([own | row for row in rows], of.file_schema)


def groups(plan: Plan) -> list[Row]:
    """Each group as it was, and its scenario."""
    return [as_it_is(its) | {"scenario": json.dumps(document(its))} for its in plan.scenarios]


def sweep_id(cluster: str, its_groups: Sequence[Row], asked: Asked) -> str:
    """An id that tells sweeps of other groups, or with other cases, apart: the same asked again has the same."""
    said = [cluster, repr(asked), *(row["scenario"] for row in its_groups)]
    return sha256("\n".join(said).encode(errors="surrogatepass")).hexdigest()[:ID_LETTERS]


def record(history: History, stamp: Stamp, its_groups: Sequence[Row], found: Sequence[pa.Table]) -> Mapping[str, int]:
    """Write the sweep, groups first: it is there once its rows are. Rows written, by table. Raises HistoryError."""
    made: dict[str, Any] = {
        SWEEP_GROUPS.name: stamp.table(its_groups, SWEEP_GROUPS),
        SWEEPS.name: pa.concat_tables(found),
    }
    for name, rows in made.items():
        history.replace(name, rows, f"sweep_id = {literal(stamp.sweep_id)}")
    return {name: len(rows) for name, rows in made.items()}
