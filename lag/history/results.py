"""Results of the history's queries: lag series, partitions, health by minute and by cell, error budgets.

Times are UTC. A minute without a row has lag NaN, never 0. None means "not known".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lag.offsets import Ints
from lag.verdict.health import URGENCY, Status
from lag.verdict.rates import Floats

MINUTE, TEN_MINUTES, HOUR, DAY = timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)
MAX_MINUTE_SPAN = timedelta(days=3)
"""A longer span has one point for each hour instead of each minute."""

MAX_TEN_MINUTE_CELLS, MAX_HOUR_CELLS = timedelta(hours=6), timedelta(days=7)
"""The longest spans whose health is shown in cells of ten minutes, and of an hour; longer ones have days."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN = URGENCY.index(Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Span:
    """The time from `since` (inclusive) to `until` (exclusive), in UTC."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        return self.until - self.since

    @property
    def step(self) -> timedelta:
        """The time between two points of a lag series."""
        return MINUTE if self.length <= MAX_MINUTE_SPAN else HOUR

    @property
    def cell(self) -> timedelta:
        """The length of a cell of the health map."""
        if self.length <= MAX_TEN_MINUTE_CELLS:
            return TEN_MINUTES
        return HOUR if self.length <= MAX_HOUR_CELLS else DAY

    def days(self) -> "Iterator[Span]":
        """The span split at midnight (UTC)."""
        since = self.since
        while since < self.until:
            midnight = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            yield Span(since, min(midnight, self.until))
            since = midnight

    def times(self, step: timedelta) -> Ints:
        """The starts of the steps in microseconds since 1970: int64[n_steps]."""
        size = round(step.total_seconds() * 1e6)
        first, end = micros(self.since) // size * size, micros(self.until)
        return np.arange(first, end, size, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Scope:
    """A group, or one of its topics, or one partition of that topic."""

    group_id: str
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LagSeries:
    """Lag over time, one point for each step of the span: int64[n_steps] and float64[n_steps], NaN = not known.

    `lag_records` is the lag at the end of the minute, or the highest minute of the hour. It covers `known` of
    `partitions`; for an hour, `known` is the lowest of its minutes. `lag_p95_records` is the highest 95th percentile
    over the partitions of a topic, NaN for a single partition. `time_lag_s` is the age of the oldest record that is not
    committed; NaN if only a lower bound is known for one of the `known` partitions.
    """

    at_us: Ints
    lag_records: Floats
    lag_p95_records: Floats
    time_lag_s: Floats
    known: Ints
    partitions: int


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    """One partition over a span. None means "not known".

    `most_records` is the highest lag, at `most_at`; `avg_records` the average, `last_records` the lag at the end.
    `lead_min_records` is the lowest lead: committed offset minus log start, negative if records were deleted unread.
    `at_least_s` is the lower bound of a time lag that is longer than the samples reach back.
    """

    topic: str
    partition: int
    most_records: int | None
    most_at: datetime | None
    avg_records: float | None
    last_records: int | None
    time_lag_s: float | None
    at_least_s: float | None
    lead_min_records: int | None
    commit_gap_max_s: float | None
    lost_records: int | None
    rewinds: int
    owner_member: str | None


@dataclass(frozen=True, slots=True, eq=False)
class HealthSeries:
    """Status and membership changes of one group, one element for each minute with a row.

    `status`: int8, indexes `URGENCY`. `churn`: joins and leaves over the mean number of members, float64; NaN = not
    known. Others int64.
    """

    at_us: Ints
    status: NDArray[np.int8]
    rebalances: Ints
    joins: Ints
    leaves: Ints
    churn: Floats


@dataclass(frozen=True, slots=True)
class HealthCell:
    """One group in one cell of the health map: its worst status, its minutes with a known status and in trouble.

    `time_lag_s` is the longest time lag of its partitions, or the highest lower bound.
    """

    group_id: str
    at: datetime
    worst: Status | None
    known_minutes: int
    trouble_minutes: int
    rebalances: int
    time_lag_s: float | None


@dataclass(frozen=True, slots=True)
class GroupLag:
    """The lag of a group over a span: the highest (at `most_at`), and the last. None means "not known"."""

    group_id: str
    most_records: int | None
    most_at: datetime | None
    last_records: int | None
    time_lag_s: float | None


@dataclass(frozen=True, slots=True)
class BurnRate:
    """The last burn rate of a group for one objective and window. None means "not known"."""

    group_id: str
    slo_id: str
    at: datetime
    target: float
    threshold_s: float
    window_s: int
    bad_minutes: int
    unknown_minutes: int
    total_minutes: int
    burn: float | None
    budget_left: float | None


def micros(at: datetime) -> int:
    """Microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def lag_series(span: Span, found: pa.Table | None) -> LagSeries:
    """Rows of `at`, `lag`, `lag_p95`, `time_lag` (ms), `known` and `partitions`, placed in the span."""
    at_us = span.times(span.step)
    lag, p95, time_lag = (np.full(len(at_us), np.nan) for _ in range(3))
    known = np.zeros(len(at_us), np.int64)
    if found is None or not len(found):
        return LagSeries(at_us, lag, p95, time_lag, known, 0)
    index = (_micros(found, "at") - at_us[0]) // round(span.step.total_seconds() * 1e6)
    lag[index], p95[index] = _floats(found, "lag"), _floats(found, "lag_p95")
    time_lag[index], known[index] = _floats(found, "time_lag") / 1000, _ints(found, "known")
    return LagSeries(at_us, lag, p95, time_lag, known, int(_ints(found, "partitions").max()))


def fill_from_polls(series: LagSeries, polled: LagSeries) -> LagSeries:
    """The series with the polled lag where no partition has a lag by commits: share groups have no commits.

    Only polls count partitions without a commit.
    """
    missing = (series.known == 0) & (polled.known > 0)
    return LagSeries(
        series.at_us,
        np.where(missing, polled.lag_records, series.lag_records),
        series.lag_p95_records,
        np.where(missing, polled.time_lag_s, series.time_lag_s),
        np.where(missing, polled.known, series.known),
        max(series.partitions, polled.partitions),
    )


def health_series(found: pa.Table | None) -> HealthSeries | None:
    """Rows of `group_health_1m` by time; None if there are none."""
    if found is None or not len(found):
        return None
    status = pc.fill_null(found["status"], _UNKNOWN).to_numpy().astype(np.int8)
    rebalances, joins, leaves = (_ints(found, name) for name in ("rebalances", "joins", "leaves"))
    return HealthSeries(_micros(found, "minute"), status, rebalances, joins, leaves, _floats(found, "churn"))


def partition(row: Mapping[str, Any]) -> PartitionHistory:
    """One row of the query for partitions."""
    return PartitionHistory(**{**row, "most_at": row["most_at"] if row["most_records"] is not None else None})


def group_lag(row: Mapping[str, Any]) -> GroupLag:
    """One row of the query for all groups."""
    return GroupLag(**{**row, "most_at": row["most_at"] if row["most_records"] is not None else None})


def join_days(days: Iterable[Sequence[GroupLag]]) -> list[GroupLag]:
    """The results of consecutive days as one, the highest lag first."""
    found: dict[str, GroupLag] = {}
    for one in (one for day in days for one in day):
        found[one.group_id] = _join(found[one.group_id], one) if one.group_id in found else one
    return sorted(found.values(), key=lambda one: (-_size(one.most_records), one.group_id))


def _join(before: GroupLag, after: GroupLag) -> GroupLag:
    most = after if _size(after.most_records) > _size(before.most_records) else before
    known = [one.time_lag_s for one in (before, after) if one.time_lag_s is not None]
    return GroupLag(after.group_id, most.most_records, most.most_at, after.last_records, max(known, default=None))


def _size(records: int | None) -> int:
    return -1 if records is None else records


def health_cell(row: Mapping[str, Any]) -> HealthCell:
    """One row of the query for health."""
    worst = None if row["worst"] is None else URGENCY[row["worst"]]
    figures = (row[name] for name in ("known", "trouble", "rebalances", "time_lag_s"))
    return HealthCell(row["group_id"], row["at"], worst, *figures)


def burn_rate(row: Mapping[str, Any]) -> BurnRate:
    """One row of `slo_burn`."""
    named = {field.name: row[field.name] for field in fields(BurnRate) if field.name != "threshold_s"}
    return BurnRate(**named, threshold_s=row["threshold_ms"] / 1000)


def _micros(found: pa.Table, name: str) -> Ints:
    at: Ints = found[name].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_numpy()
    return at


def _floats(found: pa.Table, name: str) -> Floats:
    values: Floats = found[name].cast(pa.float64()).fill_null(np.nan).to_numpy()
    return values


def _ints(found: pa.Table, name: str) -> Ints:
    values: Ints = found[name].cast(pa.int64()).to_numpy()
    return values
