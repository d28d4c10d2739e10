"""What each record of a partition is to the consumer after a call, and at which call something goes wrong."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from app.ui.charts import ruler
from assignors.labs.calls import PartitionOffsets, Turn
from assignors.simulation.errors import KafkaError


class RecordState(StrEnum):
    """What a record is to the consumer."""

    LOST = "deleted before it is read"
    DELETED = "deleted"
    MARKER = "transaction marker"
    AGAIN = "read again by this call"
    NOW = "read by this call"
    REWOUND = "to read again"
    COMMITTED = "read and committed"
    READ = "read, not committed"
    SKIPPED = "never read"
    HELD = "held by an open transaction"
    UNREAD = "to read"


KINDS = tuple(RecordState)
Change = tuple[PartitionOffsets | None, PartitionOffsets]
"""The offsets of a partition before and after a call; before is None for a new partition."""


def marked(its: PartitionOffsets) -> ruler.Offsets:
    """The offsets that a ruler shows; the last stable one only while a transaction is open."""
    held = its.last_stable if its.last_stable < its.log_end else None
    return ruler.Offsets(its.log_start, its.committed, its.position, held, its.log_end)


def classify(before: PartitionOffsets | None, its: PartitionOffsets) -> NDArray[np.int8]:
    """Each record's index in `KINDS`: int8[log end]; `before` are the offsets before the call."""
    offsets, earlier = np.arange(its.log_end), len(before.consumed) if before else 0
    read, now = (_covered(runs, its.log_end) for runs in (its.consumed[:earlier], its.consumed[earlier:]))
    position, committed = its.position, its.committed or 0
    found = {
        RecordState.LOST: (offsets < its.log_start) & ~read & ~now,
        RecordState.DELETED: offsets < its.log_start,
        RecordState.MARKER: np.isin(offsets, its.markers),
        RecordState.AGAIN: read & now,
        RecordState.NOW: now,
        RecordState.REWOUND: read & (position is not None) & (offsets >= (position or 0)),
        RecordState.COMMITTED: read & (offsets < committed),
        RecordState.READ: read,
        RecordState.SKIPPED: offsets < max(position or 0, committed),
        RecordState.HELD: offsets >= its.last_stable,
    }
    codes = [np.int8(KINDS.index(kind)) for kind in found]
    return np.select(list(found.values()), codes, np.int8(KINDS.index(RecordState.UNREAD)))


def _covered(runs: Sequence[range], end: int) -> NDArray[np.bool_]:
    covered = np.zeros(end, bool)
    for run in runs:
        covered[run.start : run.stop] = True
    return covered


def _count(before: PartitionOffsets | None, its: PartitionOffsets, kind: RecordState) -> int:
    """How many records of the partition are of that kind."""
    return int(np.count_nonzero(classify(before, its) == KINDS.index(kind)))


def changes(turns: Sequence[Turn], at: int) -> list[Change]:
    """Each partition before and after a call."""
    old = {its.partition: its for its in turns[at - 1].offsets} if at else {}
    return [(old.get(its.partition), its) for its in turns[at].offsets]


def trouble(before: PartitionOffsets | None, its: PartitionOffsets) -> dict[RecordState, int]:
    """How many records the call reads again, skips, or deletes unread; kinds without any are left out."""
    if before == its:
        return {}
    found = {RecordState.AGAIN: _count(before, its, RecordState.AGAIN)}
    for kind in (RecordState.SKIPPED, RecordState.LOST):
        found[kind] = _count(before, its, kind) - (_count(None, before, kind) if before else 0)
    return {kind: number for kind, number in found.items() if number > 0}


HANDSHAKE = KafkaError.MEMBER_ID_REQUIRED.name
"""Every dynamic member of a classic group gets this error once (KIP-394), which is no trouble."""


def first_trouble(turns: Sequence[Turn]) -> int:
    """The first call that is refused, or that reads records again, skips or loses some; without one the last call."""
    troubled = (
        at
        for at, turn in enumerate(turns)
        if turn.error not in (None, HANDSHAKE) or any(trouble(*change) for change in changes(turns, at))
    )
    return next(troubled, len(turns) - 1)


def most_records(turns: Sequence[Turn]) -> int:
    """The largest log end of the story."""
    return max((its.log_end for turn in turns for its in turn.offsets), default=0)


def shown(turns: Sequence[Turn], at: int, most: int) -> list[Change]:
    """The partitions to draw, before and after the call: of more than `most` those that change, then the assigned."""
    found = changes(turns, at)
    order = sorted(found, key=lambda change: (change[0] == change[1], change[1].position is None))[:most]
    return [change for change in found if change in order]
