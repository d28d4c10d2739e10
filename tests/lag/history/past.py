"""Rows of the roll-ups in few words, as `lag.pipeline` leaves them; a time is given in minutes after NOON."""

from typing import Any

import pyarrow as pa

from lag.history.schemas import TABLES
from lag.verdict.catalogue import STORED
from lag.verdict.status import Status
from tests.lag.history.rows import rows

STATUS_OF = {number: status for status, number in STORED.items()}
"""The status of each number in the tables."""

_LAG = {"time_lag_bounded": True, "commits": 0, "rewinds": 0, "rewind_records": 0, "samples": 6, "status": Status.OK}
_TOPIC = {"partitions": 1, "lag_known": 1, "commits": 0, "partitions_by_status": []}
_HEALTH = {"type": "classic", "rebalances": 0, "joins": 0, "leaves": 0, "status": Status.OK}
_BURN = {
    "at": 1, "slo_id": "fresh", "target": 0.99, "threshold_ms": 60_000, "window_s": 3600, "good_minutes": 59,
    "bad_minutes": 1, "unknown_minutes": 0, "total_minutes": 60,
}  # fmt: skip
_DEFAULTS: dict[str, dict[str, Any]] = {
    "lag_1m": _LAG, "lag_1h": _LAG, "lag_group_topic_1m": _TOPIC, "group_health_1m": _HEALTH, "slo_burn": _BURN,
}  # fmt: skip


def past(table: str, *made: dict[str, Any]) -> pa.Table:
    """Rows of that roll-up; `at` is its time in minutes after NOON, a status is given as such."""
    filled = [_DEFAULTS[table] | row for row in made]
    return rows(table, *({_name(table, name): _value(name, it) for name, it in row.items()} for row in filled))


def _name(table: str, name: str) -> str:
    return TABLES[table].time if name == "at" else name


def _value(name: str, value: Any) -> Any:
    if name == "at":
        return value * 60
    return STORED[value] if isinstance(value, Status) else value
