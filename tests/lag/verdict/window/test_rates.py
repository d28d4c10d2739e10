"""Rates, time lag and drain time: exact values, and the plain-Python definition on random windows."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lag.verdict.window import rates
from lag.verdict.window.rates import MIN_SPAN_MS, NEVER
from lag.verdict.window.sample_window import RowWindow
from tests.support.random_examples import random_examples

T = [0, 10_000, 20_000, 30_000]


def column(values: Sequence[int]) -> NDArray[np.int64]:
    """One row over time as (samples, 1)."""
    return np.array(values, np.int64)[:, None]


def times(values: Sequence[int] = T) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def rate(values: Sequence[int], at: Sequence[int] = T) -> float:
    return float(rates.rate(column(values), times(at[: len(values)]))[0])


def time_lag(position: int, log_end: Sequence[int], at: Sequence[int] = T) -> tuple[float | None, ...]:
    found = rates.time_lag(np.array([position], np.int64), column(log_end), times(at[: len(log_end)]))
    return tuple(
        None if math.isnan(v[0]) else float(v[0]) for v in (found.seconds, found.error_bound_s, found.at_least_s)
    )


def drain(lag: int, consume: float, produce: float) -> float | None:
    value = rates.drain(np.array([lag], np.int64), np.array([consume]), np.array([produce]))[0]
    return None if math.isnan(value) else float(value)


def lag(committed: int, start: int, log_end: int) -> int:
    return int(rates.lags(column([committed]), column([start]), column([log_end]))[0, 0])


def test_lag_counts_from_what_is_left_in_the_log() -> None:
    assert lag(5, 0, 12) == 7
    assert lag(5, 9, 12) == 3
    assert lag(15, 0, 12) == 0
    assert lag(5, -1, 12) == 7
    assert lag(-1, 0, 12) == -1
    assert lag(5, 0, -1) == -1


def test_a_rate_is_what_was_gained_per_second() -> None:
    assert rate([100, 150, 150, 400]) == 10.0


def test_a_rewind_does_not_count_against_the_rate() -> None:
    assert rate([100, 400, 100, 400]) == 20.0


def test_a_rate_skips_polls_that_knew_nothing() -> None:
    assert rate([-1, 100, -1, 300]) == 10.0
    assert rate([100, -1, -1, 400]) == 10.0


@pytest.mark.parametrize("values", [[100, 200, 300, -1], [100, -1, 300, -1], [100, 200, -1, -1]])
def test_a_log_that_the_newest_poll_did_not_read_has_no_rate(values: list[int]) -> None:
    assert math.isnan(rate(values))


def test_two_polls_in_quick_succession_give_no_rate() -> None:
    assert math.isnan(rate([100, 400], [0, 300]))
    assert math.isnan(rate([-1, 100, 400], [0, 60_000, 64_999]))
    assert rate([-1, 100, 400], [0, 60_000, 65_000]) == 60.0


@pytest.mark.parametrize("values", [[5], [-1, -1, -1, -1], [-1, -1, -1, 5]])
def test_a_rate_needs_two_known_samples(values: list[int]) -> None:
    assert math.isnan(rate(values))


def test_a_caught_up_group_has_no_time_lag() -> None:
    assert time_lag(40, [10, 20, 30, 40]) == (0.0, 0.0, None)
    assert time_lag(45, [10, 20, 30, 40]) == (0.0, 0.0, None)


def test_time_lag_lies_between_two_samples_of_the_log_end() -> None:
    assert time_lag(25, [10, 20, 30, 40]) == (15.0, 10.0, None)
    assert time_lag(20, [10, 20, 30, 40]) == (20.0, 10.0, None)


def test_time_lag_counts_an_idle_time_from_its_end() -> None:
    assert time_lag(20, [20, 20, 20, 40]) == (10.0, 10.0, None)


def test_time_lag_has_a_wider_bound_where_a_poll_knew_nothing() -> None:
    assert time_lag(15, [10, -1, 20, 40]) == (20.0, 20.0, None)


def test_time_lag_is_never_extrapolated() -> None:
    assert time_lag(5, [10, 20, 30, 40]) == (None, None, 30.0)
    assert time_lag(5, [-1, 20, 30, 40]) == (None, None, 20.0)
    assert time_lag(5, [10]) == (None, None, 0.0)


def test_time_lag_is_unknown_without_a_position_or_a_log_end() -> None:
    assert time_lag(-1, [10, 20, 30, 40]) == (None, None, None)
    assert time_lag(15, [10, 20, 30, -1]) == (None, None, None)


def test_drain_time_is_lag_over_what_is_gained() -> None:
    assert drain(1000, 30.0, 20.0) == 100.0
    assert drain(1000, 20.0, 0.0) == 50.0
    assert drain(0, 0.0, 50.0) == 0.0


def test_a_gain_of_two_percent_or_less_never_drains() -> None:
    assert drain(1000, 102.0, 100.0) == NEVER
    assert drain(1000, 102.5, 100.0) == 400.0
    assert drain(1000, 50.0, 100.0) == NEVER
    assert drain(1000, 0.0, 0.0) == NEVER


def test_drain_time_is_unknown_without_a_lag_or_a_rate() -> None:
    assert drain(-1, 5.0, 1.0) is None
    assert drain(7, math.nan, 1.0) is None
    assert drain(7, 1.0, math.nan) is None


offsets = st.one_of(st.just(-1), st.integers(0, 1000))


@st.composite
def windows(draw: st.DrawFn) -> tuple[list[int], list[list[int]]]:
    """(times, rows) with rows as lists over time."""
    samples = draw(st.integers(1, 12))
    gaps = draw(st.lists(st.integers(1, 60_000), min_size=samples, max_size=samples))
    rows = draw(st.lists(st.lists(offsets, min_size=samples, max_size=samples), min_size=1, max_size=5))
    return np.cumsum(gaps).tolist(), rows


def plain_rate(at: Sequence[int], values: Sequence[int]) -> float | None:
    known = [(t, v) for t, v in zip(at, values, strict=True) if v != -1]
    if values[-1] == -1 or at[-1] - known[0][0] < MIN_SPAN_MS:
        return None
    gained = sum(max(0, b - a) for (_, a), (_, b) in pairwise(known))
    return gained * 1000 / (known[-1][0] - known[0][0])


def plain_time_lag(at: Sequence[int], log_end: Sequence[int], position: int) -> tuple[float | None, ...]:
    known = [(t, v) for t, v in zip(at, log_end, strict=True) if v != -1]
    if position == -1 or log_end[-1] == -1:
        return None, None, None
    if position >= known[-1][1]:
        return 0.0, 0.0, None
    for (t0, low), (t1, high) in zip(known[-2::-1], known[:0:-1], strict=True):
        if low <= position < high:
            written = t0 + (position - low) * (t1 - t0) / (high - low)
            return (at[-1] - written) / 1000, (t1 - t0) / 1000, None
    return None, None, (at[-1] - known[0][0]) / 1000


@random_examples(300)
@given(windows())
def test_rates_equal_their_definition(window: Any) -> None:
    at, rows = window
    found = rates.rate(np.array(rows, np.int64).T, times(at)).tolist()
    assert [None if math.isnan(v) else v for v in found] == pytest.approx([plain_rate(at, row) for row in rows])


@random_examples(300)
@given(windows(), st.data())
def test_time_lag_equals_its_definition_and_is_bracketed_by_its_bound(window: Any, data: Any) -> None:
    at, rows = window
    grown = [np.where(np.array(row) < 0, -1, np.maximum.accumulate(row)) for row in rows]
    positions = [data.draw(offsets) for _ in rows]
    found = rates.time_lag(np.array(positions, np.int64), np.array(grown, np.int64).T, times(at))
    for i, (position, log_end) in enumerate(zip(positions, grown, strict=True)):
        got = [
            None if math.isnan(v[i]) else float(v[i]) for v in (found.seconds, found.error_bound_s, found.at_least_s)
        ]
        expected = plain_time_lag(at, log_end.tolist(), position)
        assert got == [None if v is None else pytest.approx(v) for v in expected]


def plain_pace(
    at: Sequence[int], committed: Sequence[int], log_end: Sequence[int], lag: Sequence[int], noise: int
) -> tuple[float | None, float | None, bool]:
    """(consume, produce, unsettled) of one row: since the burst that the lag has fallen from, if that is enough."""
    high = max(lag) - noise
    start = next(i for i, value in enumerate(lag) if value >= high)
    fallen = lag[-1] != -1 and lag[-1] < high and lag[start] - lag[max(0, start - 2)] > noise
    is_enough = fallen and len(lag) - start >= 2 and at[-1] - at[start] >= 15_000
    since = start if is_enough else 0
    consume, produce = (plain_rate(at[since:], row[since:]) for row in (committed, log_end))
    return consume, produce, fallen and not is_enough


@random_examples(300)
@given(windows(), st.integers(0, 20), st.data())
def test_pace_since_a_burst_equals_its_definition(window: Any, noise: Any, data: Any) -> None:
    at, ends = window
    rows = [([data.draw(offsets) for _ in log_end], log_end, [data.draw(offsets) for _ in log_end]) for log_end in ends]
    committed, log_end, lag = (np.array(column, np.int64).T for column in zip(*rows, strict=True))
    reported = rates.rates_after_burst(
        RowWindow(times(at), committed, log_end, log_end), lag, np.full(len(rows), noise), 2, 15.0
    )
    for i, row in enumerate(rows):
        *both, unsettled = plain_pace(at, *row, noise)
        assert [reported.consume[i], reported.produce[i]] == [
            pytest.approx(math.nan if one is None else one, nan_ok=True) for one in both
        ]
        assert reported.after_burst[i] == unsettled
