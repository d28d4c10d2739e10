"""Values in bytes as Kafka's protocol types have them (INT16, INT32, STRING, BYTES, ARRAY), big-endian.

The length of a text is int16, that of bytes and arrays int32; -1 stands for null.
"""

import struct
from collections.abc import Mapping, Sequence

from assignors.model import TopicPartition

INT16, INT32 = struct.Struct(">h"), struct.Struct(">i")


def text(value: str | None) -> bytes:
    """A STRING in UTF-8."""
    if value is None:
        return INT16.pack(-1)
    data = value.encode()
    return INT16.pack(len(data)) + data


def data(value: bytes | None) -> bytes:
    """BYTES."""
    return INT32.pack(-1) if value is None else INT32.pack(len(value)) + value


def partitions(by_topic: Mapping[str, Sequence[int]]) -> bytes:
    """An ARRAY of topics, each with an ARRAY of partition numbers."""
    parts = [INT32.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        parts += (text(topic), struct.pack(f">{len(numbers) + 1}i", len(numbers), *numbers))
    return b"".join(parts)


class Reader:
    """Reads values from the front. Raises struct.error when a length is impossible or the bytes end too early."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def int16(self) -> int:
        return self._number(INT16)

    def int32(self) -> int:
        return self._number(INT32)

    def count(self) -> int:
        """The size of an ARRAY."""
        return self._possible(self.int32())

    def text(self) -> str | None:
        """A STRING; bytes that are not UTF-8 become U+FFFD, as in Java."""
        length = self.int16()
        return None if length == -1 else self._slice(length).decode(errors="replace")

    def name(self) -> str:
        """A STRING that is not null."""
        return self._slice(self.int16()).decode(errors="replace")

    def data(self) -> bytes | None:
        """BYTES."""
        length = self.int32()
        return None if length == -1 else self._slice(length)

    def partitions(self) -> tuple[TopicPartition, ...]:
        """An ARRAY of topics, each with an ARRAY of partition numbers."""
        found: list[TopicPartition] = []
        for _ in range(self.count()):
            topic, count = self.name(), self.count()
            numbers = struct.unpack_from(f">{count}i", self._data, self._at)
            self._at += count * INT32.size
            found += [TopicPartition(topic, number) for number in numbers]
        return tuple(found)

    def _number(self, kind: struct.Struct) -> int:
        (number,) = kind.unpack_from(self._data, self._at)
        self._at += kind.size
        return int(number)

    def _slice(self, length: int) -> bytes:
        self._at += self._possible(length)
        return self._data[self._at - length : self._at]

    def _possible(self, length: int) -> int:
        if not 0 <= length <= self.left:
            raise struct.error(f"a length of {length} with {self.left} bytes left")
        return length
