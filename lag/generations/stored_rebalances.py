"""The last rebalances of all groups from the history, which knows them from before this process started."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

import pyarrow as pa

from lag.generations.recent import MAX_REBALANCES, RecentRebalances, recent_rebalances
from lag.generations.recorded import GenerationRecorder
from lag.generations.recorded.history import take_rows
from lag.generations.recorded.model import RecordedState
from lag.history.resume.stream_progress import read_until
from lag.history.store import History, literal
from lag.model import GroupType
from lag.records.record_types import RECORD_TYPES, Role
from lag.times import EPOCH, from_ms, ms

MAX_RECORDS = 500
"""Records that are looked at, newest first. A rebalance has one, of a KIP-848 or share group at least two."""

RECENT = timedelta(days=2)
"""The newest records are looked for in this time first, because a search in all files is slow."""

LEAD = timedelta(minutes=10)
"""A second round has the cause of the first: so much earlier records are read in full."""

TABLE = "group_events"
_ROLES = (Role.GROUP, Role.EPOCH, Role.TARGET_EPOCH)
_TYPES = [n for n, its in RECORD_TYPES.items() if its.role in _ROLES and its.group_type is not GroupType.STREAMS]
_IS_REBALANCE = f"record_type IN ({', '.join(map(str, _TYPES))}) AND NOT tombstone AND key IS NOT NULL"
"""Metadata of classic groups; epochs of the group and of the target assignment of KIP-848 and share groups."""


def stored_rebalances(
    history: History, cluster: str, names: Mapping[UUID, str], since: datetime, until: datetime
) -> RecentRebalances:
    """The newest rebalances between two times. Raises HistoryError.

    `cluster` is the cluster id, `names` maps topic ids to names.
    """
    stored = _GroupEvents(history, cluster)
    newest = stored.newest(max(since, until - RECENT), until)
    if len(newest) < MAX_RECORDS:
        newest = stored.newest(since, until)
    has_older = len(newest) == MAX_RECORDS
    begin = from_ms(newest[-1]["at_ms"]) if has_older else since
    groups = {row["group_id"] for row in newest}
    found = recent_rebalances(_states(stored.records(groups, begin - LEAD, until), names) if groups else {}, {})
    listed = tuple(one for one in found.rebalances if one.at_ms >= ms(begin))
    first_ms, read = stored.first_ms(), read_until(history).get(cluster)
    return replace(
        found,
        rebalances=listed,
        has_older=has_older or found.has_older,
        known_since_ms=None if first_ms is None else max(first_ms, ms(since)),
        known_until_ms=None if read is None else ms(read),
    )


def stored_counts(history: History, cluster: str, since: datetime, until: datetime) -> dict[str, int]:
    """Group id -> about how many rebalances it had between two times: its generations and epochs with a record.

    The first one of a group may be no rebalance that is listed: its state before is not known. Raises HistoryError.
    """
    return _GroupEvents(history, cluster).counts(since, until)


def _states(rows: list[dict[str, Any]], names: Mapping[UUID, str]) -> Mapping[str, list[RecordedState]]:
    """The states of the groups in these rows of `_GroupEvents.records`."""
    recorder = GenerationRecorder(names.get, MAX_REBALANCES + 1)
    for _, same in groupby(rows, key=lambda row: row["group_id"]):
        its = list(same)
        whole = all(row["key"] is not None or RECORD_TYPES[row["record_type"]].role is Role.GROUP for row in its)
        take_rows(recorder, [row for row in its if row["key"] is not None], whole=whole)
    return recorder.all_states()


@dataclass(frozen=True, slots=True)
class _GroupEvents:
    """The group events of one cluster. All methods raise HistoryError."""

    history: History
    cluster: str

    def newest(self, since: datetime, until: datetime) -> list[dict[str, Any]]:
        """Group and time of the newest records of rebalances between two times, at most MAX_RECORDS."""
        where = f"{self._between(since, until)} AND {_IS_REBALANCE}"
        return self._rows(f"SELECT group_id, ts FROM {TABLE} WHERE {where} ORDER BY ts DESC LIMIT {MAX_RECORDS}")

    def counts(self, since: datetime, until: datetime) -> dict[str, int]:
        """Group id -> its generations or epochs with a record between two times."""
        found = self.history.query_open(
            f"SELECT group_id, count(DISTINCT generation_or_epoch) AS n FROM {TABLE} "
            f"WHERE {self._between(since, until)} AND {_IS_REBALANCE} GROUP BY group_id",
            TABLE,
        )
        return {} if found is None else {row["group_id"]: row["n"] for row in found.to_pylist() if row["n"]}

    def records(self, groups: Collection[str], begin: datetime, until: datetime) -> list[dict[str, Any]]:
        """The records of these groups: all from `begin` on, and before it the last one of each key.

        In the order of groups and offsets. Those of an older groupscope have neither key nor value.
        """
        named = f"group_id IN ({', '.join(map(literal, sorted(groups)))})"
        columns = "group_id, src_offset, ts, record_type, key, value"
        rows = self._rows(
            f"SELECT {columns} FROM {TABLE} WHERE {self._between(begin, until)} AND {named} AND key IS NOT NULL"
        )
        before = self._rows(
            "SELECT group_id, max(src_offset) AS src_offset, last_value(ts ORDER BY src_offset) AS ts, record_type, "
            f"key, last_value(value ORDER BY src_offset) AS value FROM {TABLE} "
            f"WHERE {self._between(EPOCH, begin)} AND {named} GROUP BY group_id, record_type, key"
        )
        return sorted([*before, *rows], key=lambda row: (row["group_id"], row["src_offset"]))

    def first_ms(self) -> int | None:
        """The time of the oldest record from which on all were read; None if there is none.

        Records from before the first start of the stream may have been compacted away.
        """
        where = f"cluster = {literal(self.cluster)} AND NOT bootstrap"
        rows = self._rows(f"SELECT min(ts) AS ts FROM {TABLE} WHERE {where}")
        return rows[0]["at_ms"] if rows else None

    def _between(self, since: datetime, until: datetime) -> str:
        """From `since` on, before `until`."""
        days = f"dt BETWEEN DATE '{since.astimezone(UTC).date()}' AND DATE '{until.astimezone(UTC).date()}'"
        return f"cluster = {literal(self.cluster)} AND {days} AND ts >= {literal(since)} AND ts < {literal(until)}"

    def _rows(self, sql: str) -> list[dict[str, Any]]:
        """The rows of a query, with `ts` as `at_ms`; none without the table."""
        found = self.history.query_open(sql, TABLE)
        if found is None:
            return []
        at_us = found["ts"].cast(pa.int64()).to_pylist()
        rows = found.drop_columns(["ts"]).to_pylist()
        return [row | {"at_ms": us and us // 1000} for row, us in zip(rows, at_us, strict=True)]
