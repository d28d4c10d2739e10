"""The data-loss countdown: exact values by age, by the pace of deletion, and what is not known."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lag.model import FOREVER, ClusterSnapshot, Unread
from lag.offsets import UNKNOWN
from lag.verdict.window import time_to_loss
from lag.verdict.window.rates import NEVER
from lag.verdict.window.sample_window import SampleRing, Window
from lag.verdict.window.time_to_loss import NoTime
from tests.lag.make import cluster, end, group

MINUTE_MS = 60_000
ENDS = [10, 20, 30, 40]


def window(committed: Sequence[int], log_start: Sequence[int], log_end: Sequence[int]) -> Window:
    """One row over time, a sample every 10 s."""
    begun, start, log = (
        tuple(np.array([value], np.int64) for value in values) for values in (committed, log_start, log_end)
    )
    return Window(np.arange(len(committed), dtype=np.int64) * 10_000, np.zeros(1, np.int32), begun, start, log)


def left(
    committed: Sequence[int], log_start: Sequence[int], log_end: Sequence[int], retention_ms: int | None, lag: int = 5
) -> tuple[float | None, ...]:
    """(seconds, at most); None where not known."""
    retention_s = np.array([math.nan if retention_ms in (None, FOREVER) else retention_ms / 1000])
    seen = window(committed, log_start, log_end)
    found = time_to_loss.estimate(seen, np.array([0]), np.array([lag], np.int64), retention_s)
    return tuple(None if math.isnan(v[0]) else float(v[0]) for v in (found.seconds, found.at_most_s))


def test_a_position_has_the_retention_less_the_age_of_its_record() -> None:
    assert left([25] * 4, [0] * 4, ENDS, MINUTE_MS) == (45.0, None)


def test_a_group_that_has_read_all_has_the_whole_retention() -> None:
    assert left([40] * 4, [0] * 4, ENDS, MINUTE_MS, lag=0) == (60.0, None)


def test_a_group_that_has_read_all_but_aborted_records_has_the_whole_retention() -> None:
    ring = SampleRing()
    for number, log_end in enumerate(ENDS):
        seen = ring.append(cluster({"g": group({"t-0": 25})}, {"t-0": end(log_end)}, number, 10_000 * number))
    seen = ring.checked(seen, np.array([0]), [Unread(40)])
    found = time_to_loss.estimate(seen, np.array([0]), np.array([15], np.int64), np.array([60.0]))
    assert found.seconds.tolist() == [60.0]


def test_a_record_that_has_outlived_its_retention_may_go_at_any_moment() -> None:
    assert left([25] * 4, [0] * 4, ENDS, 12_000) == (0.0, None)


def test_a_record_older_than_our_samples_has_an_upper_bound_only() -> None:
    assert left([5] * 4, [0] * 4, ENDS, MINUTE_MS) == (None, 30.0)


def test_a_record_older_than_our_samples_and_than_its_retention_may_go_at_any_moment() -> None:
    assert left([5] * 4, [0] * 4, ENDS, 30_000) == (0.0, None)


def test_a_position_below_the_log_start_loses_more_at_once_where_records_are_deleted() -> None:
    assert left([25] * 4, [28] * 4, ENDS, MINUTE_MS) == (0.0, None)
    assert left([5] * 4, [8] * 4, ENDS, MINUTE_MS) == (0.0, None)
    assert left([5] * 4, [0, 10, 20, 28], ENDS, None) == (0.0, None)


@pytest.mark.parametrize("retention_ms", [FOREVER, None])
def test_the_time_of_the_next_loss_is_unknown_without_retention_and_deletions(
    retention_ms: Any,
) -> None:
    assert left([25] * 4, [28] * 4, ENDS, retention_ms) == (None, None)


@pytest.mark.parametrize("retention_ms", [FOREVER, None])
def test_without_a_retention_time_and_without_deletions_nothing_is_known(retention_ms: Any) -> None:
    assert left([25] * 4, [0] * 4, ENDS, retention_ms) == (None, None)


def test_without_a_lag_nothing_is_known() -> None:
    assert left([25] * 4, [0] * 4, [10, 20, 30, UNKNOWN], MINUTE_MS, lag=UNKNOWN) == (None, None)
    assert left([UNKNOWN] * 4, [5] * 4, ENDS, MINUTE_MS, lag=UNKNOWN) == (None, None)


def test_deletion_reaches_the_group_at_the_difference_of_their_paces() -> None:
    """As `minutes.time_to_loss`: 2 records a second are deleted, 1 is read, 100 lie between."""
    assert left([130, 140, 150, 160], [0, 20, 40, 60], [1000] * 4, FOREVER) == ((160 - 60) / (20 / 10 - 10 / 10), None)


def test_two_deletions_give_no_pace() -> None:
    assert left([130, 140, 150], [0, 20, 40], [1000] * 3, FOREVER) == (None, None)


def test_deletion_that_does_not_gain_on_the_group_never_reaches_it() -> None:
    assert left([130, 160, 190, 220], [0, 20, 40, 60], [1000] * 4, FOREVER) == (NEVER, None)


def test_deletions_in_polls_that_knew_no_commit_do_not_count() -> None:
    assert left([UNKNOWN, UNKNOWN, 150, 160], [0, 20, 40, 60], [1000] * 4, FOREVER) == (None, None)


def test_a_log_start_that_one_poll_did_not_know_is_taken_from_the_poll_before() -> None:
    assert left([130, 130, 130, 130, 130], [0, 20, UNKNOWN, 60, 80], [1000] * 5, FOREVER) == (50 / 2.0, None)


def test_the_earlier_of_age_and_pace_counts() -> None:
    committed, start, ends = [22] * 4, [0, 4, 8, 12], [10, 20, 30, 40]
    assert left(committed, start, ends, FOREVER) == (10 / 0.4, None)
    assert left(committed, start, ends, MINUTE_MS) == (25.0, None)
    assert left(committed, start, ends, 30_000) == (12.0, None)


def test_a_pace_that_never_reaches_the_group_leaves_the_age() -> None:
    assert left([25, 35, 45, 55], [0, 1, 2, 3], [40, 60, 80, 100], MINUTE_MS) == (60 - 22.5, None)


def test_a_pace_beyond_what_the_age_allows_is_not_believed() -> None:
    assert left([50] * 4, [0, 1, 2, 3], [100] * 4, MINUTE_MS) == (None, 30.0)
    assert left([50] * 4, [0, 10, 20, 30], [100] * 4, MINUTE_MS) == (20.0, None)


def polled(polls: int = 4, retention_ms: int | None = MINUTE_MS) -> tuple[ClusterSnapshot, Window]:
    """Seven groups, 10 s apart; the log of t-0 grows, and that of t-1 also loses records at its start."""
    ring = SampleRing()
    for poll in range(polls):
        ends = {"t-0": end(10 + 10 * poll), "t-1": end(100 + 10 * poll, start=poll)}
        groups = {f"g{at}": group({"t-0": 25 + at, "t-1": 105 - at}) for at in range(7)}
        snapshot = cluster(groups, ends, poll + 1, poll * 10_000)
        window = ring.append(snapshot)
    return replace(snapshot, topics={"t": replace(snapshot.topics["t"], retention_ms=retention_ms)}), window


def test_no_rows_have_no_countdown() -> None:
    snapshot = cluster({}, {}, 1, 0)
    found = time_to_loss.of_groups(snapshot, SampleRing().append(snapshot))
    assert (len(found.time.seconds), len(found.time.at_most_s), len(found.row)) == (0, 0, 0)


def test_rows_of_several_groups_and_partitions_are_counted_down_together() -> None:
    snapshot, seen = polled()
    found = time_to_loss.of_rows(snapshot, seen, np.array([0, 1, 2, 5, 13]))
    assert found.seconds[:4].tolist() == [45.0, 35.0, 46.0, 33.0]
    assert (np.isnan(found.seconds[4]), found.at_most_s[4]) == (True, 30.0)


def test_the_row_with_the_least_time_counts_for_its_group() -> None:
    (seconds, at_most_s), rows = time_to_loss.of_groups(*polled())
    assert seconds.tolist()[:6] == [35.0, 34.0, 33.0, 32.0, 31.0, 30.0]
    assert (np.isnan(seconds[6]), at_most_s[6], rows.tolist()) == (True, 30.0, [1, 3, 5, 7, 9, 11, 13])


@pytest.mark.parametrize(
    ("commits", "retention_ms", "reason"),
    [
        ({}, MINUTE_MS, NoTime.NO_OFFSETS),
        ({"t-0": 20}, MINUTE_MS, NoTime.NOTHING_UNREAD),
        ({"t-0": None}, MINUTE_MS, NoTime.LAG_UNKNOWN),
        ({"t-0": 15}, MINUTE_MS, None),
        ({"t-0": 5}, MINUTE_MS, NoTime.OLDER_THAN_SAMPLES),
        ({"t-0": 15}, FOREVER, NoTime.NO_DELETION_BY_AGE),
        ({"t-0": 15}, None, NoTime.RETENTION_UNKNOWN),
    ],
)
def test_without_a_time_there_is_a_reason(commits: Any, retention_ms: int | None, reason: NoTime | None) -> None:
    ring = SampleRing()
    for poll in range(2):
        snapshot = cluster({"g": group(commits)}, {"t-0": end(10 + 10 * poll)}, poll + 1, poll * 10_000)
        window = ring.append(snapshot)
    snapshot = replace(snapshot, topics={"t": replace(snapshot.topics["t"], retention_ms=retention_ms)})
    (seconds, at_most_s), rows = time_to_loss.of_groups(snapshot, window)
    assert time_to_loss.why_none(snapshot, int(rows[0]), float(seconds[0]), float(at_most_s[0])) is reason
