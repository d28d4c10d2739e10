"""A worker's part for its share of topics: sums up the minutes of their partitions.

Each topic is in one share, because a 95th percentile cannot be computed from those of parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lag.history.schemas import I8, I32, LAG_1M, LAG_GROUP_TOPIC_1M, TEXT, TIME, with_day
from lag.history.status_codes import ranks, stored_codes
from lag.offsets import UNKNOWN, Flags, Ints
from lag.pipeline.columns import Names, offsets, place, starts, times, unplaced
from lag.pipeline.shares import Shuffle, by_topic
from lag.pipeline.worker_results import Writing, result_of
from lag.verdict.columns import concatenate, in_order
from lag.verdict.status import URGENCY
from lag.verdict.window.rates import Floats

COLUMNS = (
    "cluster", "group_id", "topic", "minute", "lag_last", "time_lag_max_ms", "time_lag_min_ms", "time_lag_bounded",
    "consume_rate", "produce_rate", "commits", "status",
)  # fmt: skip
SEEN, SEEN_SCHEMA = "seen", pa.schema(
    [
        ("cluster", TEXT), ("group_id", TEXT), ("minute", TIME), ("status", I8), ("time_lag_max_ms", pa.int64()),
        ("time_lag_known", pa.bool_()),
    ]
)  # fmt: skip
"""Rank of the status and time lag of a group on one topic in a minute (`lag.rollup.group_minutes.Seen`)."""


@dataclass(frozen=True, slots=True)
class TopicJob:
    """Computes `lag_group_topic_1m` from files of `lag_1m`."""

    root: str

    def shuffle(self) -> Shuffle:
        """Each topic is in one share."""
        return Shuffle(self.root, {LAG_1M.name: COLUMNS}, lambda _, rows: np.ones(len(rows), bool), by_topic)

    def compute(self, _share: int, rows: Iterator[tuple[str, pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
        """Written files and `SEEN` of a share (`RESULTS`). Raises OSError if a file cannot be written."""
        names = Names()
        parts = [_rows(batch, names) for _, batch in rows]
        if not any(len(part.place) for part in parts):
            yield result_of(SEEN, SEEN_SCHEMA.empty_table())
            return
        together = _Together(in_order(concatenate(parts), "place", "group", "minute_us", "lag"), names)
        topics = Writing(self.root, LAG_GROUP_TOPIC_1M.name)
        topics.add(LAG_GROUP_TOPIC_1M.name, with_day(together.topics(), LAG_GROUP_TOPIC_1M))
        yield topics.result()
        yield result_of(SEEN, together.seen())


class _Rows(NamedTuple):
    """Minutes of partitions: int64[n], float64[n] and bool[n]; -1 and NaN = unknown."""

    place: Ints
    group: Ints
    minute_us: Ints
    lag: Ints
    time_lag_ms: Ints
    at_least_ms: Ints
    bounded: Flags
    consume_rate: Floats
    produce_rate: Floats
    commits: Ints
    status: Ints


def _rows(rows: pa.RecordBatch, names: Names) -> _Rows:
    return _Rows(
        place=place(names.clusters.of(rows["cluster"]), names.topics.of(rows["topic"]), np.zeros(len(rows), np.int64)),
        group=names.groups.of(rows["group_id"]),
        minute_us=times(rows["minute"]),
        lag=offsets(rows["lag_last"]),
        time_lag_ms=offsets(rows["time_lag_max_ms"]),
        at_least_ms=offsets(rows["time_lag_min_ms"]),
        bounded=rows["time_lag_bounded"].to_numpy(zero_copy_only=False),
        consume_rate=rows["consume_rate"].fill_null(np.nan).to_numpy(),
        produce_rate=rows["produce_rate"].fill_null(np.nan).to_numpy(),
        commits=rows["commits"].to_numpy(),
        status=ranks(rows["status"].to_numpy()),
    )


class _Together:
    """Sums over rows sorted by topic, group, minute and lag; at least one row."""

    def __init__(self, rows: _Rows, names: Names) -> None:
        self._rows, self._names = rows, names
        self._starts = starts(rows.place, rows.group, rows.minute_us)
        self._count = np.diff(np.append(self._starts, len(rows.place)))

    def topics(self) -> pa.Table:
        """Rows of `lag_group_topic_1m`; the lag of a partition is that at the end of the minute."""
        rows, known = self._rows, self._sum(self._rows.lag != UNKNOWN)
        total, most, time_lag = self._sum(np.maximum(rows.lag, 0)), self._most(rows.lag), self._most(rows.time_lag_ms)
        with np.errstate(divide="ignore", invalid="ignore"):
            skew = most * known / total
        columns = self._series() | {
            "topic": self._names.topics.column(unplaced(rows.place[self._starts])[1], TEXT),
            "partitions": self._count,
            "lag_known": known,
            "lag_sum": pa.array(total, mask=known == 0),
            "lag_max": _known(most),
            "lag_p95": pa.array(self._percentile(known, 0.95), mask=known == 0),
            "time_lag_max_ms": pa.array(time_lag, mask=(time_lag == UNKNOWN) | ~self._all(rows.bounded)),
            "skew": pa.array(skew, mask=total == 0),
            "consume_rate": self._rate(rows.consume_rate),
            "produce_rate": self._rate(rows.produce_rate),
            "commits": self._sum(rows.commits),
            "partitions_by_status": self._by_status(),
        }
        names = LAG_GROUP_TOPIC_1M.file_schema.names
        return pa.table([columns[name] for name in names], names).cast(LAG_GROUP_TOPIC_1M.file_schema)

    def seen(self) -> pa.Table:
        """Status and time lag of each group, topic and minute (`SEEN_SCHEMA`)."""
        rows = self._rows
        columns = self._series() | {
            "status": np.minimum.reduceat(rows.status, self._starts),
            "time_lag_max_ms": _known(self._most(np.maximum(rows.time_lag_ms, rows.at_least_ms))),
            "time_lag_known": self._all(rows.bounded & (rows.time_lag_ms != UNKNOWN)),
        }
        return pa.table([columns[name] for name in SEEN_SCHEMA.names], SEEN_SCHEMA.names).cast(SEEN_SCHEMA)

    def _series(self) -> dict[str, pa.Array]:
        rows, at = self._rows, self._starts
        return {
            "cluster": self._names.clusters.column(unplaced(rows.place[at])[0], TEXT),
            "group_id": self._names.groups.column(rows.group[at], TEXT),
            "minute": pa.array(rows.minute_us[at].view("datetime64[us]"), TIME),
        }

    def _sum(self, values: Ints | Flags) -> Ints:
        return np.add.reduceat(values.astype(np.int64), self._starts)

    def _most(self, values: Ints) -> Ints:
        return np.maximum.reduceat(values, self._starts)

    def _all(self, flags: Flags) -> Flags:
        return np.logical_and.reduceat(flags, self._starts)

    def _rate(self, rates: Floats) -> pa.Array:
        known = ~np.isnan(rates)
        return pa.array(np.add.reduceat(np.where(known, rates, 0.0), self._starts), mask=self._sum(known) == 0)

    def _percentile(self, known: Ints, share: float) -> Floats:
        """float64[n_runs]: of the known lags, which are the last of each run, with linear interpolation."""
        first = self._starts + self._count - known
        at = first + np.maximum(known - 1, 0) * share
        low = np.minimum(at.astype(np.int64), len(self._rows.lag) - 1)
        high = np.minimum(np.ceil(at).astype(np.int64), len(self._rows.lag) - 1)
        lag = self._rows.lag
        return lag[low] + (lag[high] - lag[low]) * (at - low)

    def _by_status(self) -> pa.Array:
        run = np.repeat(np.arange(len(self._starts)), self._count)
        kinds = len(URGENCY)
        counts = np.bincount(run * kinds + self._rows.status, minlength=len(self._starts) * kinds)
        there = np.flatnonzero(counts)
        ends = np.searchsorted(there, np.arange(len(self._starts) + 1) * kinds)
        return pa.MapArray.from_arrays(
            pa.array(ends, pa.int32()), pa.array(stored_codes(there % kinds), I8), pa.array(counts[there], I32)
        )


def _known(values: Ints) -> pa.Array:
    return pa.array(values, mask=values == UNKNOWN)
