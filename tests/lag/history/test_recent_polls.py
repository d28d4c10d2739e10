"""Stored and live polls as one line of lag and one band of verdicts: gaps, overlap, and the onset of the page."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lag.history import frames
from lag.history.queries import HistoryQueries
from lag.history.recent_polls import LagPolls, VerdictPeriod, join, stored_lag, verdict_periods
from lag.history.span import Span
from lag.history.store import History
from lag.verdict.health import Finding
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from tests.lag.history.rows import NOON, poll, rows

NOON_MS = round(NOON.timestamp() * 1000)
HOUR = Span(NOON, NOON + timedelta(hours=1))
OK, STALLED, STOPPED = Status.OK, Status.STALLED, Status.STOPPED


def stored(tmp_path: Path, *polls: dict[str, Any], cluster: str = "c1") -> pd.DataFrame:
    """What the history answers about group g."""
    history = History(tmp_path / "history")
    history.append("group_snapshots", rows("group_snapshots", *polls))
    return HistoryQueries(history, cluster).polls("g", HOUR)


def lag_at(**polls: float) -> LagPolls:
    """`lag_at(s0=5, s10=7)`: a lag at seconds after NOON."""
    at_ms = [NOON_MS + 1000 * int(name[1:]) for name in polls]
    return LagPolls(np.array(at_ms, np.int64), np.array([*polls.values()], np.float64))


def second(at_ms: int) -> int:
    return (at_ms - NOON_MS) // 1000


def seconds(times_ms: Any) -> list[int]:
    return [second(int(at_ms)) for at_ms in times_ms]


def numbers(lag: LagPolls) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in lag.lag_records]


def since(at_s: int, status: Status, is_exact: bool = True) -> Finding:
    return Finding(status, "", "", Onset(NOON_MS + 1000 * at_s, is_exact, OnsetSource.COMMIT))


def periods(found: list[VerdictPeriod]) -> list[tuple[int, int, Status]]:
    return [(second(one.since_ms), second(one.until_ms), one.status) for one in found]


def test_polls_are_those_of_the_group_cluster_and_time(tmp_path: Path) -> None:
    polls = [poll(20, 9, STALLED, onset=5, onset_is_exact=True), poll(10, None, None, known=0)]
    others = [poll(10, cluster="c2"), poll(10, group_id="h"), poll(-1), poll(3600)]
    found = stored(tmp_path, *polls, *others)
    assert seconds(found["at_us"] // 1000) == [10, 20]
    assert list(found["lag_records"].fillna(-1)) == [-1, 9]
    assert list(found["known"]) == [0, 2]
    assert list(found["rank"].fillna(-1)) == [-1, 1]
    assert list(found["onset_is_exact"]) == [False, True]
    assert stored(tmp_path, cluster="c3").empty


def test_a_history_without_polls_answers_with_no_rows(tmp_path: Path) -> None:
    assert HistoryQueries(History(tmp_path), "c1").polls("g", HOUR).empty


def test_live_polls_replace_the_stored_ones_from_the_first_on(tmp_path: Path) -> None:
    found = stored_lag(stored(tmp_path, poll(0, 1), poll(10, 2), poll(20, 3), poll(25, 4)))
    joined = join(found, lag_at(s20=30, s30=40))
    assert (seconds(joined.at_ms), numbers(joined)) == ([0, 10, 20, 30], [1, 2, 30, 40])


def test_without_stored_polls_the_live_ones_stay_and_the_reverse(tmp_path: Path) -> None:
    none, live = stored_lag(frames.empty(frames.POLLS)), lag_at(s0=1, s10=2)
    assert numbers(join(none, live)) == [1, 2]
    assert numbers(join(live, none)) == [1, 2]
    assert numbers(join(none, none)) == []


def test_a_poll_that_knows_fewer_partitions_is_no_dip(tmp_path: Path) -> None:
    found = stored(tmp_path, poll(0, 10), poll(10, 4, known=1), poll(20, 12), poll(30, 0, known=0))
    assert numbers(stored_lag(found.iloc[:3])) == [10, None, 12]
    assert numbers(stored_lag(found)) == [10, 4, 12, None]


def test_partitions_that_appear_or_stay_away_leave_the_lag_known(tmp_path: Path) -> None:
    found = stored_lag(stored(tmp_path, poll(0, 4, known=1), poll(10, 10), poll(20, 5, known=1)))
    assert numbers(found) == [4, 10, 5]


def test_a_line_breaks_where_polls_are_missing() -> None:
    polls = lag_at(s0=1, s10=2, s20=3, s300=4, s310=5)
    gaps = polls.gaps(10_000)
    assert [seconds(gap) for gap in gaps] == [[20, 300]]
    broken = polls.with_breaks(gaps)
    assert (seconds(broken.at_ms), numbers(broken)) == ([0, 10, 20, 160, 300, 310], [1, 2, 3, None, 4, 5])


def test_a_late_poll_is_no_gap_and_a_longer_interval_before_neither() -> None:
    assert lag_at(s0=1, s10=2, s40=3).gaps(10_000) == []
    assert lag_at(s0=1, s60=2, s120=3, s180=4, s240=5, s300=6, s310=7).gaps(10_000) == []
    assert [seconds(gap) for gap in lag_at(s0=1, s60=2).gaps(10_000)] == [[0, 60]]
    assert lag_at().gaps(10_000) == []


def test_within_a_time_both_ends_count() -> None:
    polls = lag_at(s0=1, s10=2, s20=3).within(NOON_MS + 10_000, NOON_MS + 20_000)
    assert numbers(polls) == [2, 3]


def test_a_verdict_begins_at_its_onset_and_lasts_until_the_next(tmp_path: Path) -> None:
    stalled = [poll(at, status=STALLED, onset=12, onset_is_exact=True) for at in (30, 40)]
    found = stored(tmp_path, poll(0), poll(10), poll(20), *stalled, poll(50, onset=50, onset_is_exact=True))
    assert periods(verdict_periods(found, since(50, OK), NOON_MS + 70_000, [])) == [
        (0, 12, OK), (12, 50, STALLED), (50, 70, OK),
    ]  # fmt: skip


def test_a_verdict_that_is_over_takes_back_no_other_verdict(tmp_path: Path) -> None:
    held = [poll(at, status=Status.HELD, onset=5, onset_is_exact=True) for at in (10, 20, 30)]
    found = stored(tmp_path, poll(0), *held, poll(40, status=STOPPED, onset=3, onset_is_exact=True), poll(50), poll(60))
    assert periods(verdict_periods(found, Finding(OK, "", ""), NOON_MS + 60_000, [])) == [
        (0, 5, OK), (5, 30, Status.HELD), (30, 50, STOPPED), (50, 60, OK),
    ]  # fmt: skip


def test_the_onset_of_the_page_counts_more_than_the_polls_of_that_time(tmp_path: Path) -> None:
    found = stored(tmp_path, poll(0), poll(10), poll(20), poll(30, status=STALLED))
    assert periods(verdict_periods(found, since(8, STOPPED), NOON_MS + 40_000, [])) == [(0, 8, OK), (8, 40, STOPPED)]


def test_a_verdict_ends_where_polls_are_missing(tmp_path: Path) -> None:
    found = stored(tmp_path, poll(0), poll(10), poll(300), poll(310))
    gaps = [(NOON_MS + 10_000, NOON_MS + 300_000)]
    assert periods(verdict_periods(found, since(330, STALLED), NOON_MS + 340_000, gaps)) == [
        (0, 10, OK), (300, 330, OK), (330, 340, STALLED),
    ]  # fmt: skip


@pytest.mark.parametrize("status", [None, Status.UNKNOWN])
def test_a_poll_without_a_verdict_is_a_time_of_an_unknown_one(tmp_path: Path, status: Status | None) -> None:
    found = stored(tmp_path, poll(0), poll(10), poll(20, status=status), poll(30, status=status), poll(40), poll(50))
    assert periods(verdict_periods(found, Finding(OK, "", ""), NOON_MS + 90_000, [])) == [
        (0, 20, OK), (20, 40, Status.UNKNOWN), (40, 90, OK),
    ]  # fmt: skip


def test_without_an_onset_the_last_stored_verdict_goes_on_only_if_it_is_the_same(tmp_path: Path) -> None:
    found, now_ms = stored(tmp_path, poll(0), poll(10)), NOON_MS + 40_000
    assert periods(verdict_periods(found, Finding(OK, "", ""), now_ms, [])) == [(0, 40, OK)]
    assert periods(verdict_periods(found, Finding(STALLED, "", ""), now_ms, [])) == [(0, 10, OK)]
    assert periods(verdict_periods(found, Finding(OK, "", ""), now_ms, [(NOON_MS + 10_000, now_ms)])) == [(0, 10, OK)]


def test_without_stored_polls_the_present_verdict_is_the_only_one() -> None:
    none = frames.empty(frames.POLLS)
    assert periods(verdict_periods(none, since(5, STALLED), NOON_MS + 9_000, [])) == [(5, 9, STALLED)]
    assert verdict_periods(none, Finding(OK, "", ""), NOON_MS, []) == []
