"""Files of records: each an int32 key length, the key, an int32 value length, the value; big-endian, -1 for null.

Read piece by piece: of a file of any size only a few megabytes are held.
"""

from collections.abc import Iterator
from struct import Struct
from typing import BinaryIO

import numpy as np

from lag.errors import ConfigError
from lag.records.byte_arrays import NULL, Blobs

_LENGTH = Struct(">i")
_PIECE = 1 << 22  # bytes read at a time
_LONGEST = 1 << 28  # bytes of a key or value; Kafka's records are 1 MB at most unless it is told otherwise
_MEND = "A record is: int32 key length, key, int32 value length (-1 = null), value; big-endian"


def read_frames(file: BinaryIO) -> Iterator[tuple[Blobs, Blobs]]:
    """Keys and values, some ten thousand at a time.

    Raises ConfigError where the file ends within a record or is no file of records, after all records before that.
    """
    rest, at, records = b"", 0, 0
    while piece := file.read(max(_PIECE, len(rest))):
        data = rest + piece
        places, used, lost = _places(data)
        if places:
            yield _blobs(data, places)
        records, at, rest = records + len(places) // 4, at + used, data[used:]
        if lost is not None:
            raise ConfigError(f"{records} records were read, but at byte {at} stands {lost} as a length", _MEND)
    if rest:
        raise ConfigError(
            f"{records} records were read, but the file ends within the one that begins at byte {at}", _MEND
        )


def _places(data: bytes) -> tuple[list[int], int, int | None]:
    """Place and length of each whole record's key and value, one after the other; where the last of them ends.

    And the length that cannot be one, if the next record has such.
    """
    places: list[int] = []
    unpack, size, end = _LENGTH.unpack_from, len(data), 0
    while end + 4 <= size:
        (key,) = unpack(data, end)
        value_at = end + 4 + (key if key > 0 else 0)
        if not NULL <= key <= _LONGEST:
            return places, end, key
        if value_at + 4 > size:
            break
        (value,) = unpack(data, value_at)
        after = value_at + 4 + (value if value > 0 else 0)
        if not NULL <= value <= _LONGEST:
            return places, end, value
        if after > size:
            break
        places += (end + 4, key, value_at + 4, value)
        end = after
    return places, end, None


def _blobs(data: bytes, places: list[int]) -> tuple[Blobs, Blobs]:
    buffer, columns = np.frombuffer(data, np.uint8), np.array(places, np.int64).reshape(-1, 4).T.copy()
    return Blobs(buffer, columns[0], columns[1]), Blobs(buffer, columns[2], columns[3])
