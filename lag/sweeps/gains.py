"""What each group of a sweep would gain from another assignor or another number of members."""

from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd

MIN_REDUCTION = 0.05
"""Another assignor is recommended if it takes at least this part of the load off the busiest member."""

_EQUAL = 1 + 1e-9
NO_LOAD, NO_MEMBERS = "the load of its members is unknown", "it has no members"
NO_CASES = "the sweep was interrupted before its cases, run it again"


class Gain(StrEnum):
    """What a group would gain, most urgent first."""

    DRAINS = "drains"  # its lag never drains now, and does in another case
    STUCK = "stuck"  # its lag never drains in any case
    ASSIGNOR = "assignor"  # another assignor takes load off the busiest member
    FEWER = "fewer"  # fewer members do as well
    NONE = "none"
    UNKNOWN = "unknown"  # the load of its members is unknown, or no case is possible


GAINING = (Gain.DRAINS, Gain.ASSIGNOR, Gain.FEWER)


def gains(groups: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """One row for each group, most to gain first.

    `groups`: rows of `sweep_groups`; `cells`: rows of `sweeps` without a failure. Columns: group_id and the present
    assignor, members, partitions, hot_by, hot_share, idle, drain_s; of the recommended case to_assignor, to_members,
    to_share, to_drain_s, moved (missing: none); gain; off: the part taken off the busiest member's share; why: the
    reason of an unknown gain.
    """
    now = groups.set_index("group_id")
    known = cells[cells["reason"].isna()].join(now, on="group_id", rsuffix="_now")
    share = known["hot_share"].where(known["hot_by"] == known["hot_by_now"])  # shares of two loads do not compare
    known = known.assign(hot_share=share, changes=known["assignor"] != known["assignor_now"], step=_step(known))
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
    """Distance from the present number of members; fewer members come after all that are more."""
    step = known["members"] - known["members_now"]
    return step.where(step >= 0, 1_000_000 - step)


def _never(frame: pd.DataFrame, suffix: str = "") -> pd.Series:
    return frame[f"drain_s{suffix}"] == np.inf


def _would_drain(known: pd.DataFrame) -> pd.Series:
    """The lag never drains now, and does in this case."""
    drains: pd.Series = np.isfinite(known["drain_s"])
    return _never(known, "_now") & drains


def _takes_off(known: pd.DataFrame) -> pd.Series:
    """Another assignor on as many members takes at least MIN_REDUCTION off the busiest member."""
    off = 1 - known["hot_share"] / known["hot_share_now"]
    return (known["members"] == known["members_now"]) & known["changes"] & (off >= MIN_REDUCTION)


def _is_spare(known: pd.DataFrame) -> pd.Series:
    """Fewer members, and the busiest has no more than now."""
    no_worse = known["hot_share"] <= known["hot_share_now"] * _EQUAL
    no_worse &= (known["unassigned"] <= known["unassigned_now"]) & ~(_never(known) & ~_never(known, "_now"))
    return (known["members"] < known["members_now"]) & no_worse


def _first(cells: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """The first cell of each group in that order; ties by the name of the assignor."""
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
    """Why a gain would be unknown."""
    reasons = cells.groupby("group_id")["reason"]
    refused = reasons.first()[reasons.count() == reasons.size()].reindex(now.index)
    why = pd.Series(NO_LOAD, index=now.index, dtype=object)
    why[now["members"] == 0] = NO_MEMBERS
    why = refused.where(refused.notna(), why)
    why[~now.index.isin(cells["group_id"])] = NO_CASES
    return now["reason"].where(now["reason"].notna(), why)


def _ordered(frame: pd.DataFrame) -> pd.DataFrame:
    """By kind of gain, then by load taken off the busiest member, then by members saved."""
    rank = frame["gain"].map({kind.value: at for at, kind in enumerate(Gain)})
    spared = (frame["members"] - frame["to_members"]).clip(lower=0)
    keys = frame.assign(rank=rank, off_=-frame["off"].fillna(0.0).round(9), spared=-spared.fillna(0), id=frame.index)
    order = keys.sort_values(["rank", "off_", "spared", "id"], kind="stable").index
    return frame.loc[order]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]
