"""How often a group commits, and what of its lag is not its habit. Pure functions on arrays.

A sink that commits every minute has a lag like a saw: it grows for a minute, and falls to 0 with the commit. So the lag
of a row that commits more rarely than it is polled is judged just after its commits, and a row is silent only if it has
not committed for longer than it usually takes. The usual time is that of its earlier commits: by the polls that saw
records wait, which leave out the time in which there was nothing to commit, and by commit records, which tell also
what was before the first poll.
"""

from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.row_index import group_of_row, reduce_groups
from lag.verdict.waiting import LONGEST_WAIT_MS, Waiting
from lag.verdict.window import rates
from lag.verdict.window.rates import Floats
from lag.verdict.window.sample_window import RowWindow

ENOUGH_WAITS, MOST_WAITS = 10, 5
"""Time in which there was nothing to commit is a part of an interval between two commits. So once polls have seen
ENOUGH_WAITS commits, an interval counts up to MOST_WAITS times the longest time that records waited for one."""


def usual_ms(window: RowWindow, bounds: Ints) -> Ints:
    """int64[n_rows]: how long the group usually takes to commit what waits; -1 where no commit tells it.

    A row whose own commits do not tell it has the longest of the other rows of its group, i.e. rows
    `bounds[i]:bounds[i + 1]`.
    """
    if window.waiting is None:
        return np.full(window.committed.shape[1], UNKNOWN, np.int64)
    own = _of_rows(window.waiting, poll_ms(window.times_ms))
    of_group = reduce_groups(np.maximum, own, bounds, UNKNOWN)[group_of_row(bounds)]
    return np.where(own == UNKNOWN, of_group, own)


def _of_rows(waiting: Waiting, every_ms: float) -> Ints:
    by_records = waiting.record_interval_ms != UNKNOWN
    interval_ms = np.where(by_records, waiting.record_interval_ms, waiting.interval_ms)
    most_ms = np.where(waiting.waits >= ENOUGH_WAITS, MOST_WAITS * waiting.wait_ms, LONGEST_WAIT_MS)
    least_ms = waiting.wait_ms - every_ms  # it may have begun and ended anywhere between two polls
    longest = np.maximum(np.minimum(interval_ms, most_ms), least_ms).astype(np.int64)
    return np.where(interval_ms == UNKNOWN, UNKNOWN, longest)  # the first wait may have begun before the first poll


def poll_ms(times_ms: Ints) -> float:
    """The usual time between two polls; 0 for a single one."""
    return float(np.median(np.diff(times_ms))) if len(times_ms) > 1 else 0.0


class AtCommits(NamedTuple):
    """Rows that commit more rarely than every other poll.

    rows      int64[n], the rows
    lag       int64[n_samples, n]: the lag just after the last commit until then, at most; -1 before the first
    consume, produce   float64[n]: records per second between the first and the last commit; NaN with fewer than two
    """

    rows: Ints
    lag: Ints
    consume: Floats
    produce: Floats


def at_commits(window: RowWindow, lag: Ints, moved: Flags) -> AtCommits:
    """`lag` is int64[n_samples, n_rows]; `moved` bool[n_samples - 1, n_rows]: the committed offset moved since then."""
    known = window.committed[:-1] != UNKNOWN
    rows = np.flatnonzero(2 * moved.sum(axis=0) < (known & (window.committed[1:] != UNKNOWN)).sum(axis=0))
    if not len(rows):
        return AtCommits(rows, lag[:, rows], np.zeros(0), np.zeros(0))
    moves, log_end = moved[:, rows], window.log_end[:, rows]
    missed = np.maximum(log_end[:-1] - window.positions()[1:, rows], 0)  # the commit came after the poll before
    left = np.where(log_end[:-1] == UNKNOWN, lag[1:, rows], np.minimum(missed, lag[1:, rows]))
    just_after = np.full(log_end.shape, UNKNOWN, np.int64)
    just_after[1:][moves] = left[moves]
    filled = np.where(lag[:, rows] == UNKNOWN, UNKNOWN, rates.forward_fill(just_after))
    return AtCommits(
        rows, filled, *(_between(moves, column[:, rows], window) for column in (window.committed, window.log_end))
    )


def _between(moves: Flags, offsets: Ints, window: RowWindow) -> Floats:
    """float64[n]: the increase per second from the first to the last sample after a move."""
    first, last = 1 + np.argmax(moves, axis=0), len(moves) - np.argmax(moves[::-1], axis=0)
    row = np.arange(moves.shape[1])
    span_s = (window.times_ms[last] - window.times_ms[first]) / 1000
    low, high = offsets[first, row], offsets[last, row]
    known = moves.any(axis=0) & (span_s > 0) & (low != UNKNOWN) & (high != UNKNOWN)
    return np.where(known, np.maximum(high - low, 0) / np.where(known, span_s, 1.0), np.nan)
