"""Reads files of records: int32 key length, key, int32 value length, value; big-endian, length -1 = null.

Files of any size are read in chunks of a few megabytes.
"""

from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO

import numpy as np

from lag.errors import ConfigError
from lag.records.byte_arrays import NULL, BytesColumn

_LENGTH = Struct(">i")
_CHUNK_BYTES = 1 << 22  # bytes read at a time
_MAX_LENGTH = 1 << 28  # bytes of a key or value; Kafka's default limit is 1 MB
_HINT = "A record is: int32 key length, key, int32 value length (-1 = null), value; big-endian"


def read_frames(file: BinaryIO) -> Iterator[tuple[BytesColumn, BytesColumn]]:
    """Keys and values, about ten thousand at a time.

    Raises ConfigError after all valid records if the file ends within a record or has an invalid length.
    """
    rest, at, records = b"", 0, 0
    while piece := file.read(max(_CHUNK_BYTES, len(rest))):
        data = rest + piece
        places, used, lost = _frames(data)
        if places:
            yield _columns(data, places)
        records, at, rest = records + len(places) // 4, at + used, data[used:]
        if lost is not None:
            raise ConfigError(f"{records} records were read, but the length at byte {at} is {lost}", _HINT)
    if rest:
        raise ConfigError(
            f"{records} records were read, but the file ends within the record that starts at byte {at}", _HINT
        )


def _frames(data: bytes) -> tuple[list[int], int, int | None]:
    """Start and length of each complete record's key and value as a flat list, and the end of the last record.

    The third item is an invalid length in the next record, or None.
    """
    places: list[int] = []
    unpack, size, end = _LENGTH.unpack_from, len(data), 0
    while end + 4 <= size:
        (key,) = unpack(data, end)
        value_at = end + 4 + (key if key > 0 else 0)
        if not NULL <= key <= _MAX_LENGTH:
            return places, end, key
        if value_at + 4 > size:
            break
        (value,) = unpack(data, value_at)
        after = value_at + 4 + (value if value > 0 else 0)
        if not NULL <= value <= _MAX_LENGTH:
            return places, end, value
        if after > size:
            break
        places += (end + 4, key, value_at + 4, value)
        end = after
    return places, end, None


def _columns(data: bytes, places: list[int]) -> tuple[BytesColumn, BytesColumn]:
    buffer, columns = np.frombuffer(data, np.uint8), np.array(places, np.int64).reshape(-1, 4).T.copy()
    return BytesColumn(buffer, columns[0], columns[1]), BytesColumn(buffer, columns[2], columns[3])
