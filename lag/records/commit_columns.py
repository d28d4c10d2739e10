"""Reads offset commits vectorised: the regular ones, which normally are all.

Irregular rows (another record type, an unknown tag, missing or extra bytes, a length of three bytes) are left to
`single_record`. Formats: OffsetCommitKey v0-v1, OffsetCommitValue v0-v4.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lag.records.byte_arrays import NULL, BytesColumn, Int64s
from lag.records.key_prefixes import KeyPrefixes, Words
from lag.records.model import NONE
from lag.records.single_record import SingleCommit

CHUNK = 16_384
"""Rows at a time, so that their data fits the processor's cache."""

Mask = NDArray[np.bool_]

_WORD = 8
_LEAST_BYTES = 64  # of a buffer; in a smaller one no row is regular
_SHORTEST_KEY = 10  # type, two empty names, partition
_SHORTEST_VALUE = 20  # v0: version, offset, empty metadata, time
_LONGEST_TEXT = 0x7FFF
_COMMIT_TYPES = (0x0000, 0x0100)  # 0 and 1, seen little-endian
_TOPIC_ID = 0x100001  # one tag, its number 0, its size 16; seen little-endian
_TOPIC_ID_BYTES = 16


@dataclass(slots=True)
class Columns:
    """The columns of `Commits` for n rows, while they are read. `known`: bool[n], which rows are read.

    `prefixes`: int32[n], codes of `KeyPrefixes`. `topic_ids`: uint8[n, 16]; all others have length n.
    """

    known: Mask
    prefixes: NDArray[np.int32]
    partitions: NDArray[np.int32]
    tombstones: Mask
    offsets: Int64s
    leader_epochs: NDArray[np.int32]
    metadata_at: Int64s
    metadata_size: Int64s
    commit_ts: Int64s
    expire_ts: Int64s
    topic_ids: NDArray[np.uint8]
    versions: NDArray[np.int8]

    @classmethod
    def of(cls, rows: int) -> "Columns":
        """For that number of rows, none known."""
        return cls(
            known=np.zeros(rows, bool),
            prefixes=np.zeros(rows, np.int32),
            partitions=np.empty(rows, np.int32),
            tombstones=np.zeros(rows, bool),
            offsets=np.empty(rows, np.int64),
            leader_epochs=np.empty(rows, np.int32),
            metadata_at=np.empty(rows, np.int64),
            metadata_size=np.empty(rows, np.int64),
            commit_ts=np.empty(rows, np.int64),
            expire_ts=np.full(rows, NONE, np.int64),
            topic_ids=np.zeros((rows, _TOPIC_ID_BYTES), np.uint8),
            versions=np.empty(rows, np.int8),
        )

    def rows(self, part: slice) -> "Columns":
        """Views of a part of the rows."""
        return Columns(*(getattr(self, column.name)[part] for column in fields(self)))

    def put(self, row: int, commit: SingleCommit, value_at: int) -> None:
        """Store one commit; its value starts at `value_at` in the buffer."""
        self.known[row] = True
        self.tombstones[row] = commit.tombstone
        self.partitions[row] = commit.partition
        self.offsets[row] = commit.offset
        self.leader_epochs[row] = commit.leader_epoch
        self.metadata_at[row] = value_at + commit.metadata_at
        self.metadata_size[row] = commit.metadata_size
        self.commit_ts[row] = commit.commit_ts
        self.expire_ts[row] = commit.expire_ts
        self.topic_ids[row] = np.frombuffer(commit.topic_id, np.uint8)
        self.versions[row] = commit.version


def read_regular(keys: BytesColumn, values: BytesColumn, prefixes: KeyPrefixes) -> Columns:
    """All regular commits; for other rows `known` is false, or the numbers of the prefix are IRREGULAR."""
    columns = Columns.of(len(keys))
    if min(len(keys.data), len(values.data)) < _LEAST_BYTES:
        return columns
    key_words, value_words = _words(keys.data), _words(values.data)
    for part in _parts(len(keys)):
        into = columns.rows(part)
        found = _read_keys(keys, key_words, part, prefixes, into)
        into.known[:] = found & _read_values(value_words, values.starts[part], values.lengths[part], into)
    return columns


def _parts(rows: int) -> Iterator[slice]:
    return (slice(at, at + CHUNK) for at in range(0, rows, CHUNK))


def _words(data: NDArray[np.uint8]) -> Words:
    """The eight bytes from each index of `data` (uint8[m]), little-endian: uint64[m - 7]."""
    return np.ndarray((len(data) - _WORD + 1,), "<u8", data, strides=(1,))


def _big(words: Words, places: Int64s) -> Words:
    """The big-endian numbers at these indices: uint64[n]."""
    return words[places].byteswap(inplace=True)


def _read_keys(keys: BytesColumn, words: Words, part: slice, prefixes: KeyPrefixes, into: Columns) -> Mask:
    starts, lengths = keys.starts[part], keys.lengths[part]
    ends = starts + lengths
    found: Mask = (lengths >= _SHORTEST_KEY) & (ends <= len(words) - 1)
    starts = np.where(found, starts, 0)
    kinds = words[starts].astype(np.uint16)
    found &= (kinds == _COMMIT_TYPES[0]) | (kinds == _COMMIT_TYPES[1])
    prefix_bytes = np.where(found, lengths - 4, 0)
    into.prefixes[:] = prefixes.codes(keys.data, words, starts, prefix_bytes)
    into.partitions[:] = (_big(words, starts + prefix_bytes) >> np.uint64(32)).astype(np.uint32).view(np.int32)
    return found


def _read_values(words: Words, starts: Int64s, lengths: Int64s, into: Columns) -> Mask:
    """Which values are regular, with tombstones: bool[n]."""
    tombstones = lengths == NULL
    ends = starts + lengths
    regular: Mask = (lengths >= _SHORTEST_VALUE) & (ends <= len(words) - 1)
    starts = np.where(regular, starts, 0)
    first, second = _big(words, starts), _big(words, starts + _WORD)
    versions = (first >> np.uint64(48)).astype(np.int64)
    into.versions[:] = versions
    into.offsets[:] = (first << np.uint64(16) | second >> np.uint64(48)).view(np.int64)
    into.leader_epochs[:] = (second >> np.uint64(16)).astype(np.uint32).view(np.int32)
    regular &= _read_metadata(second, versions, starts, into)
    regular &= _read_rest(words, versions, ends, into)
    if tombstones.any():
        _set_tombstones(tombstones, into)
    regular |= tombstones
    return regular


def _read_metadata(second: Words, versions: Int64s, starts: Int64s, into: Columns) -> Mask:
    """Locate the metadata. `second`: uint64[n], bytes 8 to 15 of the values; v0-v2 have no leader epoch."""
    sizes = (second & np.uint64(0xFFFF)).view(np.int64)
    gaps = np.full(len(sizes), 16)
    early = versions < 3
    if early.any():
        sizes = np.where(early, (second >> np.uint64(32) & np.uint64(0xFFFF)).view(np.int64), sizes)
        gaps[early] = 12
        into.leader_epochs[early] = NONE
    compact = versions == 4
    low, high = sizes >> 8, sizes & 0xFF
    two = compact & (low >= 0x80)
    sizes = np.where(compact, np.where(two, low & 0x7F | high << 7, low) - 1, sizes)
    into.metadata_at[:] = starts + np.where(compact, 15 + two, gaps)
    into.metadata_size[:] = sizes
    regular: Mask = (sizes >= 0) & (sizes <= _LONGEST_TEXT) & ~(two & (high >= 0x80)) & (versions <= 4)
    return regular


def _read_rest(words: Words, versions: Int64s, ends: Int64s, into: Columns) -> Mask:
    """Read what follows the metadata: the time, then nothing (v0, v2, v3), the expiry time (v1), or tags (v4)."""
    places = into.metadata_at + into.metadata_size
    ends = ends - places - _WORD
    places = np.clip(places, 0, len(words) - 1 - _WORD)
    into.commit_ts[:] = _big(words, places).view(np.int64)
    places += _WORD
    tags = words[places]
    compact = versions == 4
    named = compact & (tags & np.uint64(0xFFFFFF) == _TOPIC_ID) & (ends == 3 + _TOPIC_ID_BYTES)
    plain = compact & (tags.astype(np.uint8) == 0) & (ends == 1)
    expiring = (versions == 1) & (ends == _WORD)
    _read_topic_ids(words, places, np.flatnonzero(named), into)
    if expiring.any():
        into.expire_ts[expiring] = _big(words, places[expiring]).view(np.int64)
    regular: Mask = named | plain | expiring | ((ends == 0) & (versions != 1) & ~compact)
    return regular


def _read_topic_ids(words: Words, places: Int64s, rows: Int64s, into: Columns) -> None:
    ids = into.topic_ids.view(np.uint64)
    at = np.minimum(
        places[rows] + 3, len(words) - 1 - _WORD
    )  # after the tag bytes; the limit applies only to irregular rows
    ids[rows, 0] = words[at]
    ids[rows, 1] = words[at + _WORD]


def _set_tombstones(tombstones: Mask, into: Columns) -> None:
    into.tombstones[:] = tombstones
    numbers: list[NDArray[Any]] = [into.offsets, into.leader_epochs, into.commit_ts, into.expire_ts, into.versions]
    for column in numbers:
        column[tombstones] = NONE
    into.topic_ids[tombstones] = 0
    into.metadata_at[tombstones] = 0
    into.metadata_size[tombstones] = NULL
