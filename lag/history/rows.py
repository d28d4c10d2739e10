"""Rows of `commits`, `group_events` and `decode_errors` from decoded records of `__consumer_offsets`.

Groups of groupscope's own readers are left out: otherwise reading the topic would produce records to read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lag.history.schemas import COMMITS, DECODE_ERRORS, GROUP_EVENTS, TIME, with_day
from lag.model import is_internal_group
from lag.records import BytesColumn, Commits, Decoded, GroupEvent, StringColumn, group_values
from lag.records.message_schema import Message
from lag.records.model import NONE, DecodeError

COMMIT, TOMBSTONE = 0, 1
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999; later commit times become null."""

_ID_BYTES = 16
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SourceRecords:
    """Where a batch of records is from, one array element for each record.

    `bootstrap`: the record is older than the first start of the stream.
    """

    cluster: str
    partition: NDArray[np.int32]
    offset: NDArray[np.int64]
    time_us: NDArray[np.int64]
    bootstrap: Flags

    def columns(self, rows: NDArray[Any], time: str) -> dict[str, pa.Array]:
        """Columns for `rows` (indices); their time gets the name `time`."""
        return {
            "cluster": pa.repeat(self.cluster, len(rows)),
            "src_partition": pa.array(self.partition[rows]),
            "src_offset": pa.array(self.offset[rows]),
            time: pa.array(self.time_us[rows].view("datetime64[us]"), TIME),
        }


class NameCache:
    """Turns codes of names into Arrow columns; the names are converted only when their tuple has changed."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._texts = pa.array([], pa.string())
        self._ours = np.zeros(0, bool)

    def texts(self, names: StringColumn) -> pa.Array:
        """The name for each code."""
        self._refresh(names.values)
        return self._texts.take(pa.array(names.codes))

    def ours(self, names: StringColumn) -> Flags:
        """Whether each name is a group of our own readers: bool[n]."""
        self._refresh(names.values)
        return self._ours[names.codes]

    def _refresh(self, names: tuple[str, ...]) -> None:
        if names is not self._names:
            self._names, self._texts = names, pa.array(names, pa.string())
            self._ours = np.fromiter(map(is_internal_group, names), bool, len(names))


class CommitBuilder:
    """Builds rows of `commits` from the batches of one decoder."""

    def __init__(self) -> None:
        self._groups, self._topics = NameCache(), NameCache()

    def commits(self, commits: Commits, source: SourceRecords) -> pa.Table:
        """Rows of `commits`."""
        kept = np.flatnonzero(~self._groups.ours(commits.group_ids))
        columns = self._commit_columns(commits, kept) | source.columns(commits.rows[kept], "src_ts")
        columns["bootstrap"] = pa.array(source.bootstrap[commits.rows[kept]])
        return with_day(pa.table(columns), COMMITS)

    def _commit_columns(self, commits: Commits, kept: NDArray[np.int64]) -> dict[str, pa.Array]:
        alive, committed = ~commits.tombstones[kept], commits.committed[kept]
        numbers = partial(_numbers, rows=kept)
        return {
            "group_id": self._groups.texts(StringColumn(commits.group_ids.codes[kept], commits.group_ids.values)),
            "topic": self._topics.texts(StringColumn(commits.topics.codes[kept], commits.topics.values)),
            "topic_id": _ids(commits.topic_ids[kept]),
            "partition": pa.array(commits.partitions[kept]),
            "op": pa.array(np.where(alive, COMMIT, TOMBSTONE).astype(np.int8)),
            "committed": pa.array(committed, mask=committed == NONE),
            "leader_epoch": numbers(commits.leader_epochs),
            "metadata": texts(commits.metadata.take(kept)),
            "commit_ts": times(commits.commit_ts[kept]),
            "expire_ts": times(commits.expire_ts[kept]),
            "value_version": numbers(commits.versions.astype(np.int16)),
        }


def events(decoded: Decoded, source: SourceRecords, keys: BytesColumn, values: BytesColumn) -> pa.Table:
    """Rows of `group_events`."""
    kept = [event for event in decoded.events if not is_internal_group(event.group_id)]
    rows = [row for event in kept for row in _with_bytes(event, keys, values)]
    places = np.array([row["row"] for row in rows], np.int64)
    known = source.columns(places, "ts") | {"bootstrap": pa.array(source.bootstrap[places])}
    rest = pa.schema([field for field in GROUP_EVENTS.file_schema if field.name not in known])
    columns = pa.Table.from_pylist(rows, rest)  # what a row lacks is null
    return with_day(pa.table(known | {name: columns[name] for name in rest.names}), GROUP_EVENTS)


def errors(decoded: Decoded, source: SourceRecords, keys: BytesColumn, values: BytesColumn) -> pa.Table:
    """Rows of `decode_errors`."""
    places = np.array([error.row for error in decoded.errors], np.int64)
    groups = {event.row: event.group_id for event in decoded.events}
    columns = source.columns(places, "src_ts") | {
        "record_type": pa.array([error.record_type for error in decoded.errors], pa.int16()),
        "reason": pa.array([_reason(error, groups) for error in decoded.errors], pa.string()),
        "key": pa.array([keys[row] for row in places], pa.binary()),
        "value": pa.array([values[row] for row in places], pa.binary()),
    }
    return with_day(pa.table(columns), DECODE_ERRORS)


def _reason(error: DecodeError, groups: Mapping[int, str]) -> str:
    """Why it could not be read, with the group where only a part of the group's record could not be."""
    return f"group {groups[error.row]}: {error.reason}" if error.row in groups else error.reason


def times(milliseconds: NDArray[np.int64]) -> pa.Array:
    """Milliseconds since 1970 as times; null if negative or after LATEST_MS."""
    sound = (milliseconds >= 0) & (milliseconds <= LATEST_MS)
    return pa.array((np.where(sound, milliseconds, 0) * 1000).view("datetime64[us]"), TIME, mask=~sound)


def texts(blobs: BytesColumn) -> pa.Array:
    """UTF-8 bytes as strings; invalid bytes become U+FFFD."""
    try:
        return _binary(blobs).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(blobs.texts(), pa.string())


def _binary(blobs: BytesColumn) -> pa.Array:
    present: Flags = blobs.lengths >= 0
    lengths = np.where(present, blobs.lengths, 0)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    places = np.repeat(blobs.starts - ends[:-1], lengths) + np.arange(ends[-1])
    buffers = [_bits(present), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(blobs.data[places])]
    return pa.Array.from_buffers(pa.binary(), len(blobs), buffers)


def _bits(flags: Flags) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))


def _ids(ids: NDArray[np.uint8]) -> pa.Array:
    """Topic ids: uint8[n, 16] -> binary; zeros become null."""
    whole = pa.py_buffer(np.ascontiguousarray(ids))
    fixed = pa.Array.from_buffers(pa.binary(_ID_BYTES), len(ids), [_bits(np.any(ids != 0, axis=1)), whole])
    return fixed.cast(pa.binary())


def _numbers(column: NDArray[Any], rows: NDArray[np.int64]) -> pa.Array:
    taken = column[rows]
    return pa.array(taken, mask=taken == NONE)


def _with_bytes(event: GroupEvent, keys: BytesColumn, values: BytesColumn) -> Iterator[dict[str, Any]]:
    """The rows of the event; only the first has the record's bytes."""
    for number, row in enumerate(_event(event)):
        first = number == 0
        yield row | {"key": keys[event.row] if first else None, "value": values[event.row] if first else None}


def _event(event: GroupEvent) -> Iterator[dict[str, Any]]:
    base: dict[str, Any] = {
        "row": event.row,
        "group_id": event.group_id,
        "record_type": event.record_type,
        "member_id": event.member_id,
        "tombstone": event.tombstone,
    }
    if isinstance(event.value, group_values.GroupMetadata):
        return (base | row for row in _classic(event.value))
    return iter([base | _value_columns(event.value)])


def _classic(value: group_values.GroupMetadata) -> Iterator[dict[str, Any]]:
    group = {
        "generation_or_epoch": value.generation,
        "protocol_type": value.protocol_type,
        "protocol": value.protocol,
        "n_members": len(value.members),
    }
    if not value.members:
        yield group
    for member in value.members:
        assigned = member.assignment.partitions if member.assignment else None
        yield group | {
            "member_id": member.member_id,
            "client_id": member.client_id,
            "client_host": member.client_host,
            "instance_id": member.instance_id,
            "assignment": None if assigned is None else [_named(one.topic, None, one.partitions) for one in assigned],
        }


def _value_columns(value: Message | None) -> dict[str, Any]:
    """The columns that a value of any other record type has."""
    named: dict[str, Any] = {
        column: getattr(value, attribute) for attribute, column in _ATTRIBUTES.items() if hasattr(value, attribute)
    }
    for attribute in ("topic_partitions", "assigned_partitions"):
        if hasattr(value, attribute):
            named["assignment"] = [
                _named(None, one.topic_id.bytes, one.partitions) for one in getattr(value, attribute)
            ]
    return named


_ATTRIBUTES = {
    "epoch": "generation_or_epoch",
    "member_epoch": "generation_or_epoch",
    "assignment_epoch": "assignment_epoch",
    "server_assignor": "protocol",
    "state": "state",
    "client_id": "client_id",
    "client_host": "client_host",
    "instance_id": "instance_id",
}


def _named(topic: str | None, topic_id: bytes | None, partitions: tuple[int, ...]) -> dict[str, Any]:
    return {"topic": topic, "topic_id": topic_id, "partitions": list(partitions)}
