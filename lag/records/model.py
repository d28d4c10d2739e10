"""What comes out of `__consumer_offsets`: offset commits in columns, everything else as rows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lag.records.byte_arrays import Blobs, Int64s
from lag.records.java_text import text
from lag.records.message_schema import Message

NONE = -1
"""In the columns of commits: a commit does not have it."""


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """A column of few different strings: row i is `values[codes[i]]`."""

    codes: NDArray[np.int32]
    values: tuple[str, ...]

    def __getitem__(self, index: int) -> str:
        return self.values[int(self.codes[index])]

    def objects(self) -> NDArray[np.object_]:
        """A string for each row; equal ones are one object."""
        values = np.empty(len(self.values), object)
        values[:] = self.values
        return values[self.codes]


@dataclass(frozen=True, slots=True)
class Commit:
    """One offset commit, times in ms since 1970; None where it does not say. A tombstone has the key's fields only."""

    group_id: str
    topic: str
    partition: int
    tombstone: bool
    offset: int | None
    leader_epoch: int | None
    metadata: str | None
    commit_ts: int | None
    expire_ts: int | None
    topic_id: UUID | None


@dataclass(frozen=True, slots=True, eq=False)
class Commits:
    """Offset commits in the order of their records, as columns.

    `rows` are the records' places in what was decoded. -1 (`NONE`) stands for "does not say" in leader epochs, expiry
    times and the value's versions, and in all of a tombstone's numbers; a `topic_ids` row of zeros for no id. Times are
    in ms since 1970. `metadata` is cut out of the values on demand, see `Blobs.texts`.
    """

    rows: Int64s
    group_ids: Names
    topics: Names
    partitions: NDArray[np.int32]
    tombstones: NDArray[np.bool_]
    offsets: Int64s
    leader_epochs: NDArray[np.int32]
    metadata: Blobs
    commit_ts: Int64s
    expire_ts: Int64s
    topic_ids: NDArray[np.uint8]
    versions: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Commit]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Commit:
        place = (self.group_ids[index], self.topics[index], int(self.partitions[index]))
        if self.tombstones[index]:
            return Commit(*place, True, None, None, None, None, None, None)
        return Commit(
            *place,
            tombstone=False,
            offset=int(self.offsets[index]),
            leader_epoch=_known(self.leader_epochs[index]),
            metadata=text(self.metadata[index] or b""),
            commit_ts=int(self.commit_ts[index]),
            expire_ts=_known(self.expire_ts[index]),
            topic_id=UUID(bytes=self.topic_ids[index].tobytes()) if self.topic_ids[index].any() else None,
        )


def _known(number: Any) -> int | None:
    return None if number == NONE else int(number)


@dataclass(frozen=True, slots=True)
class GroupEvent:
    """One record about a group; `value` is one of `lag.records.group_values`, None for a tombstone.

    `kind` is a name of `lag.records.record_types`; of `member_id` and `regular_expression` the key has one or none.
    """

    row: int
    record_type: int
    kind: str
    group_id: str
    member_id: str | None = None
    regular_expression: str | None = None
    version: int | None = None
    value: Message | None = None

    @property
    def tombstone(self) -> bool:
        """Whether what the key names is gone."""
        return self.value is None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A record of a kind that we do not know; it was skipped."""

    row: int
    record_type: int


@dataclass(frozen=True, slots=True)
class DecodeError:
    """A record, or the part of one that `reason` names, that could not be read."""

    row: int
    record_type: int | None
    reason: str


@dataclass(frozen=True)
class Decoded:
    """All that came of `records` records; each list is in their order."""

    records: int
    commits: Commits
    events: tuple[GroupEvent, ...]
    unknown: tuple[Unknown, ...]
    errors: tuple[DecodeError, ...]

    @cached_property
    def unknown_counts(self) -> Counter[int]:
        """How many of each kind were skipped, by the number that begins their keys."""
        return Counter(one.record_type for one in self.unknown)
