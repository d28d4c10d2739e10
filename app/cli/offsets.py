"""`groupscope offsets decode`: what a file of records of `__consumer_offsets` says, record by record or in total."""

import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from functools import cache, lru_cache
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import typer

from app.cli.shared.options import STDIN, Json, WithArguments, new_command
from app.cli.shared.output import emit_json, emit_json_lines, emit_table, note, report_error
from lag.errors import ConfigError
from lag.records import Commits, Decoded, Decoder, GroupEvent
from lag.records.message_schema import Message
from lag.records.model import NONE
from lag.records.record_file import read_frames

COMMIT, UNKNOWN, CORRUPT = "offset_commit", "unknown", "corrupt"
EXPIRING_VERSION = 1
"""The only version of OffsetCommitValue with an `expireTimestamp`."""

_NO_ID = bytes(16)

Document = dict[str, Any]


command = new_command(name="offsets", help="Read records of __consumer_offsets.", no_args_is_help=True)


@command.callback()
def offsets() -> None:  # without it typer makes the only command of the family the family itself
    """Read records of __consumer_offsets."""


@command.command(cls=WithArguments)
def decode(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of records; - reads stdin.")],
    json_lines: Annotated[bool, typer.Option("--json-lines", help="Print one JSON object for each record.")] = False,
    json: Json = False,
) -> None:
    """Show the records in a file.

    Each record is int32 key length, key, int32 value length (-1 = null), value; big-endian. Without --json-lines the
    records are counted by kind. Exit code 1 when the file ends within a record, after the complete ones.
    """
    if not json_lines:
        _summarise(file, json)
        return
    for decoded in _batches(file):
        emit_json_lines(documents(decoded), _as_json)


def _batches(file: str) -> Iterator[Decoded]:
    """Raises ConfigError when the file cannot be read, or is damaged, after what comes before the damage."""
    decoder = Decoder()
    try:
        with _opened(file) as source:
            for keys, values in read_frames(source):
                yield decoder.decode(keys, values)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == STDIN else open(file, "rb")


def documents(decoded: Decoded) -> list[Document]:
    """One for each record, in order. The parts that could not be read are in its `problems`."""
    by_row: dict[int, Document] = dict(zip(decoded.commits.rows.tolist(), _commits(decoded.commits), strict=True))
    by_row |= {event.row: _event(event) for event in decoded.events}
    by_row |= {one.row: {"kind": UNKNOWN, "record_type": one.record_type} for one in decoded.unknown}
    for error in decoded.errors:
        if error.row in by_row:
            by_row[error.row].setdefault("problems", []).append(error.reason)
        else:
            by_row[error.row] = {"kind": CORRUPT, "record_type": error.record_type, "reason": error.reason}
    return [by_row[row] for row in range(decoded.records)]


def _commits(commits: Commits) -> Iterator[Document]:
    ids = commits.topic_ids.tobytes()
    return map(
        _commit,
        commits.group_ids.objects().tolist(),
        commits.topics.objects().tolist(),
        commits.partitions.tolist(),
        commits.versions.tolist(),
        commits.offsets.tolist(),
        commits.leader_epochs.tolist(),
        commits.metadata.texts(),
        commits.commit_ts.tolist(),
        (ids[at : at + 16] for at in range(0, len(ids), 16)),
        commits.expire_ts.tolist(),
    )


def _commit(
    group_id: str,
    topic: str,
    partition: int,
    version: int,
    offset: int,
    epoch: int,
    metadata: str | None,
    commit_ts: int,
    topic_id: bytes,
    expire_ts: int,
) -> Document:
    if version == NONE:
        return {"kind": COMMIT, "group_id": group_id, "topic": topic, "partition": partition, "tombstone": True}
    document: Document = {
        "kind": COMMIT,
        "group_id": group_id,
        "topic": topic,
        "partition": partition,
        "offset": offset,
        "leader_epoch": None if epoch == NONE else epoch,
        "metadata": metadata,
        "commit_ts": commit_ts,
        "topic_id": _id(topic_id),
    }
    if version == EXPIRING_VERSION:
        document["expire_ts"] = None if expire_ts == NONE else expire_ts
    return document


@lru_cache(100_000)
def _id(topic_id: bytes) -> str | None:
    return None if topic_id == _NO_ID else str(UUID(bytes=topic_id))


def _event(event: GroupEvent) -> Document:
    names = {"member_id": event.member_id, "regular_expression": event.regular_expression}
    document: Document = {"kind": event.kind, "group_id": event.group_id}
    document |= {name: value for name, value in names.items() if value is not None}
    if event.value is None:
        return document | {"tombstone": True}
    return document | {"value_version": event.version, **_fields(event.value)}


def _as_json(value: Any) -> Any:
    """As JSON has it: messages as objects, ids as text, bytes in base64."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return str(value) if isinstance(value, UUID) else _fields(value)


def _fields(message: Message) -> Document:
    return {name: getattr(message, name) for name in _field_names(type(message))}


@cache
def _field_names(kind: type[Message]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _summarise(file: str, as_json: bool) -> None:
    kinds: Counter[str] = Counter()
    types: Counter[int] = Counter()
    damage: ConfigError | None = None
    try:
        for decoded in _batches(file):
            kinds += _kinds(decoded)
            types += decoded.unknown_counts
    except ConfigError as error:
        damage = error
    if damage is not None and not kinds.total():
        raise damage
    _print(kinds, types, damage, as_json)
    if damage is not None:
        report_error(damage, as_json=False)
        raise typer.Exit(1)


def _kinds(decoded: Decoded) -> Counter[str]:
    kinds = Counter(event.kind for event in decoded.events)
    kinds[COMMIT] += len(decoded.commits)
    kinds[UNKNOWN] += len(decoded.unknown)
    kinds[CORRUPT] += decoded.records - kinds.total()
    return kinds


def _print(kinds: Counter[str], types: Counter[int], damage: ConfigError | None, as_json: bool) -> None:
    if as_json:
        document: Document = {"records": kinds.total(), "kinds": +kinds, "unknown_types": types}
        emit_json(document | ({"error": {"cause": damage.cause, "hint": damage.hint}} if damage else {}))
        return
    emit_table(("KIND", "RECORDS"), [(kind, f"{count:,}") for kind, count in (+kinds).most_common()], right=[1])
    if types:
        note(f"unknown record types: {', '.join(map(str, sorted(types)))}")
