"""Keys and values as Kafka's own generated classes write them, and what Kafka's own reader makes of the same bytes.

Contents are drawn after Java's schemas, not ours: a field that we do not know would be noticed. Java's reader is
GroupCoordinatorRecordSerde; where it throws, ours must report an error, and where not, give the same fields.
"""

import dataclasses
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, get_type_hints
from uuid import UUID

import jpype

from lag.records import BytesColumn, Decoded, GroupEvent, decode
from lag.records.consumer_protocol import MemberAssignment, Subscription
from lag.records.message_schema import Since
from lag.records.record_types import OFFSET_COMMITS
from tests.oracle.tally import Checked, generator
from tests.support.commit_rows import Commit, rows

NAME = "records"
LEGAL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
_GENERATED = "org.apache.kafka.coordinator.group.generated."
_ZERO_ID = "AAAAAAAAAAAAAAAAAAAAAA"

Record = tuple[bytes | None, bytes | None]


@lru_cache(None)
def _java(name: str) -> Any:
    return jpype.JClass(name)


@dataclass(frozen=True)
class Written:
    """A record as Java wrote it."""

    record_type: int
    version: int
    key: bytes
    value: bytes


def record_types() -> list[int]:
    """The numbers of all kinds that Java knows."""
    return [int(one.id()) for one in _java(_GENERATED + "CoordinatorRecordType").values()]


def versions(record_type: int) -> range:
    """The versions of a kind's value."""
    value = _record_type(record_type).newRecordValue()
    return range(int(value.lowestSupportedVersion()), int(value.highestSupportedVersion()) + 1)


def _record_type(record_type: int) -> Any:
    return _java(_GENERATED + "CoordinatorRecordType").fromId(jpype.JShort(record_type))


def write(r: random.Random, record_type: int, version: int) -> Written:
    """A record of that kind and version with random contents, some with tags that no release has."""
    kind = _record_type(record_type)
    key = message(r, kind.newRecordKey().getClass(), 0)
    value = message(r, kind.newRecordValue().getClass(), version)
    if r.random() < 0.3:
        _add_unknown_tags(r, value, version)
    return Written(record_type, version, _prefixed(record_type, key, 0), _prefixed(version, value, version))


def _prefixed(prefix: int, message: Any, version: int) -> bytes:
    cache = _java("org.apache.kafka.common.protocol.ObjectSerializationCache")()
    size = message.size(cache, jpype.JShort(version))
    buffer = _java("java.nio.ByteBuffer").allocate(size + 2)
    buffer.putShort(jpype.JShort(prefix))
    message.write(_java("org.apache.kafka.common.protocol.ByteBufferAccessor")(buffer), cache, jpype.JShort(version))
    return bytes(buffer.array())


def message(r: random.Random, kind: Any, version: int) -> Any:
    """A message of one of Java's generated classes with random contents."""
    document = _draw(r, kind.getField(f"SCHEMA_{version}").get(None))
    node = _java("com.fasterxml.jackson.databind.ObjectMapper")().readTree(json.dumps(document))
    return _java(f"{kind.getName()}JsonConverter").read(node, jpype.JShort(version))


def _add_unknown_tags(r: random.Random, message: Any, version: int) -> None:
    schema = message.getClass().getField(f"SCHEMA_{version}").get(None)
    if any(str(field.def_.name) == "_tagged_fields" for field in schema.fields()):
        for tag in sorted(r.sample((5, 99, 127, 128, 70_000), r.randrange(1, 4))):
            data = jpype.JArray(jpype.JByte)(r.randbytes(r.choice((0, 1, 16, 300))))
            message.unknownTaggedFields().add(_java("org.apache.kafka.common.protocol.types.RawTaggedField")(tag, data))


def _draw(r: random.Random, kind: Any) -> Any:
    """A random value of a Java schema's type, as the JSON that Java's converter reads."""
    if hasattr(kind, "fields"):
        return _draw_struct(r, kind)
    element = kind.arrayElementType() if hasattr(kind, "arrayElementType") else None
    if element is not None and element.isPresent():
        few = [_draw(r, element.get()) for _ in range(r.choice((0, 1, 1, 2, 3, 6)))]
        return None if kind.isNullable() and r.random() < 0.2 else few
    return None if kind.isNullable() and r.random() < 0.3 else _draw_plain(r, str(kind).removeprefix("COMPACT_"))


def _draw_struct(r: random.Random, kind: Any) -> Any:
    if kind.isNullable() and r.random() < 0.3:
        return None
    drawn = {}
    for field in kind.fields():
        name = str(field.def_.name)
        if name != "_tagged_fields":
            drawn[camel(name)] = _draw(r, field.def_.type)
            continue
        for tagged in field.def_.type.fields().values():
            if r.random() < 0.6:
                drawn[camel(str(tagged.name))] = _draw(r, tagged.type)
    return drawn


def _draw_plain(r: random.Random, name: str) -> Any:
    name = name.removeprefix("NULLABLE_")
    match name:
        case "BOOLEAN":
            return r.random() < 0.5
        case "INT8" | "INT16" | "INT32" | "INT64":
            bits = int(name[3:])
            low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
            return r.choice((0, -1, 1, low, high, r.randint(low, high)))
        case "UINT16":
            return r.choice((0, 9092, 65535))
        case "UUID":
            return r.choice((_ZERO_ID, str(_java("org.apache.kafka.common.Uuid")(*_longs(r)).toString())))
        case "BYTES":
            return _base64(r)
        case "STRING":
            return draw_text(r)
    raise AssertionError(f"Java has a type that is not drawn: {name}")


def _longs(r: random.Random) -> list[Any]:
    return [jpype.JLong(r.randint(-(2**63), 2**63 - 1)) for _ in range(2)]


def _base64(r: random.Random) -> str:
    data = jpype.JArray(jpype.JByte)(r.choice((b"", r.randbytes(40), b"\x00\x03\x00\x00\x00\x00")))
    return str(_java("java.util.Base64").getEncoder().encodeToString(data))


def draw_text(r: random.Random) -> str:
    """Names and metadata: empty, short, with every legal character, of other alphabets, up to 4 KB long."""
    alphabet = r.choice((LEGAL, LEGAL, 'aé漢𝄞\0"\\'))
    length = r.choice((0, 1, 7, 7, 30, 63, 64, 126, 127, 128, 249, 4096 if r.random() < 0.1 else 12))
    return "".join(r.choices(alphabet, k=length))


def camel(name: str) -> str:
    """`topic_id` -> `topicId`, as Java calls its getters."""
    return re.sub(r"_(.)", lambda found: found[1].upper(), name)


@dataclass(frozen=True)
class JavaRecord:
    """What Java read."""

    key: Any
    value: Any


def java_reads(key: bytes, value: bytes | None) -> JavaRecord | None:
    """What Kafka's reader makes of a record; None when it throws."""
    serde = _java("org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde")()
    try:
        record = serde.deserialize(_buffer(key), None if value is None else _buffer(value))
    except jpype.JException:
        return None
    return JavaRecord(record.key(), None if record.value() is None else record.value().message())


def _buffer(data: bytes) -> Any:
    return _java("java.nio.ByteBuffer").wrap(jpype.JArray(jpype.JByte)(data))


def ours(records: Sequence[Record]) -> tuple[Decoded, list[Any]]:
    """Decoded together; for each row the commit, the event, or None where it could not be read or is unknown."""
    decoded = decode(BytesColumn.of(key for key, _ in records), BytesColumn.of(value for _, value in records))
    by_row: list[Any] = [None] * len(records)
    for row, commit in zip(decoded.commits.rows.tolist(), rows(decoded.commits), strict=True):
        by_row[row] = commit
    for event in decoded.events:
        by_row[event.row] = event
    return decoded, by_row


WRITTEN = 20
"""Records of one number; each of them comes as it was written, as a tombstone, and damaged."""


class RecordsOracle:
    """Random records, whole and damaged, read by Kafka's reader and by ours. The JVM must run."""

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """The records of one number, decoded as one batch."""
        r = generator(seed, number)
        kinds = record_types()
        records: list[tuple[bytes, bytes | None]] = []
        for _ in range(WRITTEN):
            kind = r.choice((*OFFSET_COMMITS, r.choice(kinds)))
            written = write(r, kind, r.choice(versions(kind)))
            records += [(written.key, written.value), (written.key, None), damaged(r, written)]
        _, found = ours(records)
        for record, our in zip(records, found, strict=True):
            yield Checked(NAME, compare(record, our))


def damaged(r: random.Random, written: Written) -> tuple[bytes, bytes]:
    """The record with bytes lost, added or changed, in its value or in its key after the type."""
    if r.random() < 0.7:
        return written.key, _damage(r, written.value)
    return written.key[:2] + _damage(r, written.key[2:]), written.value


def _damage(r: random.Random, data: bytes) -> bytes:
    at = r.randrange(len(data) + 1)
    new = r.choice((b"", b"", b"\x00", b"\xff", b"\x7f\xff", r.randbytes(3)))
    return data[:at] + new + data[at + r.choice((0, 1, len(new), len(data))) :]


def compare(record: tuple[bytes, bytes | None], our: Any) -> str:
    """How ours differs from Java's reading of the record; where the two differ on purpose, whether ours is refused."""
    key, value = record
    kind = int.from_bytes(key[:2], "big", signed=True)
    version = 0 if value is None else int.from_bytes(value[:2], "big", signed=True)
    newest = versions(kind)[-1]
    if value is not None and len(value) > 1 and not 0 <= version <= newest:
        allowed = kind == 0  # see lag.records.single_record: as in brokers before 4.0
        return "" if our is None or allowed else f"version {version} is read: {our}"
    return difference(kind, version, our, java_reads(key, value))


def difference(record_type: int, version: int, our: Any, java: JavaRecord | None) -> str:
    """How ours differs from Java's reading; "" when it does not."""
    if our is None or java is None:
        return "" if our is java else f"ours: {our}, Java: {java}"
    if record_type in OFFSET_COMMITS:
        return _commit_difference(our, java, version)
    return _event_difference(our, java, version)


def _commit_difference(our: Commit, java: JavaRecord, version: int) -> str:
    key = java.key
    theirs: list[Any] = [str(key.group()), str(key.topic()), int(key.partition()), java.value is None]
    if java.value is None:
        theirs += [None] * 6
    else:
        value = java.value
        new = hasattr(value, "leaderEpoch")  # the value of a key of type 0 has but four fields
        theirs += [int(value.offset()), _known(int(value.leaderEpoch())) if new else None, str(value.metadata())]
        theirs += [int(value.commitTimestamp()), _known(int(value.expireTimestamp())) if new else None]
        theirs += [_uuid(value.topicId()) if new else None]
    mine = list(dataclasses.astuple(our))
    return "" if mine == theirs else f"ours: {mine}, Java: {theirs}, v{version}"


def _known(number: int) -> int | None:
    return None if number == -1 else number


def _event_difference(our: GroupEvent, java: JavaRecord, version: int) -> str:
    names = [our.group_id, *(name for name in (our.member_id, our.regular_expression) if name is not None)]
    schema = java.key.getClass().getField("SCHEMA_0").get(None)
    theirs = [str(getattr(java.key, camel(str(field.def_.name)))()) for field in schema.fields()]
    if names != theirs:
        return f"key: ours {names}, Java {theirs}"
    if our.value is None or java.value is None:
        return "" if our.value is java.value else f"value: ours {our.value}, Java {java.value}"
    mine, expected = _plain(our.value, version), _as_ours(java.value, version)
    return "" if mine == expected else f"{our.kind} v{version}: ours {mine}, Java {expected}"


def _as_ours(value: Any, version: int) -> Any:
    """Java's message as a list of its fields: those of the version in their order, then the tagged ones."""
    schema = value.getClass().getField(f"SCHEMA_{version}").get(None)
    names: list[str] = []
    for field in schema.fields():
        tagged = str(field.def_.name) == "_tagged_fields"
        names += [str(one.name) for one in field.def_.type.fields().values()] if tagged else [str(field.def_.name)]
    return [_java_plain(getattr(value, camel(name))(), version) for name in names]


def _java_plain(value: Any, version: int) -> Any:
    if value is None or isinstance(value, int | bool):
        return None if value is None else int(value)
    if isinstance(value, jpype.JString):
        return str(value)
    if isinstance(value, jpype.JArray(jpype.JByte)):
        return bytes(value)
    if isinstance(value, _java("org.apache.kafka.common.Uuid")):
        return _uuid(value)
    if isinstance(value, _java("java.util.Collection")):
        return [_java_plain(one, version) for one in value]
    if isinstance(value, _java("java.lang.Number")):
        return int(value)
    return _as_ours(value, version)


def _uuid(value: Any) -> UUID | None:
    halves = (int(value.getMostSignificantBits()) % 2**64, int(value.getLeastSignificantBits()) % 2**64)
    return UUID(int=halves[0] << 64 | halves[1]) if any(halves) else None


def _plain(value: Any, version: int) -> Any:
    """Our dataclass as a list of the fields that stand on the wire in that version."""
    if isinstance(value, tuple):
        return [_plain(one, version) for one in value]
    if not dataclasses.is_dataclass(value):
        return value
    hints = get_type_hints(type(value), include_extras=True)
    names = [field.name for field in dataclasses.fields(value) if _on_the_wire(hints[field.name], version)]
    return [_plain(getattr(value, name), version) for name in names]


def _on_the_wire(hint: Any, version: int) -> bool:
    """All of our fields are, but those of later versions, and those that are read from a classic member's bytes."""
    since = [mark.version for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Since)]
    return hint not in (Subscription | None, MemberAssignment | None) and all(version >= first for first in since)
