"""Decoded records of `__consumer_offsets`: offset commits as columns, all others as objects."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lag.offsets import committed_offsets
from lag.records.byte_arrays import BytesColumn, Int64s
from lag.records.message_schema import Message

NONE = -1
"""Stands in columns of commits where the commit has no such value."""


@dataclass(frozen=True, slots=True, eq=False)
class StringColumn:
    """A dictionary-encoded column: row i is `values[codes[i]]`. `codes`: int32[n]."""

    codes: NDArray[np.int32]
    values: tuple[str, ...]

    def objects(self) -> NDArray[np.object_]:
        """A string for each row: object[n]; equal strings are one object."""
        values = np.empty(len(self.values), object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True, slots=True, eq=False)
class Commits:
    """n offset commits as columns of length n, in the order of their records; times in ms since 1970.

    `rows`: index of the record in the batch. `offsets` are as they were written; `committed` is what the group has
    committed then. -1 (`NONE`): no leader epoch, expiry time or version, and all numbers of a tombstone.
    `topic_ids`: uint8[n, 16], zeros = no id. `metadata` is decoded on demand by `BytesColumn.texts`.
    """

    rows: Int64s
    group_ids: StringColumn
    topics: StringColumn
    partitions: NDArray[np.int32]
    tombstones: NDArray[np.bool_]
    offsets: Int64s
    leader_epochs: NDArray[np.int32]
    metadata: BytesColumn
    commit_ts: Int64s
    expire_ts: Int64s
    topic_ids: NDArray[np.uint8]
    versions: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def committed(self) -> Int64s:
        """int64[n]: the committed offset, -1 if there is none: after a tombstone, and after a negative offset."""
        return committed_offsets(self.offsets)

    def by_group(self) -> Mapping[str, int]:
        """How many commits each group has here, without tombstones."""
        counts = np.bincount(self.group_ids.codes[~self.tombstones], minlength=len(self.group_ids.values))
        return {group: count for group, count in zip(self.group_ids.values, counts.tolist(), strict=True) if count}


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """One record about a group; `value` is one of `lag.records.group_values`, None for a tombstone.

    `kind` is a name of `lag.records.record_types`. A key has a `member_id`, a `regular_expression`, or neither.
    `problems` are the parts of the value that cannot be decoded, and why; each is a DecodeError of the record, too.
    """

    row: int
    record_type: int
    kind: str
    group_id: str
    member_id: str | None = None
    regular_expression: str | None = None
    version: int | None = None
    value: Message | None = None
    problems: tuple[str, ...] = ()

    @property
    def tombstone(self) -> bool:
        """Whether the record deletes its key."""
        return self.value is None


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record with an unknown type; it was skipped."""

    row: int
    record_type: int


@dataclass(frozen=True, slots=True)
class DecodeError:
    """A record that could not be read, or the part of it that `reason` names."""

    row: int
    record_type: int | None
    reason: str


@dataclass(frozen=True)
class Decoded:
    """The result of decoding `records` records; each tuple is in their order."""

    records: int
    commits: Commits
    events: tuple[GroupEvent, ...]
    unknown: tuple[UnknownRecord, ...]
    errors: tuple[DecodeError, ...]

    @cached_property
    def unknown_counts(self) -> Counter[int]:
        """Record type -> number of skipped records."""
        return Counter(one.record_type for one in self.unknown)
