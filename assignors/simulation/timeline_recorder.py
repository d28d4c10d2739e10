"""Notes what happens in a run as it happens, and makes the tables of `timeline` of it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from assignors.layout import java_order
from assignors.model import Topic, TopicPartition
from assignors.simulation.kernel import Kernel
from assignors.simulation.timeline import (
    Callback,
    Commit,
    Failure,
    GroupSpan,
    Hold,
    Holding,
    Loop,
    MemberState,
    Message,
    Plan,
    Span,
)

OPEN = -1
"""The end of a span that goes on."""


@dataclass(slots=True)
class _Life:
    """Partitions `first` to `end` - 1 of a topic exist from `born_ms` to `died_ms` (None: still)."""

    first: int
    end: int
    born_ms: int
    died_ms: int | None = None


@dataclass(slots=True)
class Recorder:
    """One run's notes."""

    kernel: Kernel
    messages: list[Message] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    _group: list[GroupSpan] = field(default_factory=list)
    _spans: dict[str, list[Span]] = field(default_factory=dict)
    _held: dict[str, tuple[Hold, dict[TopicPartition, int]]] = field(default_factory=dict)
    _rows: list[Holding] = field(default_factory=list)
    _lives: dict[str, list[_Life]] = field(default_factory=lambda: defaultdict(list))

    def state(self, member: str, state: MemberState, generation: int) -> None:
        """The member is in that state from now on."""
        spans, now_ms = self._spans.setdefault(member, []), self.kernel.now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            return
        if spans and spans[-1].start_ms == now_ms:
            spans.pop()  # it did not last
        start_ms = now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            start_ms = spans.pop().start_ms
        elif spans:
            spans[-1] = replace(spans[-1], end_ms=now_ms)
        spans.append(Span(member, state, start_ms, OPEN, generation))

    def group(self, state: str, generation: int) -> None:
        """The coordinator has the group in that state from now on."""
        spans, now_ms = self._group, self.kernel.now_ms
        if spans and (spans[-1].state, spans[-1].generation) == (state, generation):
            return
        if spans:
            spans[-1] = replace(spans[-1], end_ms=now_ms)
        spans.append(GroupSpan(state, generation, now_ms, OPEN))

    def hold(self, member: str, partitions: Collection[TopicPartition], kind: Hold) -> None:
        """These are all that the member's process holds from now on, and how."""
        now_ms = self.kernel.now_ms
        old_kind, old = self._held.get(member, (kind, {}))
        kept = old if kind is old_kind else {}
        new = {partition: kept.get(partition, now_ms) for partition in partitions}
        for partition, start_ms in old.items():
            if start_ms < now_ms and not (kind is old_kind and partition in new):
                self._rows.append(Holding(partition, member, old_kind, start_ms, now_ms))
        self._held[member] = kind, new

    def callback(self, member: str, name: str, partitions: Iterable[TopicPartition]) -> None:
        """The member's listener is called."""
        self.callbacks.append(Callback(self.kernel.now_ms, member, name, tuple(partitions)))

    def topics(self, old: Mapping[str, Topic], new: Mapping[str, Topic]) -> None:
        """These topics exist from now on."""
        now_ms = self.kernel.now_ms
        for name in old.keys() - new.keys():
            for life in self._lives[name]:
                life.died_ms = now_ms if life.died_ms is None else life.died_ms
        for name, topic in new.items():
            before = old[name].partitions if name in old else 0
            if topic.partitions > before:
                self._lives[name].append(_Life(before, topic.partitions, now_ms))

    def spans(self, end_ms: int) -> tuple[Span, ...]:
        """Of all members."""
        every = (_closed(span, end_ms) for spans in self._spans.values() for span in spans)
        return tuple(span for span in every if span.start_ms < span.end_ms)

    def group_lane(self, end_ms: int) -> tuple[GroupSpan, ...]:
        """Of the group; states that did not last are in it, too."""
        return tuple(replace(span, end_ms=end_ms) if span.end_ms == OPEN else span for span in self._group)

    def ownership(self, subscribed: Iterable[str], end_ms: int) -> tuple[Holding, ...]:
        """Who held each partition of those topics, while it existed."""
        for member in list(self._held):
            self.hold(member, (), Hold.NOBODY)
        rows: dict[TopicPartition, list[Holding]] = defaultdict(list)
        for row in self._rows:
            rows[row.partition].append(row)
        names = sorted(set(subscribed) & self._lives.keys(), key=java_order)
        return tuple(row for name in names for row in self._of_topic(name, rows, end_ms))

    def _of_topic(self, name: str, rows: Mapping[TopicPartition, Sequence[Holding]], end_ms: int) -> Iterator[Holding]:
        lives = [
            (number, life.born_ms, end_ms if life.died_ms is None else life.died_ms)
            for life in self._lives[name]
            for number in range(life.first, life.end)
        ]
        for number, born_ms, died_ms in sorted(lives):
            partition = TopicPartition(name, number)
            yield from _with_gaps(partition, rows.get(partition, ()), born_ms, died_ms)


def _closed(span: Span, end_ms: int) -> Span:
    return replace(span, end_ms=end_ms) if span.end_ms == OPEN else span


def _with_gaps(partition: TopicPartition, rows: Iterable[Holding], born_ms: int, died_ms: int) -> Iterator[Holding]:
    """The rows within that life, and between them the times in which nobody holds the partition."""
    until_ms = born_ms
    for row in sorted(rows, key=attrgetter("start_ms", "end_ms")):
        start_ms, end_ms = max(row.start_ms, born_ms), min(row.end_ms, died_ms)
        if start_ms >= end_ms:
            continue
        if start_ms > until_ms:
            yield Holding(partition, None, Hold.NOBODY, until_ms, start_ms)
        yield replace(row, start_ms=start_ms, end_ms=end_ms)
        until_ms = max(until_ms, end_ms)
    if until_ms < died_ms:
        yield Holding(partition, None, Hold.NOBODY, until_ms, died_ms)
