"""Burrow's statuses from the polls of this server: which commits the polls saw, and what Burrow makes of them."""

from typing import NamedTuple

import numpy as np

from lag.model import ClusterSnapshot
from lag.offsets import UNKNOWN, Ints
from lag.verdict.burrow.evaluator import (
    BurrowGroups,
    BurrowPartitions,
    BurrowSettings,
    BurrowStatus,
    CommitWindows,
    group_statuses,
    partition_statuses,
)
from lag.verdict.row_index import reduce_groups
from lag.verdict.window.rates import forward_fill
from lag.verdict.window.sample_window import RowWindow, Window


class BurrowStatuses(NamedTuple):
    """The statuses of groups of one snapshot, in their order, and of their rows in its offset table."""

    partitions: BurrowPartitions
    groups: BurrowGroups


def burrow_statuses(
    snapshot: ClusterSnapshot, window: Window, settings: BurrowSettings | None = None, groups: range | None = None
) -> BurrowStatuses:
    """What Burrow's rules say of these groups, by default all, of the snapshot, the last sample of `window`.

    A group without a committed offset is NOTFOUND. Burrow reads every commit; these are the ones that polls saw, so

    - a commit is a poll with another committed offset than the poll before. Of several commits between two polls only
      the last counts, and the `intervals` commits span at least as many polls;
    - a commit of the same offset is not seen. A consumer that polls Kafka without making progress is STALL in Burrow,
      and STOP here;
    - the time of a commit is that of the poll: up to one interval late. The first commit of the window has the time of
      the first poll, however old it is;
    - the lag of a commit is that in its poll. Burrow compares the commit with a log end up to 10 s old;
    - `complete` starts at 0.1 when this server starts. Burrow reads older commits at its start, without their lag.
    """
    settings, groups = settings or BurrowSettings(), groups or range(len(snapshot.groups))
    bounds = snapshot.offsets.bounds[groups.start : groups.stop + 1]
    first, count = int(bounds[0]), int(bounds[-1] - bounds[0])
    rows = (window.rows(slice(first + b.start, first + min(b.stop, count))) for b in window.blocks(count))
    judged = [partition_statuses(commit_windows(row, settings.intervals), snapshot.at_ms, settings) for row in rows]
    partitions = BurrowPartitions(*(np.concatenate(columns) for columns in zip(*judged, strict=True)))
    return BurrowStatuses(partitions, _found(partitions, bounds - first))


def commit_windows(polls: RowWindow, intervals: int) -> CommitWindows:
    """The last commits that the polls saw, and the last known log ends; as Burrow, without those at no known log end.

    The current lag is 0 where the committed offset is beyond the log end or one of them is not known.
    """
    known = (polls.committed != UNKNOWN) & (polls.log_end != UNKNOWN)
    committed = np.where(known, polls.committed, UNKNOWN)
    filled = forward_fill(committed)
    is_commit = known.copy()
    is_commit[1:] &= committed[1:] != filled[:-1]
    slot = intervals - is_commit[::-1].cumsum(axis=0)[::-1]
    poll, row = np.nonzero(is_commit & (slot >= 0))
    offset, timestamp_ms, lag = windows = np.full((3, intervals, len(slot[0])), UNKNOWN, np.int64)
    windows[:, slot[poll, row], row] = (
        committed[poll, row],
        polls.times_ms[poll],
        np.maximum(polls.log_end - committed, 0)[poll, row],
    )
    last, log_end = filled[-1], forward_fill(polls.log_end)[-1]
    current_lag = np.where((last != UNKNOWN) & (log_end != UNKNOWN), np.maximum(log_end - last, 0), 0)
    return CommitWindows(offset, timestamp_ms, lag, polls.log_end[-intervals:], current_lag)


def _found(partitions: BurrowPartitions, bounds: Ints) -> BurrowGroups:
    groups = group_statuses(partitions, bounds)
    has_commit = reduce_groups(np.logical_or, partitions.complete > 0, bounds, False)
    return groups._replace(status=np.where(has_commit, groups.status, np.uint8(BurrowStatus.NOTFOUND)))
