"""Offsets as columns: half a million group partitions fit in a few megabytes and are computed at once.

`EndOffsets` has one row per partition of the cluster, `OffsetTable` one per (group, partition), laid out group by
group. In columns, -1 means "not known"; rows have None and a reason instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assignors.model import TopicPartition
from lag.lazy_sequence import LazySequence

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Problems = NDArray[np.uint8]

UNKNOWN = -1
"""An offset, leader or owner that is not known, inside a column."""


class PartitionProblem(StrEnum):
    """Why a partition's lag is not the plain difference of two offsets.

    Only BELOW_LOG_START has a lag: the records from the log start on; those before it are lost.
    """

    NO_COMMIT = "no_commit"
    BELOW_LOG_START = "below_log_start"
    BEYOND_END = "beyond_end"
    TOPIC_DELETED = "topic_deleted"
    LEADERLESS = "leaderless"
    UNAUTHORIZED = "unauthorized"
    TIMEOUT = "timeout"
    ERROR = "error"


PROBLEM_CODES: tuple[PartitionProblem | None, ...] = (None, *PartitionProblem)
"""A problem column holds indexes into this tuple; 0 is "no problem"."""


def problem_code(problem: PartitionProblem | None) -> int:
    """The code of `problem` in a column."""
    return PROBLEM_CODES.index(problem)


@dataclass(frozen=True, slots=True, eq=False)
class EndOffsets:
    """Every partition known to the metadata or named by a commit, sorted by (topic, partition).

    Arrays of length n: `topic` int32 (index into `topics`), `partition` int32, `leader` int32 (node id), `log_start`,
    `log_end` (high watermark) and `last_stable` int64, `leader_epoch` int32 (from the answer with the log end),
    `problem` uint8 (code). `topics` is sorted; names that are not in the metadata are deleted topics.
    """

    topics: tuple[str, ...]
    topic: Codes
    partition: Codes
    leader: Codes
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    leader_epoch: Codes
    problem: Problems

    def __len__(self) -> int:
        return len(self.topic)

    def tp(self, row: int) -> TopicPartition:
        """The partition of that row."""
        return TopicPartition(self.topics[self.topic[row]], int(self.partition[row]))

    def has(self, topic: str, partition: int) -> bool:
        """Whether there is a row of that partition."""
        if topic not in self.topics:
            return False
        return bool((self.partition[self.topic == self.topics.index(topic)] == partition).any())


@dataclass(frozen=True, slots=True, eq=False)
class OffsetTable:
    """The committed offsets of every group, with the end offsets.

    Group i of the snapshot has the rows `bounds[i]:bounds[i + 1]`. Arrays of length n: `end` int32 (row in
    `ends`), `committed`, `lag` and `lost` int64, `problem` uint8 (code), `member` int32 (index into the group's
    members). `bounds`: int64[number of groups + 1].
    """

    at_ms: int
    ends: EndOffsets
    bounds: Ints
    end: Codes
    committed: Ints
    lag: Ints
    lost: Ints
    problem: Problems
    member: Codes

    def __len__(self) -> int:
        return len(self.end)

    def rows(self, group: int) -> slice:
        """The rows of group number `group`."""
        return slice(int(self.bounds[group]), int(self.bounds[group + 1]))


@dataclass(frozen=True, slots=True)
class PartitionLag:
    """One group's position in one partition; every offset and number of records is None when unknown.

    `log_end` is the high watermark, `last_stable` the last stable offset; if it is lower, an open
    transaction holds back read_committed consumers. `lost_records` counts records that were deleted before the
    group committed them. `problem` says why `lag_records` is None, or qualifies it (BELOW_LOG_START).
    """

    tp: TopicPartition
    committed: int | None
    log_start: int | None
    log_end: int | None
    last_stable: int | None
    lag_records: int | None
    member_id: str | None
    at_ms: int
    problem: PartitionProblem | None = None
    lost_records: int | None = None

    @property
    def held_records(self) -> int:
        """Records between the last stable offset and the log end: held by an open transaction."""
        if self.last_stable is None or self.log_end is None:
            return 0
        return max(0, self.log_end - self.last_stable)


class PartitionRows(LazySequence[PartitionLag]):
    """The rows of one group; each `PartitionLag` is made when it is read."""

    __slots__ = ("_member_ids", "_rows", "_table")

    def __init__(self, table: OffsetTable, rows: slice, member_ids: Sequence[str]) -> None:
        self._table = table
        self._rows = range(rows.start, rows.stop)
        self._member_ids = member_ids

    def __len__(self) -> int:
        return len(self._rows)

    def _entry(self, at: int) -> PartitionLag:
        row = self._rows[at]
        table, ends = self._table, self._table.ends
        end, member = int(table.end[row]), int(table.member[row])
        return PartitionLag(
            tp=ends.tp(end),
            committed=known(table.committed[row]),
            log_start=known(ends.log_start[end]),
            log_end=known(ends.log_end[end]),
            last_stable=known(ends.last_stable[end]),
            lag_records=known(table.lag[row]),
            member_id=None if member == UNKNOWN else self._member_ids[member],
            at_ms=table.at_ms,
            problem=PROBLEM_CODES[table.problem[row]],
            lost_records=known(table.lost[row]),
        )


def committed_offsets(written: ArrayLike) -> Ints:
    """The committed offsets: UNKNOWN, that is none, where a negative number was committed.

    Clients commit logical offsets by mistake (-2: earliest, -1001: librdkafka's "invalid"), and brokers store them.
    Kafka's admin client reads a negative offset as no commit (`ListConsumerGroupOffsetsHandler`).
    """
    return np.maximum(np.asarray(written, np.int64), UNKNOWN)


def topics_by_group(table: OffsetTable, groups: int) -> list[frozenset[str]]:
    """The topics of each group in the offset table: one pass over its columns, no object per row."""
    owner = np.repeat(np.arange(groups), np.diff(table.bounds)[:groups])
    width = max(1, len(table.ends.topics))
    pairs = np.unique(owner * width + table.ends.topic[table.end])
    starts = np.searchsorted(pairs // width, np.arange(groups + 1))
    names = np.array(table.ends.topics, dtype=object)[pairs % width] if len(pairs) else np.array([], dtype=object)
    return [frozenset(names[starts[i] : starts[i + 1]]) for i in range(groups)]


def known(value: np.int64) -> int | None:
    """A column's value as a number, or None where it is not known."""
    return None if value == UNKNOWN else int(value)
