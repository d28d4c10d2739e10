"""Reads messages declared as dataclasses: a field's annotation is its wire type.

`Int32`, `Text`, ... are plain fields, a tuple is an array, a dataclass is a struct; `Since(n)` fields are absent before
version n, `Tag(n)` fields are tagged. Fields without a wire type are not read and keep their defaults. From version
FLEXIBLE_SINCE on, lengths are compact and every struct ends with tagged fields; unknown tags are skipped (KIP-482).
"""

from collections.abc import Callable
from dataclasses import Field, dataclass, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from lag.records.wire_reader import Cursor, Malformed, present

Read = Callable[[Cursor], Any]


@dataclass(frozen=True, slots=True)
class Plain:
    """A wire type with one encoding for all versions."""

    read: Read


@dataclass(frozen=True, slots=True)
class Sized:
    """A wire type with a length prefix, which is compact in flexible versions."""

    read: Callable[[Cursor, bool], Any]
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Since:
    """The first version that has the field."""

    version: int


@dataclass(frozen=True, slots=True)
class Tag:
    """The field's number among the tagged fields."""

    number: int


class Nullable:
    """A nullable array or struct: after a byte (below 0: null), or if tagged after a length (0: null)."""


NULLABLE = Nullable()

Int8 = Annotated[int, Plain(Cursor.int8)]
Int16 = Annotated[int, Plain(Cursor.int16)]
UInt16 = Annotated[int, Plain(Cursor.uint16)]
Int32 = Annotated[int, Plain(Cursor.int32)]
Int64 = Annotated[int, Plain(Cursor.int64)]
Int32OrAbsent = Annotated[int | None, Plain(Cursor.int32)]
Int64OrAbsent = Annotated[int | None, Plain(Cursor.int64)]
Uuid = Annotated[UUID | None, Plain(Cursor.uuid)]
Text = Annotated[str, Sized(Cursor.text_or_none)]
TextOrNone = Annotated[str | None, Sized(Cursor.text_or_none, nullable=True)]
Bytes = Annotated[bytes, Sized(Cursor.bytes_or_none)]
BytesOrNone = Annotated[bytes | None, Sized(Cursor.bytes_or_none, nullable=True)]


class Message(Protocol):
    """A message type: a dataclass with the range of its versions."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    VERSIONS: ClassVar[range]
    FLEXIBLE_SINCE: ClassVar[int]


Made = TypeVar("Made", bound=Message)


def read_message(kind: type[Made], cursor: Cursor, version: int) -> Made:
    """One message of that version. Raises Malformed."""
    made: Made = _struct(kind, version, version >= kind.FLEXIBLE_SINCE)(cursor)
    return made


def read_leading(kind: type[Made], cursor: Cursor, version: int) -> Made:
    """One message without tagged fields, of which the last fields may be missing. Raises Malformed.

    Fields that the bytes end before have their defaults; the first one must be there.
    """
    values: dict[str, Any] = {}
    for name, read in _readers(kind, version, False)[0].items():
        if values and cursor.at == len(cursor.data):
            break
        values[name] = _read_field(name, read, cursor)
    return kind(**values)


@cache
def _readers(kind: type[Any], version: int, flexible: bool) -> tuple[dict[str, Read], dict[int, tuple[str, Read]]]:
    """The readers of the plain fields by name, and of the tagged ones, with their names, by tag."""
    plain: dict[str, Read] = {}
    tagged: dict[int, tuple[str, Read]] = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        read = (
            None
            if any(isinstance(m, Since) and m.version > version for m in marks)
            else _field(hint, version, flexible)
        )
        if read is None:
            continue
        tag = next((mark.number for mark in marks if isinstance(mark, Tag)), None)
        if tag is None:
            plain[name] = read
        elif flexible:
            tagged[tag] = (name, read)
    return plain, tagged


@cache
def _struct(kind: type[Any], version: int, flexible: bool) -> Read:
    plain, tagged = _readers(kind, version, flexible)  # type: ignore[arg-type]

    def read_struct(cursor: Cursor) -> Any:
        values = {name: _read_field(name, read, cursor) for name, read in plain.items()}
        if flexible:
            values |= read_tagged(cursor, tagged)
        return kind(**values)

    return read_struct


def _field(hint: Any, version: int, flexible: bool) -> Read | None:
    """The reader of a field with this annotation; None if the field has no wire type."""
    marks = getattr(hint, "__metadata__", ())
    for mark in marks:
        if isinstance(mark, Plain):
            return mark.read
        if isinstance(mark, Sized):
            return _sized(mark, flexible)
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if NULLABLE in marks:
        kind = get_args(kind)[0]
    if get_origin(kind) is tuple:
        return _array(_field(get_args(kind)[0], version, flexible), flexible, NULLABLE in marks)
    if not is_dataclass(kind):
        return None
    read = _struct(kind, version, flexible)  # type: ignore[arg-type]
    if NULLABLE not in marks:
        return read
    if any(isinstance(mark, Tag) for mark in marks):
        return lambda cursor: None if cursor.varint() <= 0 else read(cursor)
    return lambda cursor: None if cursor.int8() < 0 else read(cursor)


def _sized(mark: Sized, flexible: bool) -> Read:
    if mark.nullable:
        return lambda cursor: mark.read(cursor, flexible)
    return lambda cursor: present(mark.read(cursor, flexible))


def _array(read: Read | None, flexible: bool, nullable: bool) -> Read | None:
    if read is None:
        return None

    def read_array(cursor: Cursor) -> tuple[Any, ...] | None:
        size = cursor.count(flexible)
        if size < 0 and not nullable:
            raise Malformed("null, but the list is not nullable")
        return None if size < 0 else tuple(read(cursor) for _ in range(size))

    return read_array


def _read_field(name: str, read: Read, cursor: Cursor) -> Any:
    try:
        return read(cursor)
    except Malformed as error:
        raise error.within(name) from None


def read_tagged(cursor: Cursor, known: dict[int, tuple[str, Read]]) -> dict[str, Any]:
    """The tagged fields by name. Known tags are read by type, ignoring their size (as in Java); others are skipped."""
    values = {}
    for _ in range(cursor.varint()):
        tag, size = cursor.varint(), cursor.varint()
        if tag in known:
            name, read = known[tag]
            values[name] = _read_field(name, read, cursor)
        else:
            cursor.take(size)
    return values
