"""Ninety days of roll-ups in a folder, as `compact` would leave them: days that are over sorted by series, today not.

Lags are made up, and differ from day to day. Columns that no page reads are null, so that it takes minutes only.
"""

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import Transaction

from lag.history.files import TableWriter
from lag.history.maintenance import maintain
from lag.history.rewrites.series_order import SORTED_PREFIX
from lag.history.schemas import GROUP_HEALTH_1M, LAG_1H, LAG_1M, LAG_GROUP_TOPIC_1M, TIME, Table, with_day
from lag.history.store import History

CLUSTER = "benchmark"
GROUPS, TOPICS, PARTITIONS = 250, 2, 10  # each group reads two topics of ten partitions: 5,000 series
DAYS = 90
WORKERS = 2
MINUTES = 1_440
TODAY_HOURS = 12
END = datetime(2026, 11, 22, TODAY_HOURS, tzinfo=UTC)
PIECE_GROUPS = 25
POOL = 1 << 20
COMMITS = 80
"""Of a log that has its last checkpoint so far behind; Delta makes one every hundred commits."""

WRITTEN = (LAG_1M, LAG_1H, LAG_GROUP_TOPIC_1M, GROUP_HEALTH_1M)


def group_name(number: int) -> str:
    """The id of that group."""
    return f"service-{number:03d}-consumer"


def generate(history: History) -> int:
    """Write all days; the number of rows of `lag_1m`."""
    today = END.replace(hour=0)
    days = [(history.root, today - timedelta(days=back), back) for back in range(DAYS, 0, -1)]
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        made = sum(pool.map(_day, *zip(*days, strict=True)))
    for hour in range(TODAY_HOURS):
        _append(history, today + timedelta(hours=hour))
    for table in WRITTEN:
        maintain(history, table.name, END)
        _commit(history, table)
    return made + GROUPS * TOPICS * PARTITIONS * 60 * TODAY_HOURS


def _append(history: History, since: datetime) -> None:
    for table in WRITTEN:
        history.append(table.name, _rows(table, since, 60, range(GROUPS), since.hour))


def _commit(history: History, table: Table) -> None:
    """COMMITS more commits, as the roll-up makes one every minute: a reader has to look at each."""
    for number in range(COMMITS):
        history.commit(table.name, [], Transaction("minutes", number))


def _day(root: str, day: datetime, number: int) -> int:
    """One finished day, each table in one file in the order of its series; the rows of `lag_1m`."""
    history = History(root)
    written = {table.name: _write(history, table, day, number) for table in WRITTEN}
    return written["lag_1m"]


def _write(history: History, table: Table, day: datetime, number: int) -> int:
    history.create(table.name)
    files = TableWriter(history.root, table, SORTED_PREFIX)
    for first in range(0, GROUPS, PIECE_GROUPS):
        groups = range(first, min(first + PIECE_GROUPS, GROUPS))
        files.add(with_day(_rows(table, day, MINUTES, groups, number), table))
    written = files.close()
    history.commit(table.name, written, Transaction(f"day {number}", 1))
    return sum(file.rows for file in written)


def _rows(table: Table, since: datetime, minutes: int, groups: range, seed: int) -> pa.Table:
    """Rows of these groups, in the order of their series and then of their time."""
    topics = 1 if table is GROUP_HEALTH_1M else TOPICS
    partitions = PARTITIONS if table in (LAG_1M, LAG_1H) else 1
    times = range(0, minutes, 60 if table is LAG_1H else 1)
    series = np.repeat(np.arange(len(groups) * topics * partitions), len(times))
    lag = np.roll(_pool(), 7_919 * seed + groups.start)[np.arange(len(series)) % POOL]
    at_us = round(since.timestamp() * 1e6) + np.tile(np.array(times) * 60_000_000, len(series) // len(times))
    known: dict[str, Any] = {
        "cluster": pa.repeat(CLUSTER, len(series)),
        "group_id": _named([group_name(number) for number in groups], series // (topics * partitions)),
        "topic": _named(["orders", "payments"], series // partitions % topics),
        "partition": series % partitions,
        table.time: pa.array(at_us.view("datetime64[us]"), TIME),
        **_values(table, lag, at_us),
    }
    columns = {field.name: _column(field, known, len(series)) for field in table.file_schema}
    return pa.table(columns, table.file_schema)


def _pool() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.random.default_rng(7).geometric(0.01, POOL)


def _values(table: Table, lag: np.ndarray[Any, Any], at_us: np.ndarray[Any, Any]) -> Mapping[str, Any]:
    if table is GROUP_HEALTH_1M:
        status = np.where(lag > 450, 0, 12)
        return {"type": pa.repeat("classic", len(lag)), "rebalances": lag > 500, "status": status}
    if table is LAG_GROUP_TOPIC_1M:
        many = np.full(len(lag), PARTITIONS)
        return {"partitions": many, "lag_known": many, "lag_sum": lag, "lag_max": lag, "time_lag_max_ms": lag * 10}
    end = at_us // 1_000_000 - 1_700_000_000
    return {
        "committed_last": end - lag, "log_end": end, "lag_last": lag, "lag_max": lag + 3, "time_lag_max_ms": lag * 10,
        "status": np.where(lag > 450, 0, 12),
    }  # fmt: skip


def _named(names: list[str], codes: np.ndarray[Any, Any]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(names)).cast(pa.string())


def _column(field: pa.Field, known: Mapping[str, Any], rows: int) -> pa.Array:
    if field.name in known:
        return pa.array(known[field.name]).cast(field.type)
    if pa.types.is_map(field.type):
        return pa.repeat(pa.scalar([(12, PARTITIONS)], field.type), rows)
    return pa.nulls(rows, field.type) if field.nullable else pa.repeat(pa.scalar(0).cast(field.type), rows)
