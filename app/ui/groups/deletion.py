"""The time until retention deletes what groups have not read: "Deleted in", the same on every page."""

from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

from app.ui import formats, verdicts
from lag.model import FOREVER, ClusterSnapshot
from lag.offsets import PROBLEM_CODES, UNKNOWN, Ints, OffsetTable
from lag.verdict import time_to_loss
from lag.verdict.rates import NEVER
from lag.verdict.sample_window import Window
from lag.verdict.time_to_loss import TimeToLoss

ESTIMATE = (
    "retention.ms minus the age of the oldest unread record, or the distance to the log start at the rate of recent "
    "deletions, whichever is less"
)
DELETED_IN = (
    f"Time until retention deletes records that the group has not read: {ESTIMATE}. "
    "A dash if nothing is unread or the time is not known (reason in CSV and JSON)"
)

SOON_S = 3600.0
"""With less time left, the page of the topic begins with it."""

NEVER_REACHED = "the group reads faster than retention deletes"


class Countdown(NamedTuple):
    """The time until deletion on the partition with the least (`TimeToLoss`), and why there is none, or ""."""

    seconds: float
    at_most_s: float
    why: str

    @property
    def order(self) -> tuple[bool, float]:
        """Least time first, unknown last."""
        within = self.at_most_s if isnan(self.seconds) else self.seconds
        return isnan(within), within


def of_unread(snapshot: ClusterSnapshot, window: Window) -> TimeToLoss:
    """The time to loss of every row of the offset table; NaN also where nothing is unread."""
    table = snapshot.offsets
    left = TimeToLoss(np.full(len(table), np.nan), np.full(len(table), np.nan))
    unread = np.flatnonzero((table.lag > 0) | (table.lost > 0))
    retentions = [retention_ms(snapshot, name) for name in table.ends.topics]
    distinct = {retention: code for code, retention in enumerate(dict.fromkeys(retentions))}
    codes = np.array([distinct[retention] for retention in retentions], np.int64)[table.ends.topic[table.end[unread]]]
    for retention, code in distinct.items():
        rows = unread[codes == code]
        for column, found in zip(left, time_to_loss.of_rows(window, table, rows, retention), strict=True):
            column[rows] = found
    return left


def retention_ms(snapshot: ClusterSnapshot, topic: str) -> int | None:
    """FOREVER if nothing is deleted by age, None if it is not known."""
    known = snapshot.topics.get(topic)
    return known.retention_ms if known else None


def two_units(seconds: pd.Series) -> pd.Series:
    """Seconds for a column, rounded down to minutes from an hour on, and to hours from a day on; NaN for infinity."""
    finite = seconds.where(np.isfinite(seconds))
    unit = np.select([finite >= 86_400, finite >= 3600], [3600, 60], 1)
    whole: pd.Series = finite - finite % unit
    return whole


def countdowns(snapshot: ClusterSnapshot, left: TimeToLoss, starts: Ints) -> list[Countdown]:
    """One per segment of the rows of the offset table; `starts`: int64[n_segments], the first row of each."""
    worst = worst_rows(left, starts, snapshot.offsets.lag)
    columns = (column[worst].tolist() for column in left)
    return [_countdown(snapshot, *one) for one in zip(worst.tolist(), *columns, strict=True)]


def _countdown(snapshot: ClusterSnapshot, row: int, left_s: float, at_most_s: float) -> Countdown:
    if not isnan(left_s):
        return Countdown(left_s, at_most_s, NEVER_REACHED if left_s == NEVER else "")
    tp = snapshot.offsets.ends.tp(int(snapshot.offsets.end[row]))
    why = why_unknown(snapshot.offsets, row, at_most_s, str(tp), retention_ms(snapshot, tp.topic))
    return Countdown(left_s, at_most_s, why)


def of_groups(snapshot: ClusterSnapshot, window: Window) -> pd.DataFrame:
    """`deleted_in_s` (NaN: none) and `deleted_in_why`, the reason for none; indexed by group id."""
    bounds = snapshot.offsets.bounds
    filled = np.flatnonzero(np.diff(bounds))
    found = countdowns(snapshot, of_unread(snapshot, window), bounds[filled])
    seconds = np.full(len(snapshot.groups), np.nan)
    seconds[filled] = [one.seconds for one in found]
    why = np.full(len(seconds), "it has no offsets", object)
    why[filled] = [one.why for one in found]
    names = pd.Index([group.group_id for group in snapshot.groups], dtype=object)
    columns = {"deleted_in_s": np.where(np.isinf(seconds), np.nan, seconds), "deleted_in_why": why}
    return pd.DataFrame(columns, names)


def worst_rows(left: TimeToLoss, starts: Ints, lag: Ints) -> Ints:
    """int64[n_segments]: the row of each segment with the least time left, or the lowest upper bound.

    If neither is known of any row, one with unread records, else one with an unknown lag. `starts`: int64[n_segments],
    the first row of each segment; `lag`: int64[n_rows].
    """
    segment = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(lag))))
    calm = np.select([lag > 0, lag == UNKNOWN], [0, 1], 2)
    order: Ints = np.lexsort((calm, np.fmin(left.seconds, left.at_most_s), segment))
    return order[starts]


def why_unknown(table: OffsetTable, row: int, at_most_s: float, where: str, retention: int | None) -> str:
    """Why the time left for a row is not known; `where` names its partition, `retention` is that of its topic."""
    if table.lag[row] == UNKNOWN:
        problem = PROBLEM_CODES[table.problem[row]]
        return verdicts.PROBLEMS[problem] if problem else "the lag is unknown"
    if not table.lag[row]:
        return "no unread records"
    if not isnan(at_most_s):
        return f"at most {formats.duration(at_most_s)} on {where}: older than the first poll"
    return "no deletion by age" if retention == FOREVER else "retention.ms is unknown"
