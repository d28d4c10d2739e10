"""Records what happens in a simulation, and builds its tables."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TypeVar

from assignors.layout import java_order
from assignors.model import Topic, TopicPartition
from assignors.simulation.kernel import Kernel
from assignors.simulation.timeline.tables import (
    Callback,
    Commit,
    Failure,
    GroupSpan,
    Hold,
    MemberState,
    Message,
    OwnershipSpan,
    Plan,
    PollLoop,
    Span,
)

SomeSpan = TypeVar("SomeSpan", Span, GroupSpan)

OPEN = -1
"""The end of a span that is still open."""


@dataclass(slots=True)
class _Lifetime:
    """Partitions `first` to `end` - 1 of a topic exist from `created_ms` to `deleted_ms` (None: still)."""

    first: int
    end: int
    created_ms: int
    deleted_ms: int | None = None


@dataclass(slots=True)
class TimelineRecorder:
    """What happened in one simulation."""

    kernel: Kernel
    messages: list[Message] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    loops: list[PollLoop] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    _group: list[GroupSpan] = field(default_factory=list)
    _spans: dict[str, list[Span]] = field(default_factory=dict)
    _held: dict[str, tuple[Hold, dict[TopicPartition, int]]] = field(default_factory=dict)
    _rows: list[OwnershipSpan] = field(default_factory=list)
    _lifetimes: dict[str, list[_Lifetime]] = field(default_factory=lambda: defaultdict(list))

    def state(self, member: str, state: MemberState, generation: int) -> None:
        """The member is in that state from now on."""
        spans, now_ms = self._spans.setdefault(member, []), self.kernel.now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            return
        if spans and spans[-1].start_ms == now_ms:
            spans.pop()  # it lasted 0 ms
        start_ms = now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            start_ms = spans.pop().start_ms
        elif spans:
            spans[-1] = replace(spans[-1], end_ms=now_ms)
        spans.append(Span(member, state, start_ms, OPEN, generation))

    def group(self, state: str, generation: int) -> None:
        """The group is in that state from now on."""
        spans, now_ms = self._group, self.kernel.now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            return
        if spans:
            spans[-1] = replace(spans[-1], end_ms=now_ms)
        spans.append(GroupSpan(state, generation, now_ms, OPEN))

    def hold(self, member: str, partitions: Collection[TopicPartition], kind: Hold) -> None:
        """The member has exactly these partitions from now on."""
        now_ms = self.kernel.now_ms
        old_kind, old = self._held.get(member, (kind, {}))
        kept = old if kind is old_kind else {}
        new = {partition: kept.get(partition, now_ms) for partition in partitions}
        for partition, start_ms in old.items():
            if start_ms < now_ms and not (kind is old_kind and partition in new):
                self._rows.append(OwnershipSpan(partition, member, old_kind, start_ms, now_ms))
        self._held[member] = kind, new

    def callback(self, member: str, name: str, partitions: Iterable[TopicPartition]) -> None:
        """The member's listener is called."""
        self.callbacks.append(Callback(self.kernel.now_ms, member, name, tuple(partitions)))

    def topics(self, old: Mapping[str, Topic], new: Mapping[str, Topic]) -> None:
        """These topics exist from now on."""
        now_ms = self.kernel.now_ms
        for name in old.keys() - new.keys():
            for lifetime in self._lifetimes[name]:
                lifetime.deleted_ms = now_ms if lifetime.deleted_ms is None else lifetime.deleted_ms
        for name, topic in new.items():
            before = old[name].partitions if name in old else 0
            if topic.partitions > before:
                self._lifetimes[name].append(_Lifetime(before, topic.partitions, now_ms))

    def spans(self, end_ms: int) -> tuple[Span, ...]:
        """The states of all members."""
        every = (_closed(span, end_ms) for spans in self._spans.values() for span in spans)
        return tuple(span for span in every if span.start_ms < span.end_ms)

    def group_lane(self, end_ms: int) -> tuple[GroupSpan, ...]:
        """The states of the group, those of 0 ms included."""
        return tuple(_closed(span, end_ms) for span in self._group)

    def ownership(self, subscribed: Iterable[str], end_ms: int) -> tuple[OwnershipSpan, ...]:
        """Who had each partition of those topics, while it existed."""
        for member in list(self._held):
            self.hold(member, (), Hold.NOBODY)
        rows: dict[TopicPartition, list[OwnershipSpan]] = defaultdict(list)
        for row in self._rows:
            rows[row.partition].append(row)
        names = sorted(set(subscribed) & self._lifetimes.keys(), key=java_order)
        return tuple(row for name in names for row in self._of_topic(name, rows, end_ms))

    def _of_topic(
        self, name: str, rows: Mapping[TopicPartition, Sequence[OwnershipSpan]], end_ms: int
    ) -> Iterator[OwnershipSpan]:
        lifetimes = [
            (number, lifetime.created_ms, end_ms if lifetime.deleted_ms is None else lifetime.deleted_ms)
            for lifetime in self._lifetimes[name]
            for number in range(lifetime.first, lifetime.end)
        ]
        for number, created_ms, deleted_ms in sorted(lifetimes):
            partition = TopicPartition(name, number)
            yield from _with_gaps(partition, rows.get(partition, ()), created_ms, deleted_ms)


def _closed(span: SomeSpan, end_ms: int) -> SomeSpan:
    return replace(span, end_ms=end_ms) if span.end_ms == OPEN else span


def _with_gaps(
    partition: TopicPartition, rows: Iterable[OwnershipSpan], created_ms: int, deleted_ms: int
) -> Iterator[OwnershipSpan]:
    """The rows within that lifetime, with rows without an owner between them."""
    until_ms = created_ms
    for row in sorted(rows, key=attrgetter("start_ms", "end_ms")):
        start_ms, end_ms = max(row.start_ms, created_ms), min(row.end_ms, deleted_ms)
        if start_ms >= end_ms:
            continue
        if start_ms > until_ms:
            yield OwnershipSpan(partition, None, Hold.NOBODY, until_ms, start_ms)
        yield replace(row, start_ms=start_ms, end_ms=end_ms)
        until_ms = max(until_ms, end_ms)
    if until_ms < deleted_ms:
        yield OwnershipSpan(partition, None, Hold.NOBODY, until_ms, deleted_ms)
