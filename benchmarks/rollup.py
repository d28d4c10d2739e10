"""A day of 5,000 series rolled up at once, then one hour more: how long it takes, and how much memory all of it holds.

Series: 100 groups, each on a topic of its own with 50 partitions; the log's ends are sampled every 10 s, and each group
commits every 10 s as well. Memory is what the driver's JVM, its Python and all Python workers hold resident, summed;
what forked workers share counts for each of them.
"""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import psutil
import pyarrow as pa
from pyspark.sql import SparkSession

from benchmarks.measure import load
from benchmarks.report import Row
from lag.history.maintenance import table_sizes
from lag.history.schemas import TABLES, TIME, with_day
from lag.history.store import History
from lag.pipeline.rollup import Rollup
from lag.pipeline.session import session

GROUPS, PARTITIONS = 100, 50
SERIES = GROUPS * PARTITIONS
SAMPLE_S = 10
HOURS = 24
BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
HOUR = timedelta(hours=1)
LOOK_S = 0.5


def rows(hours: int = HOURS) -> Iterator[Row]:
    """The day, the hour after it, the bytes of a row."""
    with tempfile.TemporaryDirectory() as folder:
        history = History(folder)
        fleet = Fleet(history)
        for hour in range(hours):
            fleet.record(hour)
        with session(cores=2) as spark:
            yield _figure(spark, history, hours, f"{hours} h of {SERIES:,} series at {SAMPLE_S} s", "180 s, < 6 GB")
            fleet.record(hours)
            yield _figure(spark, history, hours + 1, "one hour more", "20 s")
        for one in filter(lambda its: its.rows, table_sizes(history)):
            yield Row(f"bytes of a row of {one.table}", f"{one.size_bytes / (one.rows or 1):.1f}", f"{one.rows:,} rows")


def _figure(spark: SparkSession, history: History, until: int, what: str, goal: str) -> Row:
    with peak() as most:
        began = time.monotonic()
        pieces = Rollup(spark, history).run(BEGIN + until * HOUR, lambda *_: None)
        took_s = time.monotonic() - began
    made = sum(piece.rows["lag_1m"] for piece in pieces)
    remark = f"goal < {goal}; {made:,} rows of lag_1m; peak {most.bytes / 1e9:.1f} GB; load {load()}"
    return Row(f"rolled up: {what}, 2 cores", f"{took_s:.1f} s", remark)


class Fleet:
    """Records what a collector and the stream would have, hour after hour."""

    def __init__(self, history: History, seed: int = 1) -> None:
        self._history, self._dice = history, np.random.default_rng(seed)
        self._end = np.full(SERIES, 1_000_000)
        self._lag = self._dice.integers(0, 5_000, SERIES)
        names = [(f"group-{number:03}", f"topic-{number:03}") for number in range(GROUPS)]
        groups, topics = (pa.array(column).take(_places()) for column in zip(*names, strict=True))
        ids = pa.array([bytes([number]) * 16 for number in range(GROUPS)], pa.binary()).take(_places())
        partition = pa.array(np.tile(np.arange(PARTITIONS, dtype=np.int32), GROUPS))
        self._ends = {"topic": topics, "topic_id": ids, "partition": partition}
        self._commits = self._ends | {"group_id": groups}

    def record(self, hour: int) -> None:
        """The samples and the commits of that hour, in one file each."""
        polls = [self._poll(BEGIN + hour * HOUR + timedelta(seconds=at)) for at in range(0, 3600, SAMPLE_S)]
        for name, parts in zip(("end_offsets", "commits"), zip(*polls, strict=True), strict=True):
            self._history.append(name, pa.concat_tables(parts))

    def _poll(self, at: datetime) -> tuple[pa.Table, pa.Table]:
        """All logs grow; the groups follow, some of them slower."""
        self._end = self._end + self._dice.integers(0, 200, SERIES)
        self._lag = np.maximum(self._lag + self._dice.integers(-50, 51, SERIES), 0)
        committed = np.maximum(self._end - self._lag, 0)
        ends = {"poll_ts": _times(at), "log_start": _same(0), "log_end": pa.array(self._end)}
        ends["err"] = _same(0, pa.int16())
        commits = {
            "src_partition": _same(0, pa.int32()),
            "src_offset": pa.array(np.arange(SERIES) + round(at.timestamp()) * SERIES),
            "src_ts": _times(at),
            "op": _same(0, pa.int8()),
            "committed": pa.array(committed),
            "commit_ts": _times(at, self._dice.integers(-5_000_000, 0, SERIES)),
            "bootstrap": _same(False, pa.bool_()),
        }
        ends["last_stable"] = ends["log_end"]
        return _rows("end_offsets", self._ends | ends), _rows("commits", self._commits | commits)


def _places() -> pa.Array:
    return pa.array(np.repeat(np.arange(GROUPS), PARTITIONS))


def _same(value: object, kind: pa.DataType | None = None) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind or pa.int64()), SERIES)


def _times(at: datetime, shift_us: np.ndarray | int = 0) -> pa.Array:
    return pa.array(np.full(SERIES, round(at.timestamp() * 1e6)) + shift_us).cast(TIME)


def _rows(name: str, columns: dict[str, pa.Array]) -> pa.Table:
    """A column that is not given is null."""
    given = {"cluster": pa.repeat("bench", SERIES)} | columns
    for field in TABLES[name].file_schema:
        given.setdefault(field.name, pa.nulls(SERIES, field.type))
    return with_day(pa.table(given), TABLES[name])


@dataclass
class Peak:
    """The most bytes that were seen resident at a time."""

    bytes: int = 0


@contextmanager
def peak() -> Iterator[Peak]:
    """Watch this process and all below it."""
    most, stopping = Peak(), threading.Event()

    def look() -> None:
        while not stopping.wait(LOOK_S):
            most.bytes = max(most.bytes, resident())

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield most
    finally:
        stopping.set()
        thread.join()


def resident() -> int:
    """Bytes that this process and all below it hold now."""
    here = psutil.Process(os.getpid())
    held = 0
    for process in [here, *here.children(recursive=True)]:
        try:
            held += process.memory_info().rss
        except psutil.Error:
            continue
    return held
