"""Codes for the prefixes of commit keys: type, group and topic, without the partition.

The partitions of a topic share a prefix, so it is parsed once and then recognised by its bytes: a vectorised hash table
finds the codes of many rows, and every hit is compared byte by byte. Misses are looked up in a dict.
"""

import numpy as np
from numpy.typing import NDArray

from lag.records.byte_arrays import Int64s
from lag.records.java_text import text

IRREGULAR = -1
"""Stands in place of a number if the prefix is not that of a commit key."""

_LENGTH_BYTES = 2
_NAME_AT = 4  # in a prefix: after the type and the group's length
_LONGEST_NAME = 0x7FFF
_LANE = 8  # bytes compared at a time
_LANES = 12  # longer prefixes are only in the dict
_LONGEST = _LANE * _LANES
_SLOT_BITS = 18
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(_LANE + 1)], np.uint64)  # the first n bytes, little-endian
_MISSING = -1

Words = NDArray[np.uint64]
Codes = NDArray[np.int32]


class NameNumbers:
    """Numbers names in order of appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: tuple[str, ...] = ()

    def number(self, name: str) -> int:
        """The number of the name."""
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> tuple[str, ...]:
        """All names by number."""
        if len(self._names) < len(self._numbers):
            self._names = tuple(self._numbers)
        return self._names


class KeyPrefixes:
    """Gives each distinct prefix a code, with the numbers of its group and topic."""

    def __init__(self) -> None:
        self.groups, self.topics = NameNumbers(), NameNumbers()
        self._codes: dict[bytes, int] = {}
        self._slots = np.full(1 << _SLOT_BITS, _MISSING, np.int32)
        self._pairs = np.zeros((2, 1024), np.int32)
        self._lengths = np.zeros(1024, np.int64)
        self._lanes = np.zeros((_LANES, 1024), np.uint64)

    def __len__(self) -> int:
        return len(self._codes)

    def codes(self, data: NDArray[np.uint8], words: Words, starts: Int64s, lengths: Int64s) -> Codes:
        """A code for each prefix: int32[n].

        `data`: uint8[m]; `words`: uint64[m - 7], the eight bytes from each index of `data`, little-endian. `starts`,
        `lengths`: int64[n]. At least eight bytes of `data` must follow each prefix.
        """
        lanes = _lanes_of(words, starts, lengths)
        slots = _slots_of(lanes, lengths)
        codes = self._slots[slots]
        unsure = np.flatnonzero(~self._matches(codes, lanes, lengths))
        if len(unsure):
            codes[unsure] = self._look_up(data, starts[unsure], lengths[unsure])
            unsure = unsure[lengths[unsure] <= _LONGEST]
            self._store(codes[unsure], slots[unsure], lengths[unsure], lanes[:, unsure])
        return codes

    def numbers(self, codes: Codes) -> tuple[Codes, Codes]:
        """The numbers of group and topic of each code: int32[n] each; IRREGULAR if the key is not that of a commit."""
        return self._pairs[0][codes], self._pairs[1][codes]

    def _matches(self, codes: Codes, lanes: Words, lengths: Int64s) -> NDArray[np.bool_]:
        """Whether each code is that of its row's prefix: bool[n]."""
        same: NDArray[np.bool_] = (codes >= 0) & (self._lengths[codes] == lengths)
        for known, lane in zip(self._lanes, lanes, strict=False):
            same &= known[codes] == lane
        return same

    def _look_up(self, data: NDArray[np.uint8], starts: Int64s, lengths: Int64s) -> list[int]:
        view, codes, found, new = data.data, self._codes, [], []
        for start, end in zip(starts.tolist(), (starts + lengths).tolist(), strict=True):
            prefix = bytes(view[start:end])
            code = codes.get(prefix)
            if code is None:
                code = codes[prefix] = len(codes)
                new.append(self._parse(prefix))
            found.append(code)
        if new:
            self._grow()
            self._pairs[:, len(codes) - len(new) : len(codes)] = np.array(new).T
        return found

    def _grow(self) -> None:
        lacking = len(self._codes) - len(self._lengths)
        if lacking > 0:
            room = (0, lacking + len(self._codes))
            self._pairs = np.pad(self._pairs, ((0, 0), room))
            self._lengths = np.pad(self._lengths, room)
            self._lanes = np.pad(self._lanes, ((0, 0), room))

    def _store(self, codes: Codes, slots: Int64s, lengths: Int64s, lanes: Words) -> None:
        """Put the prefixes into the hash table; a prefix whose slot is overwritten stays in the dict."""
        self._slots[slots] = codes
        self._lengths[codes] = lengths
        self._lanes[: len(lanes), codes] = lanes

    def _parse(self, prefix: bytes) -> tuple[int, int]:
        topic_at = _NAME_AT + _LENGTH_BYTES + int.from_bytes(prefix[_NAME_AT - _LENGTH_BYTES : _NAME_AT], "big")
        group, topic = prefix[_NAME_AT : topic_at - _LENGTH_BYTES], prefix[topic_at:]
        if len(topic) != int.from_bytes(prefix[topic_at - _LENGTH_BYTES : topic_at], "big") or topic_at > len(prefix):
            return IRREGULAR, IRREGULAR
        if max(len(group), len(topic)) > _LONGEST_NAME:
            return IRREGULAR, IRREGULAR
        return self.groups.number(text(group)), self.topics.number(text(topic))


def _lanes_of(words: Words, starts: Int64s, lengths: Int64s) -> Words:
    """The first bytes of the prefixes, zero-padded: uint64[n_lanes, n], eight bytes in each."""
    count = min(-(-int(lengths.max(initial=0)) // _LANE), _LANES)
    shortest = int(lengths.min(initial=_LONGEST))
    lanes = np.empty((count, len(starts)), np.uint64)
    for lane in range(count):
        places = starts + lane * _LANE
        if lane * _LANE >= shortest:
            places = np.minimum(places, len(words) - 1)
        lanes[lane] = words[places]
        if (lane + 1) * _LANE > shortest:
            lanes[lane] &= _MASKS[np.clip(lengths - lane * _LANE, 0, _LANE)]
    return lanes


def _slots_of(lanes: Words, lengths: Int64s) -> Int64s:
    mixed = lengths.astype(np.uint64)
    for lane in lanes:
        mixed ^= lane
        mixed *= _MIX
        mixed ^= mixed >> _FOLD
    mixed *= _MIX
    return (mixed >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)
