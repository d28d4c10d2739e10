"""What the history answers: lag and time lag over a span, what became of each partition, verdicts, error budgets.

A minute without a row is a gap: its lag is NaN, never 0. Times are UTC; None is "not known".
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
FINE_UP_TO = timedelta(days=3)
"""A longer span is told by the hour."""

TENS_UP_TO, HOURS_UP_TO = timedelta(hours=6), timedelta(days=7)
"""The health of a span is told by ten minutes, of a longer one by the hour, else by the day."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNKNOWN = URGENCY.index(Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Span:
    """From `since` up to `until`, which is no longer in it; both in UTC."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.until - self.since

    @property
    def step(self) -> timedelta:
        """How far apart the points of a lag are."""
        return MINUTE if self.length <= FINE_UP_TO else HOUR

    @property
    def cell(self) -> timedelta:
        """How long a cell of the health map is."""
        if self.length <= TENS_UP_TO:
            return TEN_MINUTES
        return HOUR if self.length <= HOURS_UP_TO else DAY

    def days(self) -> "Iterator[Span]":
        """It, cut at midnight (UTC)."""
        since = self.since
        while since < self.until:
            midnight = since.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + DAY
            yield Span(since, min(midnight, self.until))
            since = midnight

    def times(self, step: timedelta) -> Ints:
        """The beginnings of its steps, in microseconds since 1970."""
        size = round(step.total_seconds() * 1e6)
        first, end = micros(self.since) // size * size, micros(self.until)
        return np.arange(first, end, size, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Place:
    """One group, or of it one topic, or of that one partition."""

    group_id: str
    topic: str | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LagLine:
    """A lag over time, one point for each step of the span; NaN is "not known".

    By the minute `lag_records` is the lag at its end, by the hour the highest of its minutes. It covers `known` of
    `partitions`; by the hour `known` is that of the minute that knew least. `time_lag_s` is the age of the oldest
    record that is not yet committed: NaN where that of one of the `known` is only known to be exceeded.
    """

    at_us: Ints
    lag_records: Floats
    time_lag_s: Floats
    known: Ints
    partitions: int


@dataclass(frozen=True, slots=True)
class PartitionPast:
    """What became of one partition over a span: most lag (`most_at`: when), the lag at its end, the oldest record.

    `at_least_s` bounds a time lag from below that is older than what was sampled. None is "not known".
    """

    topic: str
    partition: int
    most_records: int | None
    most_at: datetime | None
    last_records: int | None
    time_lag_s: float | None
    at_least_s: float | None
    lost_records: int | None
    rewinds: int
    owner_member: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """The status of one group minute by minute, where it is known, and what moved its members."""

    at_us: Ints
    status: NDArray[np.int8]
    rebalances: Ints
    joins: Ints
    leaves: Ints


@dataclass(frozen=True, slots=True)
class Cell:
    """One group in one cell of a span: its worst status, minutes with one that is known and in trouble, rebalances.

    `time_lag_s` is the longest time lag of its partitions that is known, or known to be exceeded.
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
    """How far behind a group was over a span: at most (with the time), and at the end. None is "not known"."""

    group_id: str
    most_records: int | None
    most_at: datetime | None
    last_records: int | None
    time_lag_s: float | None


@dataclass(frozen=True, slots=True)
class Burn:
    """How fast a group uses up its error budget in a window, as last computed; None is "not known"."""

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


def line(span: Span, found: pa.Table | None) -> LagLine:
    """Rows of `at`, `lag`, `time_lag` (ms), `known` and `partitions`, put where they belong in the span."""
    at_us = span.times(span.step)
    lag, time_lag, known = np.full(len(at_us), np.nan), np.full(len(at_us), np.nan), np.zeros(len(at_us), np.int64)
    if found is None or not len(found):
        return LagLine(at_us, lag, time_lag, known, 0)
    place = (_micros(found, "at") - at_us[0]) // round(span.step.total_seconds() * 1e6)
    lag[place], time_lag[place] = _floats(found, "lag"), _floats(found, "time_lag") / 1000
    known[place] = _whole(found, "known")
    return LagLine(at_us, lag, time_lag, known, int(_whole(found, "partitions").max()))


def completed(line: LagLine, polled: LagLine) -> LagLine:
    """By commits, and where these tell of no partition, as polls saw it: shares of a group have no commits.

    Only polls know of partitions that were never committed to.
    """
    untold = (line.known == 0) & (polled.known > 0)
    return LagLine(
        line.at_us,
        np.where(untold, polled.lag_records, line.lag_records),
        np.where(untold, polled.time_lag_s, line.time_lag_s),
        np.where(untold, polled.known, line.known),
        max(line.partitions, polled.partitions),
    )


def verdicts(found: pa.Table | None) -> Verdicts | None:
    """Rows of `minute`, `status`, `rebalances`, `joins` and `leaves`, in order of time; None when there are none."""
    if found is None or not len(found):
        return None
    status = pc.fill_null(found["status"], _UNKNOWN).to_numpy().astype(np.int8)
    return Verdicts(
        _micros(found, "minute"), status, *(_whole(found, name) for name in ("rebalances", "joins", "leaves"))
    )


def partition(row: Mapping[str, Any]) -> PartitionPast:
    """One row of the question about partitions."""
    return PartitionPast(**{**row, "most_at": row["most_at"] if row["most_records"] is not None else None})


def group_lag(row: Mapping[str, Any]) -> GroupLag:
    """One row of the question about all groups."""
    return GroupLag(**{**row, "most_at": row["most_at"] if row["most_records"] is not None else None})


def joined(days: Iterable[Sequence[GroupLag]]) -> list[GroupLag]:
    """The answers of one day after the other as one, the furthest behind first."""
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


def cell(row: Mapping[str, Any]) -> Cell:
    """One row of the question about health."""
    worst = None if row["worst"] is None else URGENCY[row["worst"]]
    figures = (row[name] for name in ("known", "trouble", "rebalances", "time_lag_s"))
    return Cell(row["group_id"], row["at"], worst, *figures)


def burn(row: Mapping[str, Any]) -> Burn:
    """One row of `slo_burn`."""
    named = {field.name: row[field.name] for field in fields(Burn) if field.name != "threshold_s"}
    return Burn(**named, threshold_s=row["threshold_ms"] / 1000)


def _micros(found: pa.Table, name: str) -> Ints:
    at: Ints = found[name].cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_numpy()
    return at


def _floats(found: pa.Table, name: str) -> Floats:
    values: Floats = found[name].cast(pa.float64()).fill_null(np.nan).to_numpy()
    return values


def _whole(found: pa.Table, name: str) -> Ints:
    values: Ints = found[name].cast(pa.int64()).to_numpy()
    return values
