"""One topic of a snapshot: its groups with the retention they have left, and its partitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.ui import formats, verdicts
from app.ui.groups import deletion
from app.views.topics.tables import totals
from lag.model import ClusterSnapshot
from lag.offsets import PROBLEM_CODES, UNKNOWN, EndOffsets, Ints, OffsetTable
from lag.verdict import row_index
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import Health
from lag.verdict.window import time_to_loss
from lag.verdict.window.rates import Floats
from lag.verdict.window.sample_window import Window
from lag.verdict.window.time_to_loss import TimeToLoss


@dataclass(frozen=True, slots=True, eq=False)
class TopicView:
    """`readers` has one row per group, most urgent first; `partitions` one row per partition.

    `rows` maps group ids to rows of `table`; `ends` are the topic's rows of the end offsets.
    """

    readers: pd.DataFrame
    partitions: pd.DataFrame
    table: OffsetTable
    ends: range
    rows: Mapping[str, Ints]


def view(snapshot: ClusterSnapshot, health: Health, window: Window, topic: str) -> TopicView:
    """The view of a topic; without rows for an unknown topic."""
    table, ends = snapshot.offsets, _ends(snapshot.offsets.ends, topic)
    rows = np.flatnonzero((table.end >= ends.start) & (table.end < ends.stop))
    group = row_index.group_of_row(table.bounds)[rows]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    names = [snapshot.groups[number].group_id for number in group[starts]]
    left = time_to_loss.of_rows(snapshot, window, rows)
    frame = _readers(snapshot, rows, starts, left)
    healths = [health.groups[number] for number in group[starts]]
    frame = frame.assign(
        group=names,
        verdict=[VERDICTS[h.finding.status].label for h in healths],
        onset=pd.Series([h.finding.onset for h in healths], dtype=object),
        rank=[verdicts.RANK[h.finding.status] for h in healths],
        drain_s=np.array([h.drain_s for h in healths], float),
    )
    frame = frame.sort_values(["rank", "lag"], ascending=[True, False], na_position="last").reset_index(drop=True)
    by_group = dict(zip(names, np.split(rows, starts[1:]), strict=False))
    return TopicView(frame, _partitions(table.ends, ends), table, ends, by_group)


def _ends(ends: EndOffsets, topic: str) -> range:
    """The topic's rows, which are contiguous."""
    if topic not in ends.topics:
        return range(0)
    first, after = np.searchsorted(ends.topic, np.array([0, 1]) + ends.topics.index(topic))
    return range(int(first), int(after))


def _readers(snapshot: ClusterSnapshot, rows: Ints, starts: Ints, left: TimeToLoss) -> pd.DataFrame:
    """One row per group; `lead` is the share of the log (percent) below its lowest offset."""
    table = snapshot.offsets
    lag, known, sizes = totals(table.lag[rows], starts)
    lost, lost_known, _ = totals(table.lost[rows], starts)
    worst = time_to_loss.worst_rows(left, starts, table.lag[rows])
    unknown = np.add.reduceat(np.isnan(left.seconds).astype(np.int64), starts)
    return pd.DataFrame(
        {
            "lag": pd.arrays.IntegerArray(lag, known == 0),
            "known": [formats.known_for(int(n), int(size)) for n, size in zip(known, sizes, strict=True)],
            "left_s": left.seconds[worst],
            "at_most_s": left.at_most_s[worst],
            "where": [
                _where(snapshot, int(rows[at]), float(left.seconds[at]), float(left.at_most_s[at]))
                + (f"; unknown for {n:,} of {size:,}" if n and not np.isnan(left.seconds[at]) else "")
                for at, n, size in zip(worst, unknown, sizes, strict=True)
            ],
            "lead": np.fmin.reduceat(_lead(table, rows), starts),
            "lost": pd.arrays.IntegerArray(lost, lost_known == 0),
        }
    )


def _lead(table: OffsetTable, rows: Ints) -> Floats:
    """float64[n_rows]: the group's offset above the log start, in percent of the log; NaN: unknown."""
    end, committed = table.end[rows], table.committed[rows]
    start, stop = table.ends.log_start[end], table.ends.log_end[end]
    known = (committed != UNKNOWN) & (start != UNKNOWN) & (stop > start)
    share = (committed - start) / np.where(known, stop - start, 1)
    return np.where(known, np.clip(share, 0.0, 1.0) * 100, np.nan)


def _where(snapshot: ClusterSnapshot, row: int, left_s: float, at_most_s: float) -> str:
    """The partition whose unread records are deleted first, or why it is unknown."""
    table = snapshot.offsets
    where = f"partition {table.ends.partition[table.end[row]]}"
    if left_s <= 0:
        where += ": unread records are deleted" if table.lost[row] > 0 else ": deletion possible at any time"
    return deletion.why(snapshot, row, left_s, at_most_s, where) or where


def soon(readers: pd.DataFrame) -> pd.DataFrame:
    """The groups that may lose records within an hour, before their lag drains; the earliest first."""
    within = readers["left_s"].fillna(readers["at_most_s"])
    near = (within < deletion.SOON_S) & (readers["lag"].fillna(0) > 0) & ~(readers["drain_s"] < within)
    return readers.assign(within_s=within)[near.astype(bool)].sort_values("within_s", kind="stable")


def _partitions(ends: EndOffsets, rows: range) -> pd.DataFrame:
    own = slice(rows.start, rows.stop)
    problems = [PROBLEM_CODES[code] for code in ends.problem[own]]
    return pd.DataFrame(
        {
            "partition": ends.partition[own],
            "leader": _integers(ends.leader[own].astype(np.int64)),
            "log_start": _integers(ends.log_start[own]),
            "last_stable": _integers(ends.last_stable[own]),
            "log_end": _integers(ends.log_end[own]),
            "problem": [verdicts.problem(problem) if problem else "" for problem in problems],
        }
    )


def with_lags(view: TopicView, groups: Sequence[str]) -> pd.DataFrame:
    """The partitions with the lag of each of `groups` in a column "lag: <group id>"."""
    return view.partitions.assign(**{f"lag: {group}": _lags(view, view.rows[group]) for group in groups})


def _lags(view: TopicView, rows: Ints) -> pd.arrays.IntegerArray:
    lags = np.full(len(view.ends), UNKNOWN, np.int64)
    lags[view.table.end[rows] - view.ends.start] = view.table.lag[rows]
    return _integers(lags)


def _integers(column: Ints) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(column.copy(), column == UNKNOWN)


def export(readers: pd.DataFrame) -> pd.DataFrame:
    """The groups for CSV and JSON, with units in the column names."""
    columns = ["group", "verdict", "lag", "known", "left_s", "at_most_s", "where", "lead", "lost"]
    names = {
        "lag": "lag_records",
        "known": "lag_known_for",
        "left_s": "retention_left_s",
        "at_most_s": "retention_left_at_most_s",
        "where": "retention_left_where",
        "lead": "above_log_start_percent",
        "lost": "lost_records",
    }
    out = readers[columns].rename(columns=names)
    return out.assign(retention_left_s=out["retention_left_s"].map(lambda s: "never" if np.isinf(s) else s))
