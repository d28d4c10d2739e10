"""The time until retention deletes what groups have not read: "Deleted in", the same on every page."""

from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

from app.ui import formats, verdicts
from lag.model import ClusterSnapshot
from lag.offsets import PROBLEM_CODES, Ints
from lag.verdict.window import time_to_loss
from lag.verdict.window.sample_window import Window
from lag.verdict.window.time_to_loss import NoTime, TimeToLoss

ESTIMATE = (
    "retention.ms minus the age of the oldest unread record, or the distance to the log start divided by how "
    "much faster deletion advances than the group, whichever is less"
)
DELETED_IN = (
    f"Time until retention deletes records that the group has not read: {ESTIMATE}. "
    "A dash if nothing is unread or the time is not known (reason in CSV and JSON)"
)

SOON_S = 3600.0
"""With less time left, the page of the topic begins with it."""

REASONS = {
    NoTime.NO_OFFSETS: "it has no offsets",
    NoTime.NEVER_REACHED: "the group reads faster than retention deletes",
    NoTime.LAG_UNKNOWN: "the lag is unknown",
    NoTime.NOTHING_UNREAD: "no unread records",
    NoTime.NO_DELETION_BY_AGE: "no deletion by age",
    NoTime.RETENTION_UNKNOWN: "retention.ms is unknown",
}


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


def two_units(seconds: pd.Series) -> pd.Series:
    """Seconds for a column, rounded down to minutes from an hour on, and to hours from a day on; NaN for infinity."""
    finite = seconds.where(np.isfinite(seconds))
    unit = np.select([finite >= 86_400, finite >= 3600], [3600, 60], 1)
    whole: pd.Series = finite - finite % unit
    return whole


def countdowns(snapshot: ClusterSnapshot, left: TimeToLoss, rows: Ints) -> list[Countdown]:
    """One per row of the offset table (int64[n], -1 = none) with the time left there."""
    numbers = zip(rows.tolist(), left.seconds.tolist(), left.at_most_s.tolist(), strict=True)
    return [
        Countdown(seconds, at_most_s, why(snapshot, row, seconds, at_most_s)) for row, seconds, at_most_s in numbers
    ]


def of_groups(snapshot: ClusterSnapshot, window: Window) -> pd.DataFrame:
    """`deleted_in_s` (NaN: none) and `deleted_in_why`, the reason for none; indexed by group id."""
    left, rows = time_to_loss.of_groups(snapshot, window)
    names = pd.Index([group.group_id for group in snapshot.groups], dtype=object)
    finite = np.where(np.isinf(left.seconds), np.nan, left.seconds)
    whys = [one.why for one in countdowns(snapshot, left, rows)]
    return pd.DataFrame({"deleted_in_s": finite, "deleted_in_why": np.array(whys, object)}, names)


def why(snapshot: ClusterSnapshot, row: int, seconds: float, at_most_s: float, where: str | None = None) -> str:
    """Why a row of the offset table has no time left, or "". `where`: what to call its partition, if not "topic-0"."""
    reason, table = time_to_loss.why_none(snapshot, row, seconds, at_most_s), snapshot.offsets
    if reason is None:
        return ""
    if reason is NoTime.OLDER_THAN_SAMPLES:
        where = where or str(table.ends.tp(int(table.end[row])))
        return f"at most {formats.duration(at_most_s)} on {where}: its oldest unread record predates the first poll"
    problem = PROBLEM_CODES[table.problem[row]] if reason is NoTime.LAG_UNKNOWN else None
    if problem is None:
        return REASONS[reason]
    group = snapshot.groups[int(np.searchsorted(table.bounds, row, side="right")) - 1]
    return verdicts.problem(problem, group.type)
