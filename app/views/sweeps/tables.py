"""The measures of a sweep's cases, and one group's cases as a grid and as a frontier."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lag.sweeps.gains import records

_EQUAL = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a sweep that the heat map can show. `is_share`: a share of 1; `is_time`: seconds."""

    key: str
    label: str
    help: str
    is_share: bool = False
    is_time: bool = False


MEASURES = (
    Measure("hot_share", "Busiest share", "Share of all load that the busiest member has", is_share=True),
    Measure("moved", "Moves", "How often a member gives up a partition; one partition can move several times"),
    Measure("spread", "Spread", "Difference between the largest and the smallest number of partitions of a member"),
    Measure("idle", "Idle", "Members without a partition"),
    Measure("drain_s", "Drains in", "Time until the slowest member has no lag", is_time=True),
    Measure("paused", "Paused", "Partitions that stop being consumed, counted in each rebalance"),
    Measure("rebalances", "Rebalances", "Rebalances until the group has the new assignment"),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
VALUES = ("hot_share", "drain_s")
"""Measures that the frontier draws against the number of members."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A measure by number of members (rows) and assignor (columns).

    All arrays are [n_members, n_assignors]. `values`: float64, NaN = not known; `why`: str, the reason; `is_case`:
    bool, the case is possible.
    """

    members: Sequence[int]
    assignors: Sequence[str]
    values: NDArray[np.float64]
    why: NDArray[np.object_]
    is_case: NDArray[np.bool_]


def grid(cells: pd.DataFrame, measure: Measure) -> Grid:
    """The cells of one group and one failure; assignors in the order of the rows."""
    rows, columns = sorted(set(cells["members"])), list(dict.fromkeys(cells["assignor"]))
    values = np.full((len(rows), len(columns)), np.nan)
    why = np.full((len(rows), len(columns)), "", dtype=object)
    is_case = np.zeros((len(rows), len(columns)), bool)
    for cell in records(cells):
        at = rows.index(cell["members"]), columns.index(cell["assignor"])
        is_case[at] = pd.isna(cell["reason"])
        values[at] = np.nan if pd.isna(cell[measure.key]) else float(cell[measure.key])
        reason = cell["drain_reason"] if measure.is_time and pd.isna(cell["reason"]) else cell["reason"]
        why[at] = "" if pd.isna(reason) else reason
    return Grid(rows, columns, values, why, is_case)


def finite(cells: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """The cells whose measure is known and finite."""
    return cells[np.isfinite(cells[measure.key].astype(float))]


def frontier(cells: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """The cases that no case with as many or fewer members beats, by number of members; without unknown ones."""
    ordered = finite(cells, measure).sort_values(["members", measure.key, "moved", "assignor"], kind="stable")
    best = ordered.drop_duplicates("members")
    before = best[measure.key].cummin().shift(fill_value=np.inf)
    return best[best[measure.key] * _EQUAL < before]
