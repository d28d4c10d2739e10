"""Results of checks whether a small constant lag is records or transaction markers; valid until the offsets change."""

from collections.abc import Callable, Sequence

import numpy as np

from assignors.model import TopicPartition
from lag.model import ClusterSnapshot, Remainder
from lag.offsets import PartitionLag
from lag.verdict.health import Health
from lag.verdict.rules.status_rules import REMAINDERS, RemainderCodes

CHECKS_PER_POLL = 20
"""Each check is a fetch of at most 64 KB; further rows are checked in the next poll."""

Ask = Callable[[Sequence[PartitionLag]], Sequence[Remainder]]
"""Returns what a consumer can still read in each of these rows."""


class MarkerChecks:
    """Remembers what was found for (group, partition) at the offsets it was found at, the latest last."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, TopicPartition], tuple[int | None, int | None, Remainder]] = {}
        self._turns = np.zeros(0, np.int64)

    def column(self, snapshot: ClusterSnapshot) -> RemainderCodes:
        """uint8[n]: what is known of each row of the offset table. Drops results whose offsets have changed."""
        left = np.zeros(len(snapshot.offsets), np.uint8)
        self._turns = np.zeros(len(snapshot.offsets), np.int64)
        for turn, ((group_id, tp), (committed, log_end, found)) in enumerate(list(self._found.items()), 1):
            row = _row_of(snapshot, group_id, tp)
            if row is None or row[1] != (committed, log_end):
                del self._found[group_id, tp]
            else:
                left[row[0]] = REMAINDERS.index(found)
                self._turns[row[0]] = turn
        return left

    def look(self, health: Health, ask: Ask) -> None:
        """Check the rows that need it, at most CHECKS_PER_POLL: first those that were never checked.

        Some stay unknown for good, as without the ACL to read the topic; they must not hold up the others.
        `column` was called for the same snapshot.
        """
        needed = np.asarray(health.needs_marker_check, np.int64)
        first = needed[np.argsort(self._turns[needed], kind="stable")][:CHECKS_PER_POLL]
        wanted = [_named(health.snapshot, int(row)) for row in first]
        if not wanted:
            return
        for (group_id, row), found in zip(wanted, ask([row for _, row in wanted]), strict=True):
            self._found.pop((group_id, row.tp), None)
            self._found[group_id, row.tp] = (row.committed, row.log_end, found)


def _row_of(
    snapshot: ClusterSnapshot, group_id: str, tp: TopicPartition
) -> tuple[int, tuple[int | None, int | None]] | None:
    """The table's row of a group's partition, with its committed and log end offset."""
    number = snapshot.by_group.get(group_id)
    if number is None:
        return None
    first = snapshot.offsets.rows(number).start
    for at, row in enumerate(snapshot.groups[number].partitions):
        if row.tp == tp:
            return first + at, (row.committed, row.log_end)
    return None


def _named(snapshot: ClusterSnapshot, table_row: int) -> tuple[str, PartitionLag]:
    number = int(np.searchsorted(snapshot.offsets.bounds, table_row, side="right")) - 1
    group = snapshot.groups[number]
    return group.group_id, group.partitions[table_row - snapshot.offsets.rows(number).start]
