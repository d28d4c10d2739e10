"""Subscriptions and assignments as consumers write them (Kafka: `ConsumerProtocol`, version 3).

    subscription = version, topics, user data, owned partitions, generation, rack
    assignment   = version, partitions, user data

Version and lengths of texts are int16, all other numbers int32, big-endian; a length of -1 stands for null.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from assignors.model import Member, TopicPartition

VERSION = 3
_SHORT, _INT = struct.Struct(">h"), struct.Struct(">i")
_NULL_BYTES, _NULL_TEXT = _INT.pack(-1), _SHORT.pack(-1)


def encode_subscription(member: Member) -> bytes:
    """The subscription of a join request; topics and owned partitions are sorted, as in Kafka's consumer."""
    parts = [
        _SHORT.pack(VERSION),
        _INT.pack(len(member.topics)),
        *map(_text, sorted(member.topics)),
        _NULL_BYTES if member.user_data is None else _INT.pack(len(member.user_data)) + member.user_data,
        _partitions(sorted(member.owned)),
        _INT.pack(-1 if member.generation is None else member.generation),
        _NULL_TEXT if member.rack is None else _text(member.rack),
    ]
    return b"".join(parts)


def decode_subscription(data: bytes, member_id: str, instance_id: str | None) -> Member:
    """The member as the leader sees it. Raises struct.error on bytes that `encode_subscription` did not write."""
    reader = _Reader(data)
    reader.int16()
    topics = tuple(reader.text() or "" for _ in range(reader.int32()))
    user_data, owned, generation, rack = reader.data(), tuple(reader.partitions()), reader.int32(), reader.text()
    known = None if generation < 0 else generation
    return Member(member_id, instance_id, rack=rack, topics=topics, owned=owned, generation=known, user_data=user_data)


def encode_assignment(partitions: Sequence[TopicPartition]) -> bytes:
    """A member's assignment."""
    return _SHORT.pack(VERSION) + _partitions(partitions) + _NULL_BYTES


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """The partitions of an assignment; none if the leader did not assign the member."""
    if not data:
        return ()
    reader = _Reader(data)
    reader.int16()
    return tuple(reader.partitions())


def _text(text: str) -> bytes:
    data = text.encode()
    return _SHORT.pack(len(data)) + data


def _partitions(partitions: Iterable[TopicPartition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, group in groupby(partitions, itemgetter(0)):
        by_topic.setdefault(topic, []).extend(map(itemgetter(1), group))
    parts = [_INT.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        parts += (_text(topic), struct.pack(f">{len(numbers) + 1}i", len(numbers), *numbers))
    return b"".join(parts)


class _Reader:
    """Reads from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def int16(self) -> int:
        return self._take(_SHORT)

    def int32(self) -> int:
        return self._take(_INT)

    def text(self) -> str | None:
        length = self.int16()
        return None if length < 0 else self._slice(length).decode()

    def data(self) -> bytes | None:
        length = self.int32()
        return None if length < 0 else self._slice(length)

    def partitions(self) -> Iterator[TopicPartition]:
        for _ in range(self.int32()):
            topic, count = self.text() or "", self.int32()
            numbers = struct.unpack_from(f">{count}i", self._data, self._at)
            self._at += count * _INT.size
            yield from (TopicPartition(topic, number) for number in numbers)

    def _take(self, kind: struct.Struct) -> int:
        (number,) = kind.unpack_from(self._data, self._at)
        self._at += kind.size
        return int(number)

    def _slice(self, length: int) -> bytes:
        self._at += length
        return self._data[self._at - length : self._at]
