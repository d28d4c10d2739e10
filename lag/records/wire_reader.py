"""Reads Kafka's wire types from the bytes of one key or value, as Kafka's generated classes do.

Source: org.apache.kafka.common.protocol.ByteBufferAccessor and ByteUtils of 4.3.1. `Malformed` is raised where they
throw; what they tolerate (extra bytes, invalid UTF-8) is tolerated.
"""

from collections.abc import Callable
from struct import Struct
from struct import error as StructError
from typing import TypeVar
from uuid import UUID

from lag.records.java_text import text

T = TypeVar("T")

_MAX_TEXT_BYTES = 0x7FFF  # bytes
_VARINT_BYTES = 5
_NO_UUID = bytes(16)


class Malformed(Exception):
    """Invalid bytes, with the reason and the path of the field."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason, self.path = reason, path

    def within(self, name: str) -> "Malformed":
        """The same error in a field with that name."""
        return Malformed(self.reason, f"{name}.{self.path}" if self.path else name)


def _number(code: str) -> Callable[["Cursor"], int]:
    """A method that reads a big-endian number; `code` is its format in `struct`."""
    kind = Struct(f">{code}")

    def read(cursor: "Cursor") -> int:
        try:
            number: int = kind.unpack_from(cursor.data, cursor.at)[0]
        except StructError:
            raise cursor._too_short(kind.size) from None
        cursor.at += kind.size
        return number

    return read


class Cursor:
    """Reads from `at` on. Every method raises Malformed if the bytes end or are invalid."""

    __slots__ = ("at", "data")
    int8 = _number("b")
    int16 = _number("h")
    uint16 = _number("H")
    int32 = _number("i")
    int64 = _number("q")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        if not 0 <= size <= len(self.data) - self.at:
            raise self._too_short(size)
        self.at += size
        return self.data[self.at - size : self.at]

    def _too_short(self, size: int) -> Malformed:
        return Malformed(f"{size} bytes wanted at byte {self.at}, {len(self.data) - self.at} are left")

    def uuid(self) -> UUID | None:
        """16 bytes; zeros mean no UUID."""
        data = self.take(16)
        return None if data == _NO_UUID else UUID(bytes=data)

    def varint(self) -> int:
        """`readUnsignedVarint`: at most five bytes, as a signed 32-bit integer."""
        value = 0
        for index in range(_VARINT_BYTES):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
        raise Malformed(f"a length of more than {_VARINT_BYTES} bytes at byte {self.at - _VARINT_BYTES}")

    def count(self, compact: bool) -> int:
        """The length of an array or of bytes; negative: null."""
        if not compact:
            return self.int32()
        return (self.varint() - 1 + 0x80000000 & 0xFFFFFFFF) - 0x80000000  # Java's int overflows

    def bytes_or_none(self, compact: bool) -> bytes | None:
        """A length, then bytes."""
        size = self.count(compact)
        return None if size < 0 else self.take(size)

    def text_span(self, compact: bool) -> tuple[int, int] | None:
        """Start and length in bytes of a text; the cursor moves past it."""
        size = self.count(True) if compact else self.int16()
        if size < 0:
            return None
        if size > _MAX_TEXT_BYTES:
            raise Malformed(f"a string of {size} bytes, where at most {_MAX_TEXT_BYTES} are allowed")
        self.take(size)
        return self.at - size, size

    def text_or_none(self, compact: bool) -> str | None:
        """A length, then text; invalid UTF-8 becomes U+FFFD, as in Java."""
        span = self.text_span(compact)
        return None if span is None else text(self.data[span[0] : self.at])


def present(value: T | None) -> T:
    """The value. Raises Malformed if it is null."""
    if value is None:
        raise Malformed("null, but not nullable")
    return value
