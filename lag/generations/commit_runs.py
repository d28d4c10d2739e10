"""When each committed offset was first committed, from the commit records of `__consumer_offsets`.

A run is the records of one group and partition with the same offset, up to the last. A client that commits the same
offset again and again prolongs the run and does not begin another. The time between the beginnings of two runs is an
interval: how often the group commits progress.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

import numpy as np

from lag.model import ClusterSnapshot
from lag.offsets import UNKNOWN, Codes, Flags, Ints
from lag.records import Commits
from lag.verdict.onset import RowCommits
from lag.verdict.row_index import group_of_row, sorted_indexer
from lag.verdict.waiting import FADES_BY, LONGEST_WAIT_MS

MAX_PARTITIONS = 200_000
"""The most partitions of all groups; those whose last commits are oldest are dropped first. About 12 MB."""

_GROUP, _TOPIC, _PARTITION = (np.uint64(odd) for odd in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


@dataclass(frozen=True, slots=True, eq=False)
class CommitRuns:
    """The present run of each group's partition, by ascending `key`. All int64[n] unless stated; times in ms.

    key        a 64-bit hash of group, topic and partition: two with the same one are less likely than a disk error
    topic_id   a hash of the topic's id; 0 = the record has none
    source     the partition of `__consumer_offsets`
    offset     the committed offset
    first_ms, last_ms   the first and last record of the run
    follows    bool: a record with another offset, or without one, precedes the run
    back_ms    the last record with a lower offset than the one before it; -1 = none
    interval_ms  the longest of the last intervals, see FADES_BY; -1 = none
    """

    key: Ints
    topic_id: Ints
    source: Ints
    offset: Ints
    first_ms: Ints
    last_ms: Ints
    follows: Flags
    back_ms: Ints
    interval_ms: Ints

    @classmethod
    def none(cls) -> "CommitRuns":
        """Before any record is read."""
        empty = np.empty(0, np.int64)
        return cls(empty, empty, empty, empty, empty, empty, np.empty(0, np.bool_), empty, empty)

    def __len__(self) -> int:
        return len(self.key)

    def after(self, commits: Commits, source: int, most: int = MAX_PARTITIONS) -> "CommitRuns":
        """The runs after the next commits in partition `source` of `__consumer_offsets`, in record order."""
        if not len(commits):
            return self
        new = _Records.of(commits, source)
        is_new = np.isin(self.key, new.key)
        return _joined(self._take(~is_new), _fold(self._take(is_new), new))._bounded(most)

    def forget(self, source: int) -> "CommitRuns":
        """The runs without the partitions whose commits are in partition `source`: its records are read again."""
        return self._take(self.source != source)

    def of_rows(self, snapshot: ClusterSnapshot) -> RowCommits:
        """The runs of the rows of the snapshot's offset table; a topic that was created again has none."""
        at = sorted_indexer(self.key, _row_keys(snapshot))
        if not len(self):
            return RowCommits(at, at, at == 0, at == 0, at, at)
        ids = _topic_ids(snapshot)[snapshot.offsets.ends.topic[snapshot.offsets.end]]
        found = (at >= 0) & ~_differ(ids, self.topic_id[at])
        only = self.first_ms[at] == self.last_ms[at]
        return RowCommits(
            offset=np.where(found, self.offset[at], UNKNOWN),
            first_ms=np.where(found, self.first_ms[at], UNKNOWN),
            is_exact=found & (self.follows[at] | only),
            follows=found & self.follows[at],
            back_ms=np.where(found, self.back_ms[at], UNKNOWN),
            interval_ms=np.where(found, self.interval_ms[at], UNKNOWN),
        )

    def _take(self, rows: Any) -> "CommitRuns":
        return CommitRuns(*(getattr(self, field.name)[rows] for field in fields(self)))

    def _bounded(self, most: int) -> "CommitRuns":
        if len(self) <= most:
            return self
        newest = np.argpartition(self.last_ms, len(self) - most)[len(self) - most :]
        return self._take(np.sort(newest))


@dataclass(frozen=True, slots=True, eq=False)
class _Records:
    """Commit records in order: int64[n]; `offset` is -1 where nothing is committed any more."""

    key: Ints
    topic_id: Ints
    source: Ints
    offset: Ints
    at_ms: Ints

    @classmethod
    def of(cls, commits: Commits, source: int) -> "_Records":
        groups, topics = (_hashes(names.values)[names.codes] for names in (commits.group_ids, commits.topics))
        ids = commits.topic_ids.view(np.int64)
        return cls(
            _keys(groups, topics, commits.partitions),
            ids[:, 0] ^ ids[:, 1],
            np.full(len(commits), source, np.int64),
            commits.committed,
            commits.commit_ts,
        )


def _fold(known: CommitRuns, new: _Records) -> CommitRuns:
    """The runs after the records of `new`; `known` has those of the same keys. Keys that end without a commit go.

    A known run stands before its new records as one record, at the time of its first.
    """
    keys = np.concatenate([known.key, new.key])
    order = np.argsort(keys, kind="stable")  # records of the same key stay in their order
    key = keys[order]
    offset = np.concatenate([known.offset, new.offset])[order]
    at_ms = np.concatenate([known.first_ms, new.at_ms])[order]
    topic_id = np.concatenate([known.topic_id, new.topic_id])[order]
    first = np.concatenate(([True], key[1:] != key[:-1]))
    start = np.flatnonzero(first)
    last = np.append(start[1:], len(key)) - 1
    same_topic = np.concatenate(([True], ~_differ(topic_id[1:], topic_id[:-1])))
    before = np.concatenate(([UNKNOWN], offset[:-1]))
    begins = first | (offset != before) | ~same_topic
    run = np.maximum.accumulate(np.where(begins, np.arange(len(key)), 0))[last]
    back = ~first & same_topic & (offset != UNKNOWN) & (offset < before)
    backs = np.maximum.reduceat(np.where(back, at_ms, UNKNOWN), start)
    of_known = order[start]
    has_known: Flags = of_known < len(known)
    known_ms = np.where(has_known, _of(known.interval_ms, of_known, has_known), UNKNOWN)
    lasted = np.where(
        begins & ~first & same_topic & (offset != UNKNOWN) & (before != UNKNOWN), _since_run(at_ms, begins), 0
    )
    folded = CommitRuns(
        key=key[start],
        topic_id=topic_id[last],
        source=np.full(len(start), new.source[0], np.int64),
        offset=offset[last],
        first_ms=at_ms[run],
        last_ms=at_ms[last],
        follows=(run > start) | _of(known.follows, of_known, has_known),
        back_ms=np.maximum(backs, np.where(has_known, _of(known.back_ms, of_known, has_known), UNKNOWN)),
        interval_ms=_faded(known_ms, lasted, start),
    )
    return folded._take(folded.offset != UNKNOWN)


def _since_run(at_ms: Ints, begins: Flags) -> Ints:
    """int64[n]: the time since the run before the one that begins there; at other places it has no meaning."""
    number = np.arange(len(at_ms))
    last = np.maximum.accumulate(np.where(begins, number, 0))
    since: Ints = at_ms - at_ms[last[np.maximum(number - 1, 0)]]
    return since


def _faded(known_ms: Ints, lasted_ms: Ints, start: Ints) -> Ints:
    """int64[n_keys]: the longest interval, each counted FADES_BY times less for each later one; -1 = none.

    `known_ms` int64[n_keys] is that of the intervals before, `lasted_ms` int64[n_records] has 0 where none ends.
    """
    counts = (lasted_ms > 0) & (lasted_ms <= LONGEST_WAIT_MS)
    later = np.add.reduceat(counts.astype(np.int64), start)
    left = np.repeat(np.cumsum(later), np.diff(np.append(start, len(counts)))) - np.cumsum(counts)
    faded = np.where(counts, lasted_ms * FADES_BY**left, UNKNOWN)
    of_known = np.where(known_ms == UNKNOWN, UNKNOWN, known_ms * FADES_BY**later)
    return np.maximum(np.maximum.reduceat(faded, start), of_known).astype(np.int64)


def _of(column: Any, at: Ints, has: Flags) -> Any:
    """`column[at]` where `has` (bool[n]), else 0 of its type."""
    if not len(column):
        return np.zeros(len(at), column.dtype)
    return np.where(has, column[np.where(has, at, 0)], column.dtype.type(0))


def _joined(one: CommitRuns, other: CommitRuns) -> CommitRuns:
    """The runs of both, which have no key in common."""
    columns = [np.concatenate([getattr(one, f.name), getattr(other, f.name)]) for f in fields(one)]
    return CommitRuns(*columns)._take(np.argsort(columns[0], kind="stable"))


def _differ(one: Ints, other: Ints) -> Flags:
    """bool[n]: both topic ids are known and differ."""
    differ: Flags = (one != other) & (one != 0) & (other != 0)
    return differ


def _keys(groups: Ints, topics: Ints, partitions: Codes | Ints) -> Ints:
    """int64[n] from hashes of names; unsigned numbers wrap around."""
    mixed = groups.view(np.uint64) * _GROUP + topics.view(np.uint64) * _TOPIC
    keys: Ints = (mixed + partitions.astype(np.uint64) * _PARTITION).view(np.int64)
    return keys


def _hashes(names: Sequence[str]) -> Ints:
    return np.fromiter(map(hash, names), np.int64, len(names))


def _row_keys(snapshot: ClusterSnapshot) -> Ints:
    table = snapshot.offsets
    groups = _hashes([group.group_id for group in snapshot.groups])
    topics = _hashes(table.ends.topics)[table.ends.topic]
    return _keys(groups[group_of_row(table.bounds)], topics[table.end], table.ends.partition[table.end])


def _topic_ids(snapshot: ClusterSnapshot) -> Ints:
    """int64[n_topics of the end offsets]: hashes of the ids, 0 where the id is not known."""
    known = [snapshot.topics.get(name) for name in snapshot.offsets.ends.topics]
    return np.array([_id_hash(topic.topic_id) if topic is not None else 0 for topic in known], np.int64)


def _id_hash(topic_id: str | None) -> int:
    """The same hash as of the 16 bytes in a commit; 0 if it is not a UUID."""
    try:
        words = np.frombuffer(UUID(topic_id or "").bytes, np.int64)
    except ValueError:
        return 0
    return int(words[0] ^ words[1])
