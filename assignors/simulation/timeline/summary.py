"""The totals of a timeline."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter

from assignors.model import TopicPartition
from assignors.simulation.timeline.processed_records import Processed, lives, processed
from assignors.simulation.timeline.tables import Hold, MemberState, OwnershipSpan, Timeline


@dataclass(frozen=True, slots=True)
class Downtime:
    """How long no member of the group consumed a partition, in all and at most at once, whatever the cause.

    The cause: no owner, or an owner that does not poll or is paused. It counts from the first owner on, after
    `waited_ms` (None: there was no owner, and the rest is 0).
    """

    partition: TopicPartition
    waited_ms: int | None
    down_ms: int
    longest_ms: int


@dataclass(frozen=True, slots=True)
class Pause:
    """How long rebalances kept a member from consuming, in all and at most at once."""

    member: str
    paused_ms: int
    longest_ms: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One row of a comparison.

    `rebalances`: how often the group became Stable at a new generation or epoch. `moved`: how often a partition moved
    from one member to another. `down_ms`: of all partitions together; `longest_down_ms`: the longest time of one
    partition. `end_ms`: the length of the simulation. `duplicated` and `lost` count records (see `Processed`); None
    when the commits of the application are unknown.
    """

    protocol: str
    assignor: str
    end_ms: int
    rebalances: int
    moved: int
    down_ms: int
    longest_down_ms: int
    paused_ms: int
    longest_pause_ms: int
    duplicated: int | None
    lost: int | None
    downtime: tuple[Downtime, ...]
    pauses: tuple[Pause, ...]
    processed: tuple[Processed, ...] | None


def summarize(timeline: Timeline) -> Summary:
    by_partition = [list(rows) for _, rows in groupby(timeline.ownership, attrgetter("partition"))]
    downtime = tuple(map(_downtime, by_partition))
    pauses = tuple(_pauses(timeline))
    records = processed(timeline)
    return Summary(
        protocol=timeline.protocol,
        assignor=timeline.assignor,
        end_ms=timeline.end_ms,
        rebalances=_rebalances(timeline),
        moved=sum(map(_moves, by_partition)),
        down_ms=sum(partition.down_ms for partition in downtime),
        longest_down_ms=max((partition.longest_ms for partition in downtime), default=0),
        paused_ms=sum(member.paused_ms for member in pauses),
        longest_pause_ms=max((member.longest_ms for member in pauses), default=0),
        duplicated=None if records is None else sum(partition.duplicated for partition in records),
        lost=None if records is None else sum(partition.lost for partition in records),
        downtime=downtime,
        pauses=pauses,
        processed=records,
    )


def _rebalances(timeline: Timeline) -> int:
    stable = [span.generation for span in timeline.group if span.state == "Stable"]
    generations = sum(1 for _ in groupby(stable))
    return generations - timeline.group[0].state.startswith("Stable")


def _owned(rows: Iterable[OwnershipSpan]) -> list[OwnershipSpan]:
    return [row for row in rows if row.hold is Hold.OWNED]


def _downtime(rows: Sequence[OwnershipSpan]) -> Downtime:
    owned = _owned(rows)
    if not owned:
        return Downtime(rows[0].partition, None, 0, 0)
    first_ms = owned[0].start_ms
    gaps = [gap for life in lives(rows) for gap in _gaps(life, first_ms)]
    return Downtime(rows[0].partition, first_ms - rows[0].start_ms, sum(gaps), max(gaps, default=0))


def _gaps(life: Sequence[OwnershipSpan], first_ms: int) -> Iterator[int]:
    """Each time in which no member of the group consumed, from `first_ms` on."""
    until_ms = max(life[0].start_ms, first_ms)
    for row in _owned(life):
        if row.start_ms > until_ms:
            yield row.start_ms - until_ms
        until_ms = max(until_ms, row.end_ms)
    end_ms = max(row.end_ms for row in life)
    if end_ms > until_ms:
        yield end_ms - until_ms


def _moves(rows: Sequence[OwnershipSpan]) -> int:
    return sum(one.member != other.member and one.end_ms <= other.start_ms for one, other in pairwise(_owned(rows)))


def _pauses(timeline: Timeline) -> Iterator[Pause]:
    for member, spans in groupby(timeline.spans, attrgetter("member")):
        alike = groupby(spans, lambda span: span.state is MemberState.PAUSED)
        pauses = [sum(span.end_ms - span.start_ms for span in run) for paused, run in alike if paused]
        yield Pause(member, sum(pauses), max(pauses, default=0))
