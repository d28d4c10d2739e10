"""Decodes single records of all types. What Java's reader refuses is an error with its reason.

Source: GroupCoordinatorRecordSerde of Kafka 4.3.1. Two intended differences: a value with an unknown newer version is
an error (Java reads it as the newest known one), and a key of type 0 may have a value of any version, as before 4.0.
"""

from dataclasses import dataclass, replace
from typing import Any

from lag.records.consumer_protocol import PROTOCOL_TYPE, read_member
from lag.records.group_values import ClassicMember, GroupMetadata
from lag.records.message_schema import read_message, read_tagged
from lag.records.model import NONE, DecodeError, GroupEvent, UnknownRecord
from lag.records.record_types import OFFSET_COMMIT_VERSIONS, OFFSET_COMMITS, RECORD_TYPES, RecordType
from lag.records.wire_reader import Cursor, Malformed, present

_TYPE_BYTES = 2


@dataclass(frozen=True, slots=True)
class SingleCommit:
    """An offset commit; -1: not in the record. The metadata is `value[metadata_at : metadata_at + metadata_size]`."""

    group_id: str
    topic: str
    partition: int
    version: int = NONE
    offset: int = NONE
    leader_epoch: int = NONE
    metadata_at: int = 0
    metadata_size: int = NONE
    commit_ts: int = NONE
    expire_ts: int = NONE
    topic_id: bytes = bytes(16)

    @property
    def tombstone(self) -> bool:
        """Whether the record deletes the commit."""
        return self.version == NONE


Read = SingleCommit | GroupEvent | UnknownRecord | DecodeError


def read_single(row: int, key: bytes | None, value: bytes | None) -> tuple[Read, ...]:
    """The record, and a DecodeError for each part of it that could not be read. Never raises."""
    if key is None or len(key) < _TYPE_BYTES:
        reason = "null" if key is None else f"{len(key)} bytes, where its type needs {_TYPE_BYTES}"
        return (DecodeError(row, None, f"key: {reason}"),)
    record_type = int.from_bytes(key[:_TYPE_BYTES], "big", signed=True)
    try:
        return tuple(_read(row, record_type, key, value))
    except Malformed as error:
        return (DecodeError(row, record_type, str(error)),)


def _read(row: int, record_type: int, key: bytes, value: bytes | None) -> list[Read]:
    if record_type in OFFSET_COMMITS:
        return [_commit(key, value)]
    if record_type not in RECORD_TYPES:
        return [UnknownRecord(row, record_type)]
    event = _with_members(_event(row, record_type, RECORD_TYPES[record_type], key, value))
    return [event, *(DecodeError(row, record_type, problem) for problem in event.problems)]


def _names(key: bytes, *names: str) -> tuple[Cursor, list[str]]:
    """The cursor after the names in the key, and the names."""
    cursor, found = Cursor(key, _TYPE_BYTES), []
    for name in names:
        try:
            found.append(present(cursor.text_or_none(False)))
        except Malformed as error:
            raise error.within(name).within("key") from None
    return cursor, found


def _event(row: int, record_type: int, kind: RecordType, key: bytes, value: bytes | None) -> GroupEvent:
    second = {} if kind.second_key is None else {kind.second_key: ""}
    _, names = _names(key, "group_id", *second)
    named: dict[str, Any] = dict(zip(second, names[1:], strict=True))
    if value is None:
        return GroupEvent(row, record_type, kind.name, names[0], **named)
    try:
        cursor = Cursor(value)
        version = _version(cursor, kind.value.VERSIONS)
        message = read_message(kind.value, cursor, version)
    except Malformed as error:
        raise error.within("value") from None
    return GroupEvent(row, record_type, kind.name, names[0], **named, version=version, value=message)


def _version(cursor: Cursor, known: range) -> int:
    version = cursor.int16()
    if version not in known:
        raise Malformed(f"version {version}, where 0 to {known[-1]} are known")
    return version


def _commit(key: bytes, value: bytes | None) -> SingleCommit:
    cursor, (group_id, topic) = _names(key, "group_id", "topic")
    try:
        partition = cursor.int32()
    except Malformed as error:
        raise error.within("key.partition") from None
    if value is None:
        return SingleCommit(group_id, topic, partition)
    try:
        return _commit_value(SingleCommit(group_id, topic, partition), Cursor(value))
    except Malformed as error:
        raise error.within("value") from None


def _commit_value(commit: SingleCommit, cursor: Cursor) -> SingleCommit:
    version = _version(cursor, OFFSET_COMMIT_VERSIONS)
    compact = version >= 4
    offset = cursor.int64()
    leader_epoch = cursor.int32() if version >= 3 else NONE
    metadata_at, metadata_size = present(cursor.text_span(compact))
    commit_ts = cursor.int64()
    expire_ts = cursor.int64() if version == 1 else NONE
    tags = read_tagged(cursor, {0: ("topic_id", lambda at: at.take(16))}) if compact else {}
    return replace(
        commit,
        version=version,
        offset=offset,
        leader_epoch=leader_epoch,
        metadata_at=metadata_at,
        metadata_size=metadata_size,
        commit_ts=commit_ts,
        expire_ts=expire_ts,
        **tags,
    )


def _with_members(event: GroupEvent) -> GroupEvent:
    """The event with the decoded subscriptions and assignments of a classic consumer group's members."""
    if not isinstance(event.value, GroupMetadata) or event.value.protocol_type != PROTOCOL_TYPE:
        return event
    problems: list[str] = []
    members = tuple(_member(member, problems) for member in event.value.members)
    return replace(event, value=replace(event.value, members=members), problems=tuple(problems))


def _member(member: ClassicMember, problems: list[str]) -> ClassicMember:
    read = read_member(member.subscription_bytes, member.assignment_bytes)
    problems += (f"{part} of member {member.member_id}: {reason}" for part, reason in read.problems)
    return replace(member, subscription=read.subscription, assignment=read.assignment)
