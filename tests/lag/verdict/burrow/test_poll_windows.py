"""Burrow's statuses from polls: which commits the polls show, and what Burrow's rules make of them."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from lag.verdict.burrow.evaluator import BurrowSettings, BurrowStatus, CommitWindows
from lag.verdict.burrow.poll_windows import BurrowStatuses, burrow_statuses, commit_windows
from lag.verdict.window.sample_window import RowWindow, SampleRing
from tests.lag.make import cluster, end, group

POLLS = 12
Values = Sequence[int | None]


def watched(
    committed: Mapping[str, Mapping[str, Values]], ends: Mapping[str, Values], settings: BurrowSettings | None = None
) -> BurrowStatuses:
    """After polls every 10 s of {group: {partition: committed offset per poll}} and {partition: log end per poll}."""
    ring = SampleRing()
    for poll in range(POLLS):
        groups = {name: group({key: values[poll] for key, values in rows.items()}) for name, rows in committed.items()}
        log_ends = {key: end(values[poll]) for key, values in ends.items()}
        snapshot = cluster(groups, log_ends, number=poll + 1, at_ms=1_000_000 + poll * 10_000)
        window = ring.append(snapshot)
    return burrow_statuses(snapshot, window, settings)


def steps(start: int, step: int) -> list[int]:
    return [start + step * poll for poll in range(POLLS)]


@pytest.mark.parametrize(
    ("expected", "committed", "log_end"),
    [
        ("OK", steps(100, 10), steps(100, 10)),
        ("OK", [100] * POLLS, [100] * POLLS),
        ("WARN", steps(100, 10), steps(150, 12)),
        ("OK", steps(100, 12), steps(350, 10)),
        ("STOP", [100] * POLLS, steps(150, 10)),
        ("STOP", [*steps(100, 10)[:2], *[110] * (POLLS - 2)], steps(150, 10)),
        ("REWIND", [*steps(100, 10)[:-1], 50], steps(150, 10)),
    ],
)
def test_a_partition_has_the_status_of_its_commits(expected: str, committed: Values, log_end: Values) -> None:
    found = watched({"g": {"t-0": committed}}, {"t-0": log_end})
    assert BurrowStatus(found.partitions.status[0]).name == expected


def test_a_group_is_err_with_its_lag_and_the_row_that_has_most_of_it() -> None:
    found = watched(
        {"a": {"t-0": steps(100, 10)}, "b": {"t-0": [100] * POLLS, "t-1": [7] * POLLS}},
        {"t-0": steps(100, 10), "t-1": [12] * POLLS},
    )
    assert [BurrowStatus(code).name for code in found.groups.status] == ["OK", "ERR"]
    assert found.groups.totallag.tolist() == [0, 115]
    assert found.groups.maxlag.tolist() == [0, 1]
    assert found.groups.complete.tolist() == [1.0, 0.0]
    np.testing.assert_array_equal(found.partitions.complete, np.array([1.0, 0.1, 0.1], np.float32))


def test_a_group_without_a_committed_offset_is_not_found() -> None:
    found = watched({"g": {"t-0": [None] * POLLS}, "none": {}}, {"t-0": [9] * POLLS})
    assert found.groups.status.tolist() == [BurrowStatus.NOTFOUND, BurrowStatus.NOTFOUND]


def test_the_settings_count() -> None:
    committed, ends = {"g": {"t-0": [100] * POLLS}}, {"t-0": [104] * POLLS}
    assert watched(committed, ends).groups.status.tolist() == [BurrowStatus.ERR]
    assert watched(committed, ends, BurrowSettings(allowed_lag=4)).groups.status.tolist() == [BurrowStatus.OK]
    assert watched(committed, ends, BurrowSettings(minimum_complete=0.2)).groups.status.tolist() == [BurrowStatus.OK]


def commits(committed: Values, log_end: Values, intervals: int) -> CommitWindows:
    """One row; -1 is not known."""
    times_ms = np.arange(len(committed), dtype=np.int64) * 10
    committed_column, end_column = (np.array(values, np.int64)[:, None] for values in (committed, log_end))
    polls = RowWindow(times_ms, committed_column, np.zeros_like(end_column), end_column)
    return commit_windows(polls, intervals)


def test_a_commit_is_a_poll_with_another_committed_offset() -> None:
    found = commits([5, 5, 7, -1, 7, 6], [8, 9, 9, 9, 9, 10], intervals=4)
    assert found.offset[:, 0].tolist() == [-1, 5, 7, 6]
    assert found.timestamp_ms[:, 0].tolist() == [-1, 0, 20, 50]
    assert found.lag[:, 0].tolist() == [-1, 3, 2, 4]
    assert found.log_end[:, 0].tolist() == [9, 9, 9, 10]
    assert found.current_lag.tolist() == [4]


def test_a_commit_counts_from_the_first_poll_that_knows_the_log_end() -> None:
    found = commits([5, 5, 7], [-1, 9, -1], intervals=3)
    assert found.offset[:, 0].tolist() == [-1, -1, 5]
    assert found.timestamp_ms[:, 0].tolist() == [-1, -1, 10]
    assert found.current_lag.tolist() == [4]


def test_only_the_last_commits_are_kept() -> None:
    found = commits([1, 2, 3, 4], [9, 9, 3, 3], intervals=2)
    assert found.offset[:, 0].tolist() == [3, 4]
    assert found.lag[:, 0].tolist() == [0, 0]
    assert found.current_lag.tolist() == [0]


def test_without_a_commit_nothing_waits() -> None:
    found = commits([-1, -1], [9, 9], intervals=2)
    assert found.offset[:, 0].tolist() == [-1, -1]
    assert found.current_lag.tolist() == [0]
