"""A Python worker's part for a bucket of groups: owners, minutes and budgets, from Arrow to Arrow."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from lag.history.schemas import GROUP_HEALTH_1M, SLO_BURN, TIME
from lag.rollup.error_budget import Burns, Slo, Tallies, burns, ends
from lag.rollup.group_events import records
from lag.rollup.group_minutes import GroupMinute, Seen, minutes
from lag.rollup.owners import changes
from lag.verdict.catalogue import STORED
from lag.verdict.status import URGENCY

GROUP = ("cluster", "group_id")
EVENT_COLUMNS = (
    *GROUP, "ts", "src_offset", "record_type", "member_id", "generation_or_epoch", "assignment_epoch", "state",
    "assignment", "tombstone", "bootstrap",
)  # fmt: skip
POLLED_COLUMNS = (
    "type", "state", "members", "verdict", "markers", "poll_time_lag_ms", "lag", "lag_known", "lag_partitions",
)  # fmt: skip
SEEN_COLUMNS = (*GROUP, "minute", "status", "time_lag_max_ms", "time_lag_known", *POLLED_COLUMNS)
TALLY_COLUMNS = (*GROUP, "slo_id", "at", "good", "bad", "unknown")

OWNERS = pa.schema(
    [
        ("cluster", pa.string()), ("group_id", pa.string()), ("topic", pa.string()), ("topic_id", pa.binary()),
        ("partition", pa.int32()), ("at", TIME), ("place", pa.int64()), ("owner", pa.string()),
    ]
)  # fmt: skip
"""Changes of owner. `place` orders changes at the same time."""

Row = Mapping[str, Any]


def owners(events: pa.Table) -> pa.Table:
    """Every change of owner in these rows of `group_events`."""
    found: dict[str, list[Any]] = {name: [] for name in OWNERS.names}
    for (cluster, group), rows in _groups(events, "ts"):
        for place, change in enumerate(changes(records(rows))):
            topic, topic_id, partition = change.partition
            values = (cluster, group, topic, topic_id, partition, change.at_us, place, change.member_id)
            for name, value in zip(OWNERS.names, values, strict=True):
                found[name].append(value)
    return pa.table(found, OWNERS)


def health(since_us: int, until_us: int, events: pa.Table, seen: pa.Table) -> pa.Table:
    """Rows of `group_health_1m` for these groups."""
    recorded = {group: list(records(rows)) for group, rows in _groups(events, "ts")}
    polled: dict[tuple[str, str], dict[int, Seen]] = defaultdict(dict)
    for group, rows in _groups(seen, "minute"):
        polled[group] = {row["at_us"]: _seen(row) for row in rows}
    rows = [
        {"cluster": cluster, "group_id": group_id, **_stored(one)}
        for cluster, group_id in sorted(recorded.keys() | polled.keys())
        for one in minutes(recorded.get((cluster, group_id), []), polled[cluster, group_id], since_us, until_us)
    ]
    return pa.Table.from_pylist(rows, GROUP_HEALTH_1M.file_schema)


def budgets(slos: tuple[Slo, ...], since_us: int, until_us: int, tallies: pa.Table) -> pa.Table:
    """Rows of `slo_burn` for these groups and levels."""
    of = {slo.slo_id: slo for slo in slos}
    at_us = ends(since_us, until_us)
    rows = [
        _burn_rows(
            {"cluster": cluster, "group_id": group_id}, of[slo_id], burns(_tallies(rows), at_us, of[slo_id].target)
        )
        for (cluster, group_id, slo_id), rows in _groups(tallies, "at", (*GROUP, "slo_id"))
    ]
    return pa.concat_tables(rows) if rows else SLO_BURN.file_schema.empty_table()


def _tallies(rows: list[Row]) -> Tallies:
    return Tallies(*(np.array([row[name] for row in rows], np.int64) for name in ("at_us", "good", "bad", "unknown")))


def _burn_rows(group: Mapping[str, str], slo: Slo, burns: Burns) -> pa.Table:
    same = {**group, "slo_id": slo.slo_id, "target": slo.target, "threshold_ms": slo.threshold_ms}
    columns = {name: pa.repeat(value, len(burns.at_us)) for name, value in same.items()}
    columns |= {
        "at": pa.array(burns.at_us.view("datetime64[us]"), TIME),
        "window_s": pa.array(burns.window_s),
        "good_minutes": pa.array(burns.good),
        "bad_minutes": pa.array(burns.bad),
        "unknown_minutes": pa.array(burns.unknown),
        "total_minutes": pa.array(burns.good + burns.bad + burns.unknown),
        "burn": pa.array(burns.burn, mask=np.isnan(burns.burn)),
        "budget_left": pa.array(burns.budget_left, mask=np.isnan(burns.budget_left)),
    }
    return pa.table(columns).select(SLO_BURN.file_schema.names).cast(SLO_BURN.file_schema)


def _groups(table: pa.Table, time: str, by: tuple[str, ...] = GROUP) -> Iterator[tuple[Any, list[Row]]]:
    """The rows of each group in order, with their time as `at_us`: microseconds since 1970."""
    timed = table.append_column("at_us", table[time].cast(pa.int64())).drop_columns([time])
    order = "src_offset" if "src_offset" in table.column_names else "at_us"
    rows = timed.sort_by([(name, "ascending") for name in (*by, order)]).to_pylist()
    return ((key, list(same)) for key, same in groupby(rows, key=lambda row: tuple(row[name] for name in by)))


def _seen(row: Row) -> Seen:
    return Seen(*(row[name] for name in SEEN_COLUMNS[len(GROUP) + 1 :]))


def _stored(one: GroupMinute) -> dict[str, Any]:
    return one._asdict() | {"status": None if one.status is None else STORED[URGENCY[one.status]]}
