"""Lag by the hour from lag by the minute. Averages weigh minutes by their known samples; rates weigh all equally."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lag.history.schemas import LAG_1H

SERIES = ("cluster", "group_id", "topic", "partition", "hour")
LAST_KNOWN = (
    "committed_last",
    "log_start",
    "log_end",
    "lag_last",
    "lag_rc_last",
    "eta_s",
    "time_to_loss_s",
    "commit_gap_open_ms",
)
LAST = ("status", "owner_member")
MOST = ("lag_max", "lost", "time_lag_max_ms", "time_lag_min_ms", "commit_gap_max_ms")
LEAST = ("lag_raw_min", "lead_min")
SUMS = ("commits", "rewinds", "samples", "lag_samples", "time_lag_samples", "rewind_records", "newly_lost")
MEANS = ("consume_rate", "produce_rate")
WEIGHED = {"lag_avg": "lag_samples", "time_lag_avg_ms": "time_lag_samples"}
"""Averages, with the numbers of samples that they are over."""


def hours(minutes: pa.Table) -> pa.Table:
    """Rows of `lag_1h` from rows of `lag_1m`, which are ordered by series and time."""
    weighted = minutes.append_column("hour", pc.floor_temporal(minutes["minute"], unit="hour"))
    for name, samples in WEIGHED.items():
        total = pc.multiply(minutes[name].cast(pa.float64()), minutes[samples])
        weighted = weighted.append_column(f"{name} sum", total)
    hours = weighted.group_by(list(SERIES), use_threads=False).aggregate(_COLUMNS)
    columns = {name: hours[f"{name}_{how}"] for name, how, _ in _COLUMNS} | {name: hours[name] for name in SERIES}
    for name, samples in WEIGHED.items():
        columns[name] = pc.divide(columns[f"{name} sum"], columns[samples].cast(pa.float64()))
    columns["time_lag_avg_ms"] = pc.round(columns["time_lag_avg_ms"])
    return pa.table({name: columns[name] for name in LAG_1H.file_schema.names}).cast(LAG_1H.file_schema)


_ALSO_NULL = pc.ScalarAggregateOptions(skip_nulls=False)
_COLUMNS: list[tuple[str, str, Any]] = [
    *((name, "last", None) for name in LAST_KNOWN),
    *((name, "last", _ALSO_NULL) for name in LAST),
    *((name, "max", None) for name in MOST),
    *((name, "min", None) for name in LEAST),
    *((name, "sum", None) for name in SUMS),
    *((name, "mean", None) for name in MEANS),
    *((f"{name} sum", "sum", None) for name in WEIGHED),
    ("time_lag_bounded", "all", None),
]
