"""Burrow's statuses of 100,000 partitions at once, from commits and from polls, beside the rules in plain Python."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.report import Row
from lag.offsets import Ints
from lag.verdict.burrow.evaluator import BurrowSettings, CommitWindows, group_statuses, partition_statuses
from lag.verdict.burrow.poll_windows import commit_windows
from lag.verdict.window.sample_window import BLOCK_CELLS, MAX_SAMPLES, RowWindow
from tests.oracle.burrow import Case, Commit, Partition, evaluate

PARTITIONS, PER_GROUP = 100_000, 25
POLLS, POLL_MS = MAX_SAMPLES, 10_000
SETTINGS = BurrowSettings()
NOW_MS = POLLS * POLL_MS
RUNS = 5


def rows() -> Iterator[Row]:
    """From windows of 10 commits, the same in plain Python, and from the polls that a server keeps."""
    polls = _polls(np.random.default_rng(7))
    windows = commit_windows(polls, SETTINGS.intervals)
    bounds = np.arange(0, PARTITIONS + 1, PER_GROUP)
    case = _case(windows)
    ours = _best_ms(lambda: group_statuses(partition_statuses(windows, NOW_MS, SETTINGS), bounds), RUNS)
    plain = _best_ms(lambda: [evaluate(case, group) for group in case.groups], 1)
    yield Row(f"{PARTITIONS:,} partitions, 10 commits each", f"{ours:.0f} ms", "goal < 150 ms")
    yield Row("the same, one partition after the other in plain Python", f"{plain:.0f} ms", f"{plain / ours:.0f}x ours")
    yield Row(f"{PARTITIONS:,} partitions, from {POLLS} polls", f"{_best_ms(lambda: _judge(polls), RUNS):.0f} ms", "")


def _polls(random: np.random.Generator) -> RowWindow:
    """A quarter of the partitions stands still, the others commit in two polls of three."""
    step = random.integers(0, 3, (POLLS, PARTITIONS)) * 50
    step[:, random.random(PARTITIONS) < 0.25] = 0
    committed = 1000 + np.cumsum(step, axis=0)
    log_end = np.maximum.accumulate(committed + random.integers(0, 500, (POLLS, PARTITIONS)), axis=0)
    return RowWindow(np.arange(POLLS, dtype=np.int64) * POLL_MS, committed, np.zeros_like(committed), log_end)


def _judge(polls: RowWindow) -> None:
    size = BLOCK_CELLS // POLLS
    for first in range(0, PARTITIONS, size):
        block = slice(first, first + size)
        committed, start, end = (column[:, block] for column in (polls.committed, polls.log_start, polls.log_end))
        windows = commit_windows(RowWindow(polls.times_ms, committed, start, end), SETTINGS.intervals)
        partition_statuses(windows, NOW_MS, SETTINGS)


def _case(windows: CommitWindows) -> Case:
    partitions = [_partition(windows, row) for row in range(PARTITIONS)]
    groups = (tuple(partitions[first : first + PER_GROUP]) for first in range(0, PARTITIONS, PER_GROUP))
    return Case(SETTINGS, NOW_MS, tuple(groups))


def _partition(windows: CommitWindows, row: int) -> Partition:
    def of(column: Ints) -> list[int]:
        return [value for value in column[:, row].tolist() if value >= 0]

    commits = map(Commit, of(windows.offset), of(windows.timestamp_ms), of(windows.lag))
    return Partition(tuple(commits), tuple(of(windows.log_end)), int(windows.current_lag[row]))


def _best_ms(work: Callable[[], object], runs: int) -> float:
    def once() -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) * 1000

    return min(once() for _ in range(runs))
