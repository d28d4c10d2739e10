"""Sweeps: which groups would gain most from another assignor or other numbers of members, and one group's cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

LEAST_OFF = 0.05
"""Less taken off the busiest member is not worth a change of assignor."""
_SAME = 1 + 1e-9
NO_LOAD, NOBODY = "the load of its members is unknown", "nobody is in it"
NO_CASES = "the sweep was cut off before it had a case of it, run it again"


class Gain(StrEnum):
    """What a group would gain, most urgent first."""

    DRAINS = "drains"  # its lag never drains now, and would
    STUCK = "stuck"  # its lag never drains, in no case of the sweep
    ASSIGNOR = "assignor"  # another assignor takes load off the busiest member
    FEWER = "fewer"  # fewer members do as well
    NONE = "none"
    UNKNOWN = "unknown"  # the load of its members is not, or no case of it could be planned


GAINING = (Gain.DRAINS, Gain.ASSIGNOR, Gain.FEWER)


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of a sweep that a heat map can show; `is_share` and `is_time` say how to write it."""

    key: str
    label: str
    help: str
    is_share: bool = False
    is_time: bool = False


MEASURES = (
    Measure("hot_share", "Busiest share", "Share of all load that the busiest member has", is_share=True),
    Measure("moved", "Moved", "Partitions that a member gives up on the way, once for each time"),
    Measure("spread", "Spread", "Partitions of the member with most, less those of the one with fewest"),
    Measure("idle", "Idle", "Members without a partition"),
    Measure("drain_s", "Drains in", "When the slowest member has worked off its lag", is_time=True),
    Measure("paused", "Paused", "Partitions that stop, once for each rebalance in which they do"),
    Measure("rebalances", "Rebalances", "Rebalances until the group is there"),
)
BY_KEY = {measure.key: measure for measure in MEASURES}
VALUES = ("hot_share", "drain_s")
"""Measures that more members buy: what the frontier draws against their number."""


def gains(groups: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """One row per group, most to gain first.

    `groups` are as they are, `cells` the cases in which nothing fails. Columns: group_id, gain, assignor, members,
    partitions, hot_by, hot_share, idle, drain_s as it is; to_assignor, to_members, to_share, to_drain_s, moved of the
    case that is worth it (missing: none is); off, the part that it takes off the busiest member's share; why it is not
    known what there is to gain (missing: it is).
    """
    now = groups.set_index("group_id")
    known = cells[cells["reason"].isna()].join(now, on="group_id", rsuffix="_now")
    known = known.assign(changes=known["assignor"] != known["assignor_now"], step=_step(known))
    best = {
        Gain.DRAINS: _first(known[_would_drain(known)], ["step", "changes", "drain_s"]),
        Gain.ASSIGNOR: _first(known[_takes_off(known)], ["hot_share", "moved"]),
        Gain.FEWER: _first(known[_is_spare(known)], ["members", "changes", "hot_share", "moved"]),
    }
    gain = _gain(now, known, best)
    chosen = [found[gain.reindex(found.index) == kind] for kind, found in best.items()]
    to = pd.concat(chosen).rename(columns=_TO)[list(_TO.values())]
    frame = now[list(_NOW)].join(to).assign(gain=gain, why=_why(now, cells).where(gain == Gain.UNKNOWN))
    frame["off"] = 1 - frame["to_share"] / frame["hot_share"]
    return _ordered(frame).reset_index()


_NOW = ("assignor", "members", "partitions", "hot_by", "hot_share", "idle", "drain_s")
_TO = {
    "assignor": "to_assignor",
    "members": "to_members",
    "hot_share": "to_share",
    "drain_s": "to_drain_s",
    "moved": "moved",
}


def _step(known: pd.DataFrame) -> pd.Series:
    """How far from the present number of members; fewer count as farther than all that are more."""
    step = known["members"] - known["members_now"]
    return step.where(step >= 0, 1_000_000 - step)


def _never(frame: pd.DataFrame, suffix: str = "") -> pd.Series:
    return frame[f"drain_s{suffix}"] == np.inf


def _would_drain(known: pd.DataFrame) -> pd.Series:
    """Its lag never drains now, and does here."""
    drains: pd.Series = np.isfinite(known["drain_s"])
    return _never(known, "_now") & drains


def _takes_off(known: pd.DataFrame) -> pd.Series:
    """Another assignor on as many members takes enough off the busiest one."""
    off = 1 - known["hot_share"] / known["hot_share_now"]
    return (known["members"] == known["members_now"]) & known["changes"] & (off >= LEAST_OFF)


def _is_spare(known: pd.DataFrame) -> pd.Series:
    """Fewer members, none of which has more than the busiest one has now."""
    no_worse = known["hot_share"] <= known["hot_share_now"] * _SAME
    no_worse &= (known["unassigned"] <= known["unassigned_now"]) & ~(_never(known) & ~_never(known, "_now"))
    return (known["members"] < known["members_now"]) & no_worse


def _first(cells: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Of each group the first cell in that order; assignors in the order of their names where all else is equal."""
    ordered = cells.sort_values([*order, "assignor"], kind="stable")
    return ordered.drop_duplicates("group_id").set_index("group_id")


def _gain(now: pd.DataFrame, known: pd.DataFrame, best: dict[Gain, pd.DataFrame]) -> pd.Series:
    gain = pd.Series(Gain.NONE.value, index=now.index, dtype=object)
    for kind in (Gain.FEWER, Gain.ASSIGNOR):
        gain[gain.index.isin(best[kind].index)] = kind.value
    gain[now["hot_share"].isna()] = Gain.UNKNOWN.value
    gain[_never(now)] = Gain.STUCK.value
    gain[gain.index.isin(best[Gain.DRAINS].index)] = Gain.DRAINS.value
    gain[~gain.index.isin(known["group_id"])] = Gain.UNKNOWN.value
    return gain


def _why(now: pd.DataFrame, cells: pd.DataFrame) -> pd.Series:
    """What stands in the way of knowing what a group would gain."""
    reasons = cells.groupby("group_id")["reason"]
    refused = reasons.first()[reasons.count() == reasons.size()].reindex(now.index)
    why = pd.Series(NO_LOAD, index=now.index, dtype=object)
    why[now["members"] == 0] = NOBODY
    why = refused.where(refused.notna(), why)
    why[~now.index.isin(cells["group_id"])] = NO_CASES
    return now["reason"].where(now["reason"].notna(), why)


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """By what there is to gain, then by how much: load taken off, then members that could go."""
    rank = frame["gain"].map({kind.value: at for at, kind in enumerate(Gain)})
    spared = (frame["members"] - frame["to_members"]).clip(lower=0)
    keys = frame.assign(rank=rank, off_=-frame["off"].fillna(0.0).round(9), spared=-spared.fillna(0), id=frame.index)
    order = keys.sort_values(["rank", "off_", "spared", "id"], kind="stable").index
    return frame.loc[order]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dicts."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


@dataclass(frozen=True, slots=True)
class Grid:
    """A measure by number of members (rows) and assignor (columns); NaN where it is not known, `why` says why.

    `is_case`: it could be planned.
    """

    members: Sequence[int]
    assignors: Sequence[str]
    values: "np.ndarray[tuple[int, int], np.dtype[np.float64]]"
    why: "np.ndarray[tuple[int, int], np.dtype[np.object_]]"
    is_case: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"


def grid(cells: pd.DataFrame, measure: Measure) -> Grid:
    """The cells of one group and one failure; assignors in the order in which they stand there."""
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
    """The cells whose measure is known, and not never."""
    return cells[np.isfinite(cells[measure.key].astype(float))]


def frontier(cells: pd.DataFrame, measure: Measure) -> pd.DataFrame:
    """The cases that no other beats with as many members or fewer, in order of their number; unknown ones left out."""
    ordered = finite(cells, measure).sort_values(["members", measure.key, "moved", "assignor"], kind="stable")
    best = ordered.drop_duplicates("members")
    before = best[measure.key].cummin().shift(fill_value=np.inf)
    return best[best[measure.key] * _SAME < before]
