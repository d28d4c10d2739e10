"""The times of each member's polls and successful auto commits, from its states and its poll loops."""

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from operator import attrgetter
from typing import NamedTuple, TypeVar

from assignors.simulation.timeline.tables import NO_COORDINATOR, MemberState, PollLoop, Span, Timeline

Row = TypeVar("Row", Span, PollLoop)
NEVER_MS = -1
_ALIVE = frozenset(MemberState) - {MemberState.DOWN, MemberState.FAILED}
_COMMITTING = frozenset({MemberState.CONSUMING, MemberState.IDLE})
"""Auto commits succeed in these states while there is a coordinator; during a rebalance the consumer sends none."""

Times = tuple[int, int]
"""Start and end in milliseconds."""


class _Polls(NamedTuple):
    """Polls at `anchor_ms` and every `period_ms` after it, between start and end; period 0 = all the time."""

    start_ms: int
    end_ms: int
    anchor_ms: int
    period_ms: int

    def last_ms(self, before_ms: int) -> int:
        """The last poll before that time (period 0: at that time); NEVER_MS if there is none.

        Nothing is read at the very start: poll handles the group first.
        """
        until_ms = min(before_ms, self.end_ms)
        if not self.period_ms:
            return until_ms if until_ms > self.start_ms else NEVER_MS
        at_ms = self.anchor_ms + (until_ms - 1 - self.anchor_ms) // self.period_ms * self.period_ms
        return at_ms if at_ms >= self.start_ms else NEVER_MS

    def first_ms(self, after_ms: int) -> int:
        """The first poll at that time or later."""
        from_ms = max(after_ms, self.start_ms)
        return from_ms + (-(from_ms - self.anchor_ms) % self.period_ms if self.period_ms else 0)


class _Commits(NamedTuple):
    """Commits at `first_ms`, and every `step_ms` after that until `last_ms`."""

    first_ms: int
    last_ms: int
    step_ms: int


class Reader:
    """The polls and auto commits of one member, over all its processes."""

    def __init__(
        self, spans: Sequence[Span], loops: Sequence[PollLoop], outages: Sequence[Times], every_ms: int
    ) -> None:
        self._polls = list(_poll_runs(_while(spans, _ALIVE), loops))
        self._last_ms = list(accumulate((polls.last_ms(polls.end_ms) for polls in self._polls), max))
        committing = _without(_while(spans, _COMMITTING), outages)
        self._commits = list(_commits(_poll_runs(committing, loops), loops, max(1, every_ms)))

    def polled_ms(self, before_ms: int) -> int:
        """The last poll before that time; NEVER_MS if there is none."""
        at = bisect_right(self._polls, before_ms, key=attrgetter("start_ms"))
        own_ms = self._polls[at - 1].last_ms(before_ms) if at else NEVER_MS
        return own_ms if own_ms != NEVER_MS or at < 2 else self._last_ms[at - 2]

    def committed_ms(self, until_ms: int) -> int:
        """The last successful auto commit until that time; NEVER_MS if there is none."""
        at = bisect_right(self._commits, until_ms, key=attrgetter("first_ms"))
        if not at:
            return NEVER_MS
        first_ms, last_ms, step_ms = self._commits[at - 1]
        return first_ms + (min(until_ms, last_ms) - first_ms) // step_ms * step_ms


def readers(timeline: Timeline) -> dict[str, Reader]:
    """The readers of all members, by name."""
    spans, loops = _by_member(timeline.spans), _by_member(timeline.loops)
    outages = [(span.start_ms, span.end_ms) for span in timeline.group if span.state == NO_COORDINATOR]
    every_ms = timeline.records.commit_interval_ms or 0
    return {name: Reader(spans[name], loops[name], outages, every_ms) for name in loops}


def _by_member(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.member].append(row)
    return found


def _while(spans: Iterable[Span], states: frozenset[MemberState]) -> Iterator[Times]:
    for inside, run in groupby(spans, lambda span: span.state in states):
        if inside:
            whole = list(run)
            yield whole[0].start_ms, whole[-1].end_ms


def _without(times: Iterable[Times], outages: Sequence[Times]) -> Iterator[Times]:
    ends = [to_ms for _, to_ms in outages]
    for start_ms, end_ms in times:
        for at in range(bisect_right(ends, start_ms), len(outages)):
            from_ms, to_ms = outages[at]
            if from_ms >= end_ms:
                break
            if from_ms > start_ms:
                yield start_ms, from_ms
            start_ms = to_ms
        if start_ms < end_ms:
            yield start_ms, end_ms


def _poll_runs(times: Iterable[Times], loops: Sequence[PollLoop]) -> Iterator[_Polls]:
    """The times cut where the poll loop changes."""
    starts = [loop.at_ms for loop in loops]
    for start_ms, end_ms in times:
        for at in range(max(0, bisect_right(starts, start_ms) - 1), len(loops)):
            loop = loops[at]
            until_ms = min(end_ms, starts[at + 1]) if at + 1 < len(loops) else end_ms
            if loop.at_ms >= end_ms:
                break
            if loop.processing_ms is not None and max(start_ms, loop.at_ms) < until_ms:
                yield _Polls(max(start_ms, loop.at_ms), until_ms, loop.at_ms, loop.processing_ms)


def _commits(poll_runs: Iterable[_Polls], loops: Iterable[PollLoop], every_ms: int) -> Iterator[_Commits]:
    """A commit in the first poll after it is due; the next is due `every_ms` later (Kafka: ConsumerCoordinator)."""
    births = deque((loop.at_ms, loop.commit_due_ms) for loop in loops if loop.commit_due_ms is not None)
    due_ms = 0
    for polls in poll_runs:
        while births and births[0][0] <= polls.start_ms:
            due_ms = births.popleft()[1]
        first_ms = polls.first_ms(due_ms)
        if first_ms >= polls.end_ms:
            continue
        step_ms = -(-every_ms // polls.period_ms) * polls.period_ms if polls.period_ms else every_ms
        last_ms = first_ms + (polls.end_ms - 1 - first_ms) // step_ms * step_ms
        yield _Commits(first_ms, last_ms, step_ms)
        due_ms = last_ms + every_ms
