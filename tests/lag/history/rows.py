"""Rows of the history's tables in few words: what a test does not name has the same value everywhere."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from lag.history.schemas import TABLES
from lag.verdict.catalogue import STORED
from lag.verdict.status import Status

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)

_DEFAULTS: dict[str, Any] = {
    "cluster": "c1", "src_partition": 0, "src_offset": 0, "group_id": "g", "topic": "t", "partition": 0, "op": 0,
    "bootstrap": False, "err": 0, "log_start": 0, "record_type": 2, "tombstone": False,
}  # fmt: skip


def rows(table: str, *made: dict[str, Any]) -> pa.Table:
    """Rows of that table; its time is NOON unless it is given, a number being seconds after that."""
    of = TABLES[table]
    names = of.file_schema.names
    filled = [{name: _DEFAULTS.get(name) for name in names} | {of.time: NOON} | row for row in made]
    timed = [{name: _time(value, of.schema.field(name).type) for name, value in row.items()} for row in filled]
    return pa.Table.from_pylist(timed, of.file_schema)


def poll(
    at_s: float, lag: int | None = 7, status: Status | None = Status.OK, known: int = 2, **more: Any
) -> dict[str, Any]:
    """A row of `group_snapshots`, in seconds after NOON. The lag covers `known` of two partitions."""
    return {
        "poll_ts": at_s, "type": "classic", "state": "Stable", "members": 1, "complete": True,
        "lag": lag, "lag_known": known, "lag_partitions": 2, "status": None if status is None else STORED[status],
    } | more  # fmt: skip


def _time(value: Any, kind: pa.DataType) -> Any:
    number = isinstance(value, int | float) and pa.types.is_timestamp(kind)
    return NOON + timedelta(seconds=value) if number else value
