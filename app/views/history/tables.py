"""The History page's tables as data frames, and as files for download (UTC, words instead of codes)."""

from collections.abc import Callable, Sequence
from datetime import datetime

import pandas as pd

from app.ui import verdicts
from lag.history.span import Span
from lag.times import MICROSECOND
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

Local = Callable[[int], datetime]
"""Milliseconds since 1970 -> a time in the viewer's zone."""


def fleet(cells: pd.DataFrame, lags: pd.DataFrame) -> pd.DataFrame:
    """One row for each group of `frames.HEALTH_CELLS` and `frames.GROUP_LAGS`.

    The longest in trouble first, then the most urgent, then the highest lag.
    """
    judged = cells.groupby("group_id").agg(
        rank=("rank", "min"),
        trouble_minutes=("trouble_minutes", "sum"),
        known_minutes=("known_minutes", "sum"),
        rebalances=("rebalances", "sum"),
        exceeded_s=("time_lag_s", "max"),
    )
    judged["trouble_minutes"] = judged["trouble_minutes"].where(judged["known_minutes"] > 0)
    joined = judged.join(lags.set_index("group_id"), how="outer").rename_axis("group").reset_index()
    joined["time_lag_s"] = joined[["time_lag_s", "exceeded_s"]].max(axis="columns")
    order = ["trouble_minutes", "rank", "most_records", "group"]
    ranked = joined.drop(columns="exceeded_s").sort_values(order, ascending=[False, True, False, True])
    return ranked.reset_index(drop=True)


def fleet_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of groups for download."""
    shown = frame.drop(columns=["rank", "most_at_us"])
    return shown.assign(worst=labels(frame["rank"]), most_at_utc=_utc(frame["most_at_us"]))


def points(lag: pd.DataFrame) -> pd.DataFrame:
    """The points of the lag chart for download."""
    shown = lag[["time_lag_s", "known", "partitions"]]
    shown.insert(0, "at_utc", _utc(lag["at_us"]))
    shown.insert(1, "lag_records", lag["lag_records"].astype("Int64"))
    return shown


def cells(lag: pd.DataFrame, health: pd.DataFrame, span: Span, trouble: Sequence[Status]) -> pd.DataFrame:
    """One row for each cell of the span, newest first, from `frames.LAG` and `frames.HEALTH`.

    The time lag is unknown where that of one minute is; trouble is unknown where no verdict is known.
    """
    size_us = span.cell // MICROSECOND
    known = lag["lag_records"].notna()
    unbounded = known & lag["time_lag_s"].isna()
    frame = (
        lag.assign(known=known, unbounded=unbounded)
        .groupby(lag["at_us"] // size_us * size_us)
        .agg(
            most_records=("lag_records", "max"),
            p95_records=("lag_p95_records", "max"),
            time_lag_s=("time_lag_s", "max"),
            known=("known", "sum"),
            points=("known", "size"),
            unbounded=("unbounded", "any"),
        )
    )
    frame["time_lag_s"] = frame["time_lag_s"].where(~frame.pop("unbounded"))
    if not health.empty:
        frame = frame.join(_health_cells(health, size_us, trouble))
    return frame.astype({"most_records": "Int64"}).sort_index(ascending=False).reset_index()


def _health_cells(health: pd.DataFrame, size_us: int, trouble: Sequence[Status]) -> pd.DataFrame:
    judged, troubled = (
        health["rank"] != verdicts.RANK[Status.UNKNOWN],
        health["rank"].isin([verdicts.RANK[one] for one in trouble]),
    )
    cells = health.assign(judged_minutes=judged, trouble_minutes=troubled).groupby(health["at_us"] // size_us * size_us)
    counts = ["judged_minutes", "trouble_minutes", "rebalances", "joins", "leaves"]
    sums = cells[["rank"]].min().join(cells[counts].sum()).astype("Int64")
    sums["churn"] = cells["churn"].sum(min_count=1)
    return sums.assign(trouble_minutes=sums["trouble_minutes"].where(sums["judged_minutes"] > 0))


def cells_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of cells for download."""
    made = frame.drop(columns=["at_us", *(["rank"] if "rank" in frame else [])])
    made.insert(0, "at_utc", _utc(frame["at_us"]))
    return made.assign(worst=labels(frame["rank"])) if "rank" in frame else made


def labels(ranks: pd.Series) -> pd.Series:
    """Symbol and word of each status."""
    return ranks.map(lambda rank: VERDICTS[URGENCY[int(rank)]].label, na_action="ignore").astype("object")


def partitions_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of partitions for download."""
    return frame.drop(columns="most_at_us").assign(most_at_utc=_utc(frame["most_at_us"]))


def burn_rates_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The table of error budgets for download."""
    return frame.drop(columns=["group_id", "at_us"]).assign(at_utc=_utc(frame["at_us"]))


def local(at_us: pd.Series, to_local: Local) -> pd.Series:
    """Times in the viewer's zone."""
    return pd.to_datetime(at_us.map(lambda at: to_local(int(at) // 1000), na_action="ignore"))


def _utc(at_us: pd.Series) -> pd.Series:
    return pd.to_datetime(at_us, unit="us").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
