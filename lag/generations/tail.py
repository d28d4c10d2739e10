"""Follows `__consumer_offsets` of one cluster in process, so that generations are known as they happen.

Read-only, without a group. It begins a bounded number of records back, continues from there when brokers restart, and
restarts where the log no longer has what comes next. What cannot be read is a Problem; the groups of such partitions
are then inferred from polling (`lag.generations.inferred`).
"""

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from assignors.offsets_partition import OFFSETS_TOPIC, offsets_partition
from lag.errors import GroupscopeError
from lag.generations.commit_runs import CommitRuns
from lag.generations.live_group import TargetPartitions
from lag.generations.recorded import (
    FollowStatus,
    GenerationRecorder,
    RecordedGeneration,
    TimedEvent,
    Timeouts,
    generations_of,
)
from lag.generations.recorded.model import RecordedState
from lag.model import ClusterSnapshot, GroupSnapshot, Problem, Scope, is_created_again
from lag.records import BytesColumn, Decoded, decode
from lag.records.group_values import TargetAssignmentMember
from lag.records.transactions import NONE_OPEN, OpenTransactions
from lag.schedule import pause_before_retry

if TYPE_CHECKING:
    from lag.cluster.offsets_log import LogBounds, OffsetsPartitions, PartitionData

log = logging.getLogger(__name__)

LOOK_BACK_RECORDS = 20_000
"""For each partition: with 50 partitions at most about 100 MB, once. Compaction retains the last record of each key, so
a shorter partition is known in full."""

REST_S = 0.25
"""Pause between two rounds that read records; after an empty round the brokers' fetch wait is the pause."""

METADATA_ROUNDS = 30
"""Rounds without an error between two metadata requests; after an error the next round requests metadata."""

TROUBLE_S = 2.0
"""Pause after an error of a partition, or while the topic does not exist."""

REFUSED_S = 30.0
"""Pause if reading is not authorized."""

MAX_LOOK_BACKS_BEHIND = 2
"""A partition this many look-backs behind its end is started again near the end."""

MISSING = Problem("unread", Scope.TOPIC, OFFSETS_TOPIC, "the brokers list none of its partitions")
STARTING = Problem("starting", Scope.TOPIC, OFFSETS_TOPIC, "its records are still being read for the first time")


class OffsetsReader(Protocol):
    """Reads the topic (`lag.cluster.offsets_log.OffsetsLog`)."""

    @property
    def cluster_id(self) -> str | None:
        """The cluster's id."""

    def partitions(self) -> "OffsetsPartitions":
        """The topic as it is now."""

    def bounds(self, partitions: Iterable[int]) -> "Mapping[int, LogBounds]":
        """Log start and end of these partitions."""

    def read(self, offsets: Mapping[int, int]) -> "list[PartitionData]":
        """The records of these partitions from these offsets on."""

    def names(self, topic_ids: Iterable[UUID]) -> Mapping[UUID, str]:
        """The names of these topics."""

    def close(self) -> None:
        """Close every connection."""


@dataclass(slots=True)
class _Position:
    """How far a partition is read. `whole`: from the log start; `caught_up`: the end was reached once.

    `transactions`: those that are open at `next_offset`.
    """

    next_offset: int
    whole: bool
    caught_up: bool
    transactions: OpenTransactions = NONE_OPEN


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a partition, and the transactions that are open after it."""

    piece: "PartitionData"
    decoded: Decoded
    events: list[TimedEvent]
    transactions: OpenTransactions

    @classmethod
    def of(cls, piece: "PartitionData", before: OpenTransactions) -> "_Read":
        records, after = before.after(piece.records)
        keys, values = (record.key for record in records), (record.value for record in records)
        decoded = decode(BytesColumn.of(keys), BytesColumn.of(values))
        return cls(piece, decoded, [TimedEvent(records[event.row].at_ms, event) for event in decoded.events], after)


class Tail:
    """Follows one cluster in its own thread, between `start` and `stop`.

    `connect` opens a reader, at first and after every failure; it raises GroupscopeError. `look_back`: records of each
    partition.
    """

    def __init__(self, name: str, connect: Callable[[], OffsetsReader], look_back: int = LOOK_BACK_RECORDS) -> None:
        self.name = name
        self._connect, self._look_back = connect, look_back
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._reader: OffsetsReader | None = None
        self._thread = threading.Thread(target=self._run, name=f"tail {name}", daemon=True)
        self._failures = self._rounds_left = self._records = self._unreadable = 0
        self._problem: Problem | None = None
        self._seen: ClusterSnapshot | None = None
        self._reset(None)

    def start(self) -> None:
        """Start following; only once."""
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        """Stop, and close the connections."""
        self._stopping.set()
        self._close()
        if self._thread.ident is not None:
            self._thread.join(timeout_s)
        self._close()

    def observe(self, snapshot: ClusterSnapshot) -> None:
        """Pass on a poll: the starting point of groups whose last records are before the look-back."""
        self._seen = snapshot

    def recorded(self, group_id: str) -> list[RecordedGeneration]:
        """The group's generations, oldest first (`lag.generations.recorded.GenerationRecorder.recorded`)."""
        with self._lock:
            states = self._recorder.states(group_id)
        return generations_of(states)

    def all_states(self) -> Mapping[str, Sequence[RecordedState]]:
        """The recorded states of every group that has any."""
        with self._lock:
            return self._recorder.all_states()

    def knows(self, group_id: str) -> bool:
        """Whether the group's state is known from its records: if nothing is recorded, nothing has happened."""
        with self._lock:
            return self._recorder.knows(group_id)

    def timeouts(self, group_id: str) -> Mapping[str, Timeouts]:
        """The timeouts of the group's members (`lag.generations.recorded.GenerationRecorder.timeouts`)."""
        with self._lock:
            return self._recorder.timeouts(group_id)

    def share_targets(self, group_id: str) -> Mapping[str, TargetPartitions]:
        """The targets of a share group's members (`lag.generations.recorded.GenerationRecorder.share_targets`)."""
        with self._lock:
            return self._recorder.share_targets(group_id)

    def commits(self) -> CommitRuns:
        """The offset commits read so far."""
        return self._commits

    def reads_all(self) -> bool:
        """Whether every partition has been read up to its end."""
        status = self.status()
        return bool(status.partitions) and status.followed == status.partitions and not status.problems

    def emptied_ms(self, group_id: str) -> int | None:
        """The record that left the group empty (`lag.generations.recorded.GenerationRecorder.emptied_ms`)."""
        with self._lock:
            return self._recorder.emptied_ms(group_id)

    def joined_ms(self, group_id: str) -> int | None:
        """The record of its first member (`lag.generations.recorded.GenerationRecorder.joined_ms`)."""
        with self._lock:
            return self._recorder.joined_ms(group_id)

    def problem(self, group_id: str) -> Problem | None:
        """Why the group's records are not read now; None when they are."""
        with self._lock:
            if self._problem is not None or not self._partitions:
                return self._problem or STARTING
            number = offsets_partition(group_id, self._partitions)
            place = self._positions.get(number)
            is_read = place is not None and place.caught_up
            return self._trouble.get(number) or (None if is_read else STARTING)

    def status(self) -> FollowStatus:
        """How far the topic is read."""
        with self._lock:
            read = [
                number for number, place in self._positions.items() if place.caught_up and number not in self._trouble
            ]
            return FollowStatus(
                partitions=self._partitions,
                followed=len(read),
                records=self._records,
                unreadable=self._unreadable + self._recorder.unusable,
                problems=tuple(dict.fromkeys(filter(None, (self._problem, *self._trouble.values())))),
                commits=dict(self._commit_counts),
            )

    def _reset(self, cluster_id: str | None) -> None:
        self._cluster_id = cluster_id
        self._names: dict[UUID, str] = {}
        self._recorder = GenerationRecorder(self._names.get)
        self._commits = CommitRuns.none()
        self._commit_counts = Counter[str]()
        self._absent: Set[str] = frozenset()
        self._positions: dict[int, _Position] = {}
        self._trouble: dict[int, Problem] = {}
        self._partitions = 0
        self._topic_id: str | None = None

    # -- the thread ----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        pause_s = 0.0
        while not self._stopping.wait(pause_s):
            pause_s = self.round()
        self._close()

    def round(self) -> float:
        """Read new records; returns the pause before the next round in seconds."""
        try:
            pause_s = self._follow(self._opened())
        except GroupscopeError as error:
            return self._failed(error)
        except Exception as error:
            if not self._stopping.is_set():
                log.error("cluster %s: internal error while following %s", self.name, OFFSETS_TOPIC, exc_info=error)
            return self._failed(GroupscopeError(f"internal error: {type(error).__name__}"))
        self._failures = 0
        return pause_s

    def _opened(self) -> OffsetsReader:
        if self._reader is None:
            reader = self._reader = self._connect()
            self._rounds_left = 0
            if reader.cluster_id != self._cluster_id:
                with self._lock:
                    self._reset(reader.cluster_id)
        return self._reader

    def _failed(self, error: GroupscopeError) -> float:
        self._close()
        self._failures += 1
        if not self._stopping.is_set():
            with self._lock:
                self._problem = Problem("unread", Scope.TOPIC, OFFSETS_TOPIC, error.cause, error.hint)
        return pause_before_retry(self._failures, random.random()).seconds

    def _close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(OSError, RuntimeError, GroupscopeError):
                reader.close()

    def _follow(self, reader: OffsetsReader) -> float:
        if not self._rounds_left:
            if (pause_s := self._refresh(reader)) is not None:
                return pause_s
            self._rounds_left = METADATA_ROUNDS
        self._rounds_left -= 1
        seen, self._seen = self._seen, None
        pieces = reader.read({number: place.next_offset for number, place in self._positions.items()})
        read = [_Read.of(piece, self._positions[piece.partition].transactions) for piece in pieces]
        self._learn_names(reader, [each.events for each in read])
        groups = [] if seen is None else self._read_to_the_end(seen, pieces)
        with self._lock:
            moved = [self._take(each) for each in read]
            if seen is not None:
                self._recorder.observe(groups)
                self._forget_commits_of_others(seen)
        if self._trouble or not pieces:
            self._rounds_left = 0
            denied = self._trouble and all(problem.is_refusal for problem in self._trouble.values())
            return REFUSED_S if denied else TROUBLE_S
        return REST_S if any(moved) else 0.0

    def _refresh(self, reader: OffsetsReader) -> float | None:
        """Find partitions that are not followed yet; returns a pause in seconds if there is nothing to read."""
        found = reader.partitions()
        with self._lock:
            if self._is_created_again(found):
                self._reset(self._cluster_id)
            self._topic_id = found.topic_id or self._topic_id
        new = [n for n in range(found.count) if n not in self._positions and n not in found.problems]
        bounds = reader.bounds(new) if new else {}
        with self._lock:
            is_missing = not found.count and self._partitions  # to one broker, or for a while: what was read stays
            self._problem = found.problem or (MISSING if is_missing else None)
            self._partitions, self._trouble = found.count or self._partitions, dict(found.problems)
            for number, bound in bounds.items():
                start = max(bound.log_start, bound.log_end - self._look_back)
                self._positions[number] = _Position(start, start == bound.log_start, start == bound.log_end)
        if found.problem is not None:
            return REFUSED_S
        return None if found.count else TROUBLE_S

    def _is_created_again(self, found: "OffsetsPartitions") -> bool:
        is_another = self._partitions not in (0, found.count) or is_created_again(self._topic_id, found.topic_id)
        return bool(found.count) and is_another

    def _learn_names(self, reader: OffsetsReader, events: Iterable[Iterable[TimedEvent]]) -> None:
        """Request the names of topic ids in target assignments; a deleted topic has none."""
        plans = (timed.event.value for each in events for timed in each)
        given = (
            part.topic_id
            for plan in plans
            if isinstance(plan, TargetAssignmentMember)
            for part in plan.topic_partitions
        )
        if new := {each for each in given if each is not None and each not in self._names}:
            self._names.update(reader.names(new))

    def _take(self, read: "_Read") -> bool:
        """Add the records of a partition; returns whether there were any."""
        piece, decoded = read.piece, read.decoded
        number, place = piece.partition, self._positions[piece.partition]
        if piece.problem is not None:
            self._trouble[number] = piece.problem
            return False
        self._trouble.pop(number, None)
        if piece.lost or piece.log_end - piece.next_offset > MAX_LOOK_BACKS_BEHIND * self._look_back:
            self._forget(number)
            return False
        self._records += piece.records_read
        self._unreadable += piece.unreadable + len(decoded.errors)
        self._commits = self._commits.after(decoded.commits, number)
        self._commit_counts.update(decoded.commits.by_group())
        self._recorder.take(read.events, whole=place.whole)
        place.next_offset, place.transactions = piece.next_offset, read.transactions
        place.caught_up = place.caught_up or piece.next_offset >= piece.log_end
        return bool(piece.records_read)

    def _read_to_the_end(self, seen: ClusterSnapshot, pieces: "Iterable[PartitionData]") -> list[GroupSnapshot]:
        """The polled groups whose records are all read; the poll was before the fetch of these pieces."""
        at_end = {piece.partition for piece in pieces if _is_at_end(piece)}
        return [group for group in seen.groups if offsets_partition(group.group_id, self._partitions) in at_end]

    def _forget_commits_of_others(self, seen: ClusterSnapshot) -> None:
        """Counts of groups that two polls in succession do not have, of which one may be older than a commit."""
        if not seen.lists_every_group:
            return
        absent = self._commit_counts.keys() - {group.group_id for group in seen.groups}
        for group_id in absent & self._absent:
            del self._commit_counts[group_id]
        self._absent = absent

    def _forget(self, number: int) -> None:
        """Start this partition again: its next records do not continue the ones that were read."""
        log.info("cluster %s: %s-%d is read again", self.name, OFFSETS_TOPIC, number)
        groups = [group for group in self._recorder.known() if offsets_partition(group, self._partitions) == number]
        self._recorder.forget(groups)
        self._commits = self._commits.forget(number)
        for group in [one for one in self._commit_counts if offsets_partition(one, self._partitions) == number]:
            del self._commit_counts[group]
        del self._positions[number]
        self._rounds_left = 0


def _is_at_end(piece: "PartitionData") -> bool:
    return piece.problem is None and not piece.lost and piece.next_offset >= piece.log_end
