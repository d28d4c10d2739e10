"""The History page's tables as data frames, and as files for download (UTC, words instead of codes)."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import get_type_hints

import numpy as np
import pandas as pd

from app.ui import verdicts
from lag.history.results import BurnRate, GroupLag, HealthCell, HealthSeries, LagSeries, PartitionHistory, Span, micros
from lag.verdict.health import URGENCY, Status

Local = Callable[[int], datetime]
"""Milliseconds since 1970 -> a time in the viewer's zone."""

_UNKNOWN = URGENCY.index(Status.UNKNOWN)
_DTYPES = {int: "Int64", int | None: "Int64", float | None: "float"}


def fleet(cells: Sequence[HealthCell], lags: Sequence[GroupLag]) -> pd.DataFrame:
    """One row for each group: the longest in trouble first, then the most urgent, then the highest lag."""
    frame = pd.DataFrame(
        [(c.group_id, c.worst, c.trouble_minutes, c.known_minutes, c.rebalances, c.time_lag_s) for c in cells],
        columns=["group", "worst", "trouble_minutes", "known_minutes", "rebalances", "exceeded_s"],
    ).astype({"exceeded_s": "float"})
    frame["rank"] = frame.pop("worst").map(verdicts.RANK, na_action="ignore").astype("float")
    judged = frame.groupby("group").agg(
        rank=("rank", "min"),
        trouble_minutes=("trouble_minutes", "sum"),
        known_minutes=("known_minutes", "sum"),
        rebalances=("rebalances", "sum"),
        exceeded_s=("exceeded_s", "max"),
    )
    judged["trouble_minutes"] = judged["trouble_minutes"].where(judged["known_minutes"] > 0)
    behind = pd.DataFrame(
        [(g.group_id, g.most_records, _us(g.most_at), g.last_records, g.time_lag_s) for g in lags],
        columns=["group", "most_records", "most_at_us", "last_records", "time_lag_s"],
    ).set_index("group")
    whole = ["trouble_minutes", "known_minutes", "rebalances", "most_records", "most_at_us", "last_records"]
    joined = judged.join(behind, how="outer").rename_axis("group").reset_index()
    joined = joined.astype(dict.fromkeys(whole, "Int64") | {"time_lag_s": "float"})
    joined["time_lag_s"] = joined[["time_lag_s", "exceeded_s"]].max(axis="columns")
    joined = joined.drop(columns=["exceeded_s"])
    joined["status"] = [None if np.isnan(rank) else URGENCY[int(rank)] for rank in joined["rank"]]
    order = ["trouble_minutes", "rank", "most_records", "group"]
    return joined.sort_values(order, ascending=[False, True, False, True], na_position="last").reset_index(drop=True)


def fleet_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of groups for download."""
    shown = frame.drop(columns=["rank", "status", "most_at_us"])
    return shown.assign(worst=labels(frame["rank"]), most_at_utc=frame["most_at_us"].map(_utc, na_action="ignore"))


def points(series: LagSeries) -> pd.DataFrame:
    """The points of the lag chart for download."""
    return pd.DataFrame(
        {
            "at_utc": [_utc(at) for at in series.at_us],
            "lag_records": pd.array(series.lag_records, dtype="Float64").astype("Int64"),
            "time_lag_s": series.time_lag_s,
            "known": series.known,
            "partitions": series.partitions,
        }
    )


def cells(series: LagSeries, health: HealthSeries | None, span: Span, trouble: Sequence[Status]) -> pd.DataFrame:
    """One row for each cell of the span, newest first.

    The time lag is unknown where that of one minute is; trouble is unknown where no verdict is known.
    """
    size_us = round(span.cell.total_seconds() * 1e6)
    points = pd.DataFrame(
        {
            "at_us": series.at_us // size_us * size_us,
            "lag": series.lag_records,
            "p95": series.lag_p95_records,
            "time_lag": series.time_lag_s,
        }
    )
    points["known"] = points["lag"].notna()
    points["unbounded"] = points["known"] & points["time_lag"].isna()
    frame = points.groupby("at_us").agg(
        most_records=("lag", "max"),
        p95_records=("p95", "max"),
        time_lag_s=("time_lag", "max"),
        known=("known", "sum"),
        points=("known", "size"),
        unbounded=("unbounded", "any"),
    )
    frame["time_lag_s"] = frame["time_lag_s"].where(~frame.pop("unbounded"))
    if health is not None:
        frame = frame.join(_health_cells(health, size_us, trouble))
    frame = frame.astype({"most_records": "Float64"}).astype({"most_records": "Int64"})
    return frame.sort_index(ascending=False).reset_index()


def _health_cells(health: HealthSeries, size_us: int, trouble: Sequence[Status]) -> pd.DataFrame:
    counts = {
        "judged_minutes": health.status != _UNKNOWN,
        "trouble_minutes": np.isin(health.status, [URGENCY.index(one) for one in trouble]),
        "rebalances": health.rebalances,
        "joins": health.joins,
        "leaves": health.leaves,
    }
    frame = pd.DataFrame({"rank": health.status, "churn": health.churn, **counts})
    cells = frame.groupby(pd.Index(health.at_us // size_us * size_us, name="at_us"))
    sums = cells[["rank"]].min().join(cells[list(counts)].sum()).astype("Int64")
    sums["churn"] = cells["churn"].sum(min_count=1)
    return sums.assign(trouble_minutes=sums["trouble_minutes"].where(sums["judged_minutes"] > 0))


def cells_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of cells for download."""
    made = frame.drop(columns=["at_us", *(["rank"] if "rank" in frame else [])])
    made.insert(0, "at_utc", frame["at_us"].map(_utc))
    return made.assign(worst=labels(frame["rank"])) if "rank" in frame else made


def labels(ranks: pd.Series) -> pd.Series:
    """Symbol and word of each status."""
    return ranks.map(lambda rank: verdicts.VERDICTS[URGENCY[int(rank)]].label, na_action="ignore").astype("object")


def partitions(found: Sequence[PartitionHistory]) -> pd.DataFrame:
    """One row for each partition with the fields of `PartitionHistory`, the highest lag first."""
    frame = pd.DataFrame([asdict(one) for one in found], columns=[field.name for field in fields(PartitionHistory)])
    kinds = get_type_hints(PartitionHistory)
    frame = frame.astype({name: _DTYPES[kind] for name, kind in kinds.items() if kind in _DTYPES})
    frame["most_at"] = pd.array([_us(one.most_at) for one in found], dtype="Int64")
    return frame.rename(columns={"most_at": "most_at_us"})


def partitions_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of partitions for download."""
    at = frame["most_at_us"].map(_utc, na_action="ignore")
    return frame.drop(columns=["most_at_us"]).assign(most_at_utc=at)


def burn_rates(found: Sequence[BurnRate]) -> pd.DataFrame:
    """One row for each objective and window."""
    frame = pd.DataFrame(
        [
            {
                "objective": one.slo_id,
                "target_percent": one.target * 100,
                "threshold_s": one.threshold_s,
                "window_s": one.window_s,
                "burn": one.burn,
                "budget_left_percent": None if one.budget_left is None else one.budget_left * 100,
                "bad_minutes": one.bad_minutes,
                "unknown_minutes": one.unknown_minutes,
                "total_minutes": one.total_minutes,
                "at_us": micros(one.at),
            }
            for one in found
        ]
    )
    return frame.astype({"burn": "float", "budget_left_percent": "float"})


def burn_rates_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of error budgets for download."""
    return frame.drop(columns=["at_us"]).assign(at_utc=frame["at_us"].map(_utc))


def local(at_us: pd.Series, to_local: Local) -> pd.Series:
    """Times in the viewer's zone."""
    return pd.to_datetime(at_us.map(lambda at: to_local(int(at) // 1000), na_action="ignore"))


def _us(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def _utc(at_us: int) -> str:
    return f"{pd.Timestamp(int(at_us), unit='us'):%Y-%m-%dT%H:%M:%SZ}"
