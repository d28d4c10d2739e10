"""The picture of the Protocol lab: the lanes of each protocol, and the spans in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import attrgetter

from app.ui.formats import brief
from app.ui.scenario.played import Played
from assignors.model import TopicPartition
from assignors.simulation.timeline.tables import Hold, MemberState, OwnershipSpan, Span

MOST_MEMBERS, MOST_LANES = 12, 16
"""How many members and partitions of each protocol are drawn: those that wait longest."""
REBALANCING = "rebalancing"
STABLE = "stable"
OWNED = MemberState.CONSUMING.value
MOVED = "consumed by a new owner"
GAP = "not consumed"
THIN = {Hold.FROZEN: MemberState.FROZEN, Hold.STALLED: MemberState.STALLED, Hold.ZOMBIE: MemberState.ZOMBIE}


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in a lane. A thin one leaves the span behind it visible."""

    row: int
    start_ms: int
    end_ms: int
    look: str
    label: str
    hover: str
    is_thin: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one protocol: its title, its group (""), members and partitions."""

    its: Played
    title: int
    rows: Mapping[str, int]
    partitions: Mapping[TopicPartition, int]

    @property
    def last(self) -> int:
        """Its last row."""
        return max([self.title + 1, *self.rows.values(), *self.partitions.values()])


def blocks(played: Sequence[Played]) -> list[Block]:
    """The rows of all protocols, one below the other; row 0 is for the events."""
    made: list[Block] = []
    for its in played:
        title = made[-1].last + 1 if made else 1
        names = ["", *_members(its)]
        rows = {name: title + 1 + at for at, name in enumerate(names)}
        below = title + 1 + len(names)
        made.append(Block(its, title, rows, {tp: below + at for at, tp in enumerate(_partitions(its))}))
    return made


def _members(its: Played) -> list[str]:
    waits = {pause.member: pause.paused_ms for pause in its.summary.pauses}
    worst = sorted(waits, key=lambda name: -waits[name])[:MOST_MEMBERS]
    return [name for name in waits if name in worst]


def _partitions(its: Played) -> list[TopicPartition]:
    down = {each.partition: each.down_ms for each in its.summary.downtime}
    worst = set(sorted(down, key=lambda tp: -down[tp])[:MOST_LANES])
    return [tp for tp in down if tp in worst]


def left_out(played: Sequence[Played]) -> bool:
    """Whether not all members and partitions are drawn."""
    return any(len(its.summary.pauses) > MOST_MEMBERS or len(its.summary.downtime) > MOST_LANES for its in played)


def bars(block: Block) -> Iterator[Bar]:
    """All spans of a protocol."""
    line, group = block.its.timeline, block.rows[""]
    for phase in line.group:
        look = STABLE if phase.state in ("Stable", "Empty", "") else REBALANCING
        label = f"{phase.state} {phase.generation}" if look == STABLE and phase.state else phase.state
        yield Bar(group, phase.start_ms, phase.end_ms, look, label, f"group: {label or 'does not exist yet'}")
    for (member, state), spans in groupby(line.spans, attrgetter("member", "state")):
        if member in block.rows:
            yield _doing(block.rows[member], list(spans), state)
    yield from _holdings(block)


def _doing(row: int, spans: Sequence[Span], state: MemberState) -> Bar:
    """A member in one state, over any number of generations."""
    start_ms, end_ms = spans[0].start_ms, spans[-1].end_ms
    label = brief(end_ms - start_ms) if state is MemberState.PAUSED else str(state)
    hover = f"{spans[0].member}: {state}, generation {spans[-1].generation}"
    return Bar(row, start_ms, end_ms, state, "" if state is MemberState.CONSUMING else label, hover)


def _holdings(block: Block) -> Iterator[Bar]:
    for partition, held in groupby(block.its.timeline.ownership, attrgetter("partition")):
        if (row := block.partitions.get(partition)) is not None:
            rows = list(held)
            yield from (_nobody(row, partition, *gap) for gap in gaps(rows))
            yield from (_held(row, its, rows) for its in rows if its.hold is not Hold.NOBODY)


def gaps(held: Sequence[OwnershipSpan]) -> Iterator[tuple[int, int]]:
    """When a partition existed and no member consumed it: it was free, or its owner frozen or stalled."""
    cuts = sorted({at for its in held for at in (its.start_ms, its.end_ms)})
    for is_gap, run in groupby(pairwise(cuts), lambda cut: _is_free(held, cut[0])):
        if is_gap:
            whole = list(run)
            yield whole[0][0], whole[-1][1]


def _is_free(held: Sequence[OwnershipSpan], at_ms: int) -> bool:
    holds = {its.hold for its in held if its.start_ms <= at_ms < its.end_ms}
    return bool(holds) and Hold.OWNED not in holds


def _nobody(row: int, partition: TopicPartition, start_ms: int, end_ms: int) -> Bar:
    return Bar(row, start_ms, end_ms, GAP, brief(end_ms - start_ms), f"{partition}: not consumed")


def _held(row: int, its: OwnershipSpan, rows: Sequence[OwnershipSpan]) -> Bar:
    """A span of ownership; thin for a frozen, stalled or zombie owner."""
    first = next((held.member for held in rows if held.hold is Hold.OWNED), None)
    hover = f"{its.partition}: {its.member}, {its.hold}"
    if its.hold in THIN:
        return Bar(row, its.start_ms, its.end_ms, THIN[its.hold], "", hover, is_thin=True)
    return Bar(row, its.start_ms, its.end_ms, OWNED if its.member == first else MOVED, its.member or "", hover)
