"""Burrow's rules: each beside the nearest window on which it does not fire, and random windows."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lag.verdict.burrow.evaluator import BurrowSettings, BurrowStatus, CommitWindows, group_statuses, partition_statuses
from tests.oracle import burrow, tally
from tests.oracle.burrow import Case, Commit, Partition

FIXTURE = Path(__file__).parents[3] / "fixtures" / "burrow.jsonl"
NOW_MS = 1_700_000_100_000
SETTINGS = BurrowSettings(intervals=4)


def partition(
    offsets: list[int],
    lags: list[int | None],
    age_ms: int = 1000,
    every_ms: int = 5000,
    log_ends: tuple[int, ...] = (900, 1000),
) -> Partition:
    """Commits `every_ms` apart, the last `age_ms` ago; the lag is that to the last log end."""
    times = [NOW_MS - age_ms - every_ms * (len(offsets) - 1 - at) for at in range(len(offsets))]
    return Partition(tuple(map(Commit, offsets, times, lags)), log_ends, max(0, log_ends[-1] - offsets[-1]))


def status(one: Partition, settings: BurrowSettings = SETTINGS, now_ms: int = NOW_MS) -> str:
    """Ours, which is also that of the plain form."""
    case = Case(settings, now_ms, ((one,),))
    our = burrow.ours(case)[0]
    assert our == burrow.evaluate(case, (one,))
    return our.partitions[0][0]


BEHIND = partition([10, 20, 30, 40], [5, 6, 7, 7])
"""A consumer that falls behind: WARN."""


@pytest.mark.parametrize(
    ("expected", "one"),
    [
        ("WARN", BEHIND),
        ("OK", partition([10, 20, 30, 40], [5, 6, 5, 8])),
        ("OK", partition([10, 20, 30, 40], [5, 0, 7, 8])),
        ("OK", replace(BEHIND, current_lag=0)),
        ("WARN", partition([10, 20, 30, 40], [5, None, 5, 8])),
        ("OK", partition([10, 20, 30, 40], [5, None, 4, 8])),
        ("WARN", partition([10, 20, 30, 40], [None, None, None, None])),
        ("STALL", partition([10, 10, 10, 10], [5, 6, 7, 8])),
        ("STALL", partition([10, 10, 10, 10], [8, 7, 6, 5])),
        ("OK", partition([10, 10, 10, 10], [0, 6, 7, 8])),
        ("STALL", partition([10], [5], age_ms=0)),
        ("STOP", partition([10], [5], age_ms=1)),
        ("STOP", partition([10, 20, 30, 40], [5, 0, 5, 5], age_ms=15_001)),
        ("OK", partition([10, 20, 30, 40], [5, 0, 5, 5], age_ms=15_000)),
        ("OK", partition([10, 20, 30, 40], [5, 0, 5, 5], age_ms=15_001, log_ends=(40, 1000))),
        ("STOP", partition([10, 20, 30, 40], [5, 0, 5, 5], age_ms=15_001, log_ends=(41, 1000))),
        ("REWIND", partition([10, 40, 30, 39], [5, 0, 5, 5])),
        ("OK", partition([10, 40, 30, 40], [5, 0, 5, 5])),
        ("STOP", partition([10, 40, 30, 39], [5, 0, 5, 5], age_ms=15_001)),
    ],
)
def test_the_status_is_that_of_the_first_rule_that_holds(expected: str, one: Partition) -> None:
    assert status(one) == expected


def test_a_second_rewind_after_the_first_was_made_good_does_not_count() -> None:
    settings = BurrowSettings(intervals=5)
    assert status(partition([10, 9, 50, 20, 21], [5, 0, 5, 5, 5]), settings) == "OK"


def test_a_lag_up_to_the_allowed_lag_is_ok() -> None:
    lags: list[int | None] = [5, 6, 7, 8]
    assert status(partition([10, 20, 30, 40], lags), BurrowSettings(4, allowed_lag=4)) == "WARN"
    assert status(partition([10, 20, 30, 40], lags), BurrowSettings(4, allowed_lag=5)) == "OK"
    assert status(replace(BEHIND, current_lag=4), BurrowSettings(4, allowed_lag=4)) == "OK"


@pytest.mark.parametrize(("share", "expected"), [(0.7, "WARN"), (0.71, "OK")])
def test_a_window_with_too_few_commits_is_ok(share: float, expected: str) -> None:
    one = partition([10, 20, 30, 40, 50, 60, 70], [5] * 7)
    assert status(one, BurrowSettings(10, minimum_complete=share)) == expected


def test_the_clock_has_whole_seconds() -> None:
    one = partition([10, 20, 30, 40], [5, 0, 5, 5], age_ms=15_001)
    assert status(one, now_ms=NOW_MS + 999) == "STOP"
    assert status(one, now_ms=NOW_MS - 1) == "OK"


def test_a_group_has_the_worst_status_and_err_for_what_is_worse() -> None:
    ok, warn = replace(BEHIND, current_lag=0), BEHIND
    stall = partition([10, 10, 10], [5, 6, 7])
    case = Case(SETTINGS, NOW_MS, ((ok,), (ok, warn), (warn, stall, ok, ok), ()))
    first, second, third, fourth = burrow.ours(case)
    assert (first.status, first.complete, first.maxlag, first.totallag) == ("OK", 1.0, 0, 0)
    assert (second.status, second.complete, second.maxlag, second.totallag) == ("WARN", 1.0, 960, 960)
    assert (third.status, third.complete, third.maxlag, third.totallag) == ("ERR", 0.75, 990, 1950)
    assert (fourth.status, fourth.complete, fourth.maxlag, fourth.totallag) == ("OK", 0.0, None, 0)


def test_a_partition_without_commits_counts_as_not_complete() -> None:
    case = Case(SETTINGS, NOW_MS, ((replace(BEHIND, current_lag=0), Partition((), (100,), 0)),))
    our = burrow.ours(case)[0]
    assert our.complete == 0.5
    assert our.partitions == (("OK", 1.0), ("OK", 0.0))


def test_of_equal_lags_the_first_row_has_the_maxlag() -> None:
    case = Case(SETTINGS, NOW_MS, ((BEHIND, BEHIND), (BEHIND, BEHIND)))
    rows = [one for group in case.groups for one in group]
    partitions = partition_statuses(burrow.windows(case, rows), NOW_MS, SETTINGS)
    assert group_statuses(partitions, np.array([0, 2, 4])).maxlag.tolist() == [0, 2]


def test_no_rows_have_no_statuses() -> None:
    none = np.empty((4, 0), np.int64)
    partitions = partition_statuses(CommitWindows(none, none, none, none, none[0]), NOW_MS, SETTINGS)
    assert len(partitions.status) == 0
    assert group_statuses(partitions, np.array([0])).status.tolist() == []


def test_the_numbers_are_those_of_burrow() -> None:
    assert [status.name for status in BurrowStatus] == ["NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND"]
    assert list(BurrowStatus) == [0, 1, 2, 3, 4, 5, 6]


def test_recorded_windows_have_the_answers_of_burrow_itself() -> None:
    recorded = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
    statuses: Counter[str] = Counter()
    for one in recorded:
        case, answers = burrow.case_of(one), [burrow.answer_of(answer) for answer in one["answers"]]
        assert burrow.ours(case) == answers
        assert [burrow.evaluate(case, group) for group in case.groups] == answers
        statuses.update(name for answer in answers for name, _ in answer.partitions)
    assert statuses == {"OK": 1717, "STALL": 588, "STOP": 317, "WARN": 281, "REWIND": 169}


def test_a_hundred_thousand_random_windows_have_the_statuses_of_the_plain_form() -> None:
    done = tally.run(burrow.check, seed=9, cases=100_000)
    assert done.differences == []
