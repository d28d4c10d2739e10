"""Past lag and health as rows: all groups of a span, the hours of one group, its partitions, its error budgets."""

from collections.abc import Callable, Sequence
from datetime import datetime

import numpy as np
import pandas as pd

from app.ui import verdicts as words
from lag.history.results import Burn, Cell, GroupLag, LagLine, PartitionPast, Span, Verdicts, micros
from lag.verdict.health import URGENCY, Status

Local = Callable[[int], datetime]
"""Milliseconds since 1970 as a time of the viewer's zone."""

_UNKNOWN = URGENCY.index(Status.UNKNOWN)


def fleet(cells: Sequence[Cell], lags: Sequence[GroupLag]) -> pd.DataFrame:
    """One row per group, longest in trouble first, then most urgent, then furthest behind; unknown stays unknown."""
    frame = pd.DataFrame(
        [(c.group_id, c.worst, c.trouble_minutes, c.known_minutes, c.rebalances, c.time_lag_s) for c in cells],
        columns=["group", "worst", "trouble_minutes", "known_minutes", "rebalances", "exceeded_s"],
    ).astype({"exceeded_s": "float"})
    frame["rank"] = frame.pop("worst").map(words.RANK, na_action="ignore").astype("float")
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
    """The rows as a file holds them: words instead of codes, UTC instead of the viewer's zone."""
    shown = frame.drop(columns=["rank", "status", "most_at_us"])
    return shown.assign(worst=labels(frame["rank"]), most_at_utc=frame["most_at_us"].map(_utc, na_action="ignore"))


def points(line: LagLine) -> pd.DataFrame:
    """The lag as it is drawn, point by point."""
    return pd.DataFrame(
        {
            "at_utc": [_utc(at) for at in line.at_us],
            "lag_records": pd.array(line.lag_records, dtype="Float64").astype("Int64"),
            "time_lag_s": line.time_lag_s,
            "known": line.known,
            "partitions": line.partitions,
        }
    )


def hours(line: LagLine, verdicts: Verdicts | None, span: Span, trouble: Sequence[Status]) -> pd.DataFrame:
    """A group by the cells of the span, newest first: most lag, oldest record, worst status, trouble, rebalances.

    The oldest record is not known where that of a minute is not, nor trouble where no verdict is.
    """
    size = round(span.cell.total_seconds() * 1e6)
    lag = pd.DataFrame({"at_us": line.at_us // size * size, "lag": line.lag_records, "time_lag": line.time_lag_s})
    lag["known"], lag["open"] = lag["lag"].notna(), lag["lag"].notna() & lag["time_lag"].isna()
    told = lag.groupby("at_us").agg(
        most_records=("lag", "max"),
        time_lag_s=("time_lag", "max"),
        known=("known", "sum"),
        points=("known", "size"),
        is_open=("open", "any"),
    )
    told["time_lag_s"] = told["time_lag_s"].where(~told.pop("is_open"))
    if verdicts is not None:
        told = told.join(_judged(verdicts, size, trouble))
    told = told.astype({"most_records": "Float64"}).astype({"most_records": "Int64"})
    return told.sort_index(ascending=False).reset_index()


def _judged(verdicts: Verdicts, size_us: int, trouble: Sequence[Status]) -> pd.DataFrame:
    known = verdicts.status != _UNKNOWN
    bad = np.isin(verdicts.status, [URGENCY.index(one) for one in trouble])
    frame = pd.DataFrame(
        {
            "at_us": verdicts.at_us // size_us * size_us,
            "rank": verdicts.status,
            "judged_minutes": known,
            "trouble_minutes": bad,
            "rebalances": verdicts.rebalances,
            "joins": verdicts.joins,
            "leaves": verdicts.leaves,
        }
    )
    counted = ["judged_minutes", "trouble_minutes", "rebalances", "joins", "leaves"]
    grouped = frame.groupby("at_us")
    sums = grouped[["rank"]].min().join(grouped[counted].sum()).astype(dict.fromkeys(["rank", *counted], "Int64"))
    return sums.assign(trouble_minutes=sums["trouble_minutes"].where(sums["judged_minutes"] > 0))


def hours_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The hours as a file holds them."""
    made = frame.drop(columns=["at_us", *(["rank"] if "rank" in frame else [])])
    made.insert(0, "at_utc", frame["at_us"].map(_utc))
    return made.assign(worst=labels(frame["rank"])) if "rank" in frame else made


def labels(ranks: pd.Series) -> pd.Series:
    """Symbol and word of each status."""
    return ranks.map(lambda rank: words.VERDICTS[URGENCY[int(rank)]].label, na_action="ignore").astype("object")


def partitions(found: Sequence[PartitionPast]) -> pd.DataFrame:
    """One row per partition, most lag first."""
    frame = pd.DataFrame(
        [
            (
                *(p.topic, p.partition, p.most_records, _us(p.most_at), p.last_records),
                *(p.time_lag_s, p.at_least_s, p.lost_records, p.rewinds, p.owner_member),
            )
            for p in found
        ],
        columns=[
            *("topic", "partition", "most_records", "most_at_us", "last_records", "time_lag_s", "at_least_s"),
            *("lost_records", "rewinds", "owner_member"),
        ],
    )
    whole = ["most_records", "most_at_us", "last_records", "lost_records", "rewinds"]
    return frame.astype(dict.fromkeys(whole, "Int64") | {"time_lag_s": "float", "at_least_s": "float"})


def partitions_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The partitions as a file holds them."""
    at = frame["most_at_us"].map(_utc, na_action="ignore")
    return frame.drop(columns=["most_at_us"]).assign(most_at_utc=at)


def burns(found: Sequence[Burn]) -> pd.DataFrame:
    """One row per objective and window."""
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


def burns_export(frame: pd.DataFrame) -> pd.DataFrame:
    """The budgets as a file holds them."""
    return frame.drop(columns=["at_us"]).assign(at_utc=frame["at_us"].map(_utc))


def local(at_us: pd.Series, zone_of: Local) -> pd.Series:
    """Times as `zone_of` has them, for a table."""
    return pd.to_datetime(at_us.map(lambda at: zone_of(int(at) // 1000), na_action="ignore"))


def _us(at: datetime | None) -> int | None:
    return None if at is None else micros(at)


def _utc(at_us: int) -> str:
    return f"{pd.Timestamp(int(at_us), unit='us'):%Y-%m-%dT%H:%M:%SZ}"
