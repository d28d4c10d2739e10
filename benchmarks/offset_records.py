"""A million offset commits as a busy cluster writes them: v3 and v4, with and without topic ids, tombstones among them.

2,000 groups read 5 topics of 10 partitions each: 100,000 keys, in random order, which is the hardest for a decoder
that remembers names.
"""

import random
import struct
from uuid import UUID

RECORDS = 1_000_000
_GROUPS, _TOPICS, _PARTITIONS = 2_000, 5, 10
_BEGIN_MS = 1_795_000_000_000


def records(count: int, seed: int = 1) -> tuple[list[bytes], list[bytes | None]]:
    """Keys and values: 55 % v3, 44 % v4 (two thirds with a topic id), 1 % tombstones; some have metadata."""
    r = random.Random(seed)
    keys, ids = _keys(), [UUID(int=r.getrandbits(128)).bytes for _ in range(_GROUPS * _TOPICS)]
    chosen = r.choices(range(len(keys)), k=count)
    return [keys[place] for place in chosen], [
        _value(r, ids[place // _PARTITIONS], at) for at, place in enumerate(chosen)
    ]


def _keys() -> list[bytes]:
    names = (
        (f"checkout-{g:04}".encode(), f"orders-{g % 97:02}-{t}".encode())
        for g in range(_GROUPS)
        for t in range(_TOPICS)
    )
    return [
        struct.pack(f">hh{len(group)}sh{len(topic)}si", 1, len(group), group, len(topic), topic, partition)
        for group, topic in names
        for partition in range(_PARTITIONS)
    ]


def _value(r: random.Random, topic_id: bytes, at: int) -> bytes | None:
    dice = r.random()
    offset, time_ms = r.getrandbits(40), _BEGIN_MS + at
    metadata = b"" if r.random() < 0.9 else b"consumer-%d" % (at % 1000)
    if dice < 0.01:
        return None
    if dice < 0.56:
        return struct.pack(f">hqih{len(metadata)}sq", 3, offset, 7, len(metadata), metadata, time_ms)
    tags = b"\x01\x00\x10" + topic_id if dice < 0.85 else b"\x00"
    return struct.pack(f">hqib{len(metadata)}sq", 4, offset, 7, len(metadata) + 1, metadata, time_ms) + tags
