"""The time until retention deletes what groups have not read: "Deleted in", the same on every page."""

import numpy as np
import pandas as pd

from app.ui import formats
from app.ui.groups import verdicts
from lag.model import FOREVER, ClusterSnapshot
from lag.offsets import PROBLEM_CODES, UNKNOWN, Ints, OffsetTable
from lag.verdict import time_to_loss
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

NEVER_REACHED = "the group reads faster than retention deletes"


def of_unread(snapshot: ClusterSnapshot, window: Window) -> TimeToLoss:
    """The time to loss of every row of the offset table; NaN also where nothing is unread."""
    table = snapshot.offsets
    left = TimeToLoss(np.full(len(table), np.nan), np.full(len(table), np.nan))
    topic, unread = table.ends.topic[table.end], (table.lag > 0) | (table.lost > 0)
    retentions = [retention_ms(snapshot, name) for name in table.ends.topics]
    for one in set(retentions):
        its_topics = [at for at, retention in enumerate(retentions) if retention == one]
        rows = np.flatnonzero(unread & np.isin(topic, its_topics))
        for column, found in zip(left, time_to_loss.of_rows(window, table, rows, one), strict=True):
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


def worst_rows(left: TimeToLoss, starts: Ints) -> Ints:
    """int64[n_segments]: the row of each segment with the least time left, or the lowest upper bound.

    `starts`: int64[n_segments], the first row of each segment.
    """
    segment = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(left.seconds))))
    order: Ints = np.lexsort((np.fmin(left.seconds, left.at_most_s), segment))
    return order[starts]


def why_unknown(table: OffsetTable, row: int, at_most_s: float, retention: int | None) -> str:
    """Why the time that is left for a row is not known; `retention` is that of its topic, in ms."""
    if table.lag[row] == UNKNOWN:
        problem = PROBLEM_CODES[table.problem[row]]
        return verdicts.PROBLEMS[problem] if problem else "the lag is unknown"
    if not np.isnan(at_most_s):
        return f"at most {formats.duration(at_most_s)} on {partition(table, row)}: older than the first poll"
    return "no deletion by age" if retention == FOREVER else "retention.ms is unknown"


def partition(table: OffsetTable, row: int) -> str:
    """The partition of a row, by its number."""
    return f"partition {table.ends.partition[table.end[row]]}"
