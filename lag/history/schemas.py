"""The tables of the history: columns, series and retention.

Times are UTC in microseconds; offsets are 64-bit; `_records`, `_ms` and `_s` are units. Null means "not known".
`cluster` is Kafka's cluster id. Every table is partitioned by `dt`, the day of its time, so a day can be compacted and
dropped by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

SCHEMA_VERSION = 1
"""Version of all tables. A new nullable column needs no new one; a change that an older reader would misread does."""

DAY = "dt"
TIME = pa.timestamp("us", tz="UTC")
TEXT, FLAG, BYTES = pa.string(), pa.bool_(), pa.binary()
I8, I16, I32, I64, F64 = pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float64()

ASSIGNMENT = pa.list_(pa.struct([("topic", TEXT), ("topic_id", BYTES), ("partitions", pa.list_(I32))]))
"""Partitions by topic; name or id is null if the record does not have it."""


@dataclass(frozen=True, slots=True)
class LastRows:
    """Rows that stay valid until the next row of their series, so the last one outlives its day.

    Both are SQL: `series` identifies a series within a partition of `__consumer_offsets`; `ended`: a row ends its
    series.
    """

    series: str
    ended: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `dt` is the day of the column `time`; rows are kept for `keep_days`.

    Finished days are sorted by the columns `series`. `last_rows`: which rows are kept longer; None: none.
    """

    name: str
    schema: pa.Schema
    time: str
    series: tuple[str, ...]
    keep_days: int
    last_rows: LastRows | None = None

    @property
    def file_schema(self) -> pa.Schema:
        """The columns in the files: `dt` is part of their path."""
        return self.schema.remove(self.schema.get_field_index(DAY))


def _table(name: str, columns: str, time: str, series: str, keep_days: int, last_rows: LastRows | None = None) -> Table:
    schema = pa.schema([*fields(columns), pa.field(DAY, pa.date32())])
    return Table(name, schema, time, tuple(series.split()), keep_days, last_rows)


_TYPES = {
    "str": TEXT, "bool": FLAG, "bytes": BYTES, "time": TIME, "i8": I8, "i16": I16, "i32": I32, "i64": I64, "f64": F64,
    "assignment": ASSIGNMENT, "counts": pa.map_(I8, I32),
}  # fmt: skip


def fields(columns: str) -> Sequence[pa.Field]:
    """ "cluster:str lag:i64?" as fields; a question mark: nullable."""
    pairs = (column.split(":") for column in columns.split())
    return [pa.field(name, _TYPES[kind.rstrip("?")], kind.endswith("?")) for name, kind in pairs]


_SOURCE = "cluster:str src_partition:i32 src_offset:i64"
_LAG = """
    lag_avg:f64? lag_max:i64? lag_last:i64? lag_raw_min:i64? lag_rc_last:i64? lost:i64? lead_min:i64?
    time_lag_avg_ms:i64? time_lag_max_ms:i64? time_lag_min_ms:i64? time_lag_bounded:bool
    commits:i32 commit_gap_max_ms:i64? rewinds:i32 rewind_records:i64 consume_rate:f64? produce_rate:f64?
    eta_s:f64? time_to_loss_s:f64? status:i8 owner_member:str? samples:i32 lag_samples:i32? time_lag_samples:i32?
    newly_lost:i64? commit_gap_open_ms:i64?
"""
_PLACE = "cluster:str group_id:str topic:str partition:i32"
_SERIES = "group_id topic partition"

COMMITS = _table(
    "commits",
    f"""{_SOURCE} src_ts:time group_id:str topic:str topic_id:bytes? partition:i32 op:i8 committed:i64?
    leader_epoch:i32? metadata:str? commit_ts:time? expire_ts:time? value_version:i16? bootstrap:bool""",
    "src_ts", _SERIES, 7, LastRows("group_id, topic, partition", "op = 1"),
)  # fmt: skip
"""Every offset commit. `op`: 0 commit, 1 tombstone. (cluster, src_partition, src_offset) is unique.

`committed` is null if there is no commit: in a tombstone, and where a negative offset was written (rows of earlier
versions have that number).
`bootstrap`: the record is older than the first start of the stream, so earlier ones may have been compacted away.
"""

GROUP_EVENTS = _table(
    "group_events",
    f"""{_SOURCE} ts:time group_id:str record_type:i16 member_id:str? generation_or_epoch:i32? assignment_epoch:i32?
    protocol_type:str? protocol:str? state:i8? n_members:i32? client_id:str? client_host:str? instance_id:str?
    assignment:assignment? tombstone:bool bootstrap:bool key:bytes? value:bytes?""",
    "ts", "group_id", 90,
    LastRows("group_id, record_type, CASE WHEN record_type = 2 THEN NULL ELSE (member_id, key) END", "tombstone"),
)  # fmt: skip
"""Every record about a group. A record of a classic group (record_type 2) has a row for each member, at least one.

`key` and `value` are the record's bytes, in the first of its rows, for `lag.records.decode`.
"""

DECODE_ERRORS = _table(
    "decode_errors",
    f"{_SOURCE} src_ts:time record_type:i16? reason:str key:bytes? value:bytes?",
    "src_ts", "src_partition", 30,
)  # fmt: skip
"""Records that could not be decoded, with their bytes: a later version may decode them."""

END_OFFSETS = _table(
    "end_offsets",
    """cluster:str topic:str topic_id:bytes? partition:i32 poll_ts:time log_start:i64? log_end:i64? last_stable:i64?
    leader_epoch:i32? err:i16""",
    "poll_ts", "topic partition", 7,
)  # fmt: skip
"""Log start and end of each partition at each poll. `err`: 0, or the number of a `PartitionProblem`, from 1.

`leader_epoch` came with the log end: if it falls, a topic without ids was recreated. The roll-up does not read it.
"""

GROUP_SNAPSHOTS = _table(
    "group_snapshots",
    """cluster:str poll_ts:time group_id:str type:str state:str coordinator:i32? assignor:str? epoch:i32? members:i32?
    lag:i64? lag_known:i32 lag_partitions:i32 complete:bool status:i8? time_lag_ms:i64? markers:i32?
    onset:time? onset_is_exact:bool? onset_source:str? opened:bool? open_status:i8?""",
    "poll_ts", "group_id", 90,
)  # fmt: skip
"""Each group at each poll; `lag` covers `lag_known` of `lag_partitions` partitions.

`members` is null if the group could not be described; rows of earlier versions have 0 there.

`status` is a number of `catalogue.STORED`. `markers` counts partitions where perhaps only transaction markers are
left to read; `time_lag_ms` is without them. `onset` is since when the status holds; not `onset_is_exact`: or earlier.
`onset_source` is one of `onset.OnsetSource`. `opened`: a verdict opened at this poll; null if the policy shows every
poll as it is. `open_status`: the open verdict, where `status` is flapping and hides it; else null.
"""

LAG_1M = _table(
    "lag_1m", f"{_PLACE} minute:time committed_last:i64? log_start:i64? log_end:i64? {_LAG}", "minute", _SERIES, 90
)
"""One group on one partition, by the minute.

`lost` is how many records are lost, at the worst sample; `newly_lost` counts each of them once, in its minute.
`commit_gap_open_ms` is the time from the last commit to the last sample, at most `commit_gap_max_ms`.
"""

LAG_1H = _table(
    "lag_1h", f"{_PLACE} hour:time committed_last:i64? log_start:i64? log_end:i64? {_LAG}", "hour", _SERIES, 730
)
"""One group on one partition, by the hour."""

LAG_GROUP_TOPIC_1M = _table(
    "lag_group_topic_1m",
    """cluster:str group_id:str topic:str minute:time partitions:i32 lag_known:i32 lag_sum:i64? lag_max:i64?
    lag_p95:f64? time_lag_max_ms:i64? skew:f64? consume_rate:f64? produce_rate:f64? commits:i32
    partitions_by_status:counts""",
    "minute", "group_id topic", 90,
)  # fmt: skip
"""One group on one topic, by the minute; lags cover `lag_known` of its `partitions`.

`time_lag_max_ms` is null if only a lower bound is known for a partition (`time_lag_bounded` false in `lag_1m`).
"""

GROUP_HEALTH_1M = _table(
    "group_health_1m",
    """cluster:str group_id:str minute:time type:str generation_first:i32? generation_last:i32? rebalances:i32
    members_last:i32? members_min:i32? members_max:i32? joins:i32 leaves:i32 churn:f64? rebalance_ms:i64?
    state:i8? status:i8? time_lag_max_ms:i64? time_lag_known:bool? lag:i64? lag_known:i32? lag_partitions:i32?""",
    "minute", "group_id", 730,
)  # fmt: skip
"""One group by the minute: `state` indexes `group_minutes.STATES`, `status` is a number of `catalogue.STORED`.

`status` is that of the last poll of the minute, else that of commits and log ends. `time_lag_max_ms` is the longest
time lag of a partition, or the highest lower bound; `time_lag_known`: it is known for every partition. `lag` at
the last poll covers `lag_known` of `lag_partitions`, with partitions without a commit.
"""

SLO_BURN = _table(
    "slo_burn",
    """cluster:str group_id:str slo_id:str at:time target:f64 threshold_ms:i64 window_s:i32 good_minutes:i32
    bad_minutes:i32 unknown_minutes:i32 total_minutes:i32 burn:f64? budget_left:f64?""",
    "at", "group_id slo_id", 730,
)  # fmt: skip
"""How fast a group uses up its error budget in the window that ends `at` (`lag.rollup.error_budget`).

A minute without a known time lag is neither good nor bad; `burn` covers the others.
"""

_PLAN = """
    partitions:i64? idle:i32? unassigned:i64? most:i64? spread:i64?
    hot_by:str? hot_member:str? hot_share:f64? hot_ratio:f64? rack_hits:i64? rack_known:i64? together:i64?
    together_of:i64? drain_s:f64? drain_reason:str? reason:str?
"""
_SWEEP = "sweep_id:str cluster:str at:time group_id:str assignor:str members:i32"

SWEEPS = _table(
    "sweeps",
    f"{_SWEEP} failure:str moved:i64? stayed:i64? paused:i64? rebalances:i32? {_PLAN}",
    "at", "group_id", 90,
)  # fmt: skip
"""A case of a sweep: a group with an assignor and a number of members, after a failure. `reason`: why it fails.

`hot_share` is the busiest member's share of all load, measured by `hot_by` (a skew of `whatif.quality`, or
"partitions").
"""

SWEEP_GROUPS = _table("sweep_groups", f"{_SWEEP} {_PLAN} scenario:str", "at", "group_id", 90)
"""A group of a sweep before its cases; `scenario` is the text of a scenario file."""

AUDIT_EVENTS = _table(
    "audit_events",
    """event_id:str at:time action:str outcome:str actor:str? address:str cluster:str? group_id:str? plan_id:str?
    detail:str log:str""",
    "at", "action", 730,
)  # fmt: skip
"""An event of an audit log (`lag.audit.event`); `cluster` is its name in groupscope. `log`: where it is kept as well.

`event_id` is unique, also where several servers write.
"""

TABLES: Mapping[str, Table] = MappingProxyType(
    {
        table.name: table
        for table in (
            COMMITS, GROUP_EVENTS, DECODE_ERRORS, END_OFFSETS, GROUP_SNAPSHOTS,
            LAG_1M, LAG_1H, LAG_GROUP_TOPIC_1M, GROUP_HEALTH_1M, SLO_BURN, SWEEPS, SWEEP_GROUPS,
            AUDIT_EVENTS,
        )
    }
)  # fmt: skip
"""All tables by name."""


def with_day(rows: pa.Table, table: Table) -> pa.Table:
    """The rows with the table's schema; a missing `dt` is computed from the time."""
    if DAY not in rows.column_names:
        rows = rows.append_column(DAY, pc.cast(rows[table.time], pa.date32()))
    return rows.select(table.schema.names).cast(table.schema)
