"""Lag pictures: what they draw for known, unknown, concentrated and very many partitions."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from app.ui.charts import base, lag
from app.ui.theme import DARK, LIGHT
from assignors.model import TopicPartition

START = datetime(2026, 11, 21, 10)


def tps(n: int, topic: str = "t") -> list[TopicPartition]:
    return [TopicPartition(topic, p) for p in range(n)]


def test_the_line_changes_colour_when_the_verdict_began() -> None:
    times = [START + timedelta(minutes=m) for m in range(10)]
    fig = lag.over_time(times, np.arange(10.0), START + timedelta(minutes=6), LIGHT)
    calm, trouble, last = fig.data
    assert (len(calm.x), calm.line.color) == (7, LIGHT.kept)
    assert (len(trouble.x), trouble.line.color) == (4, LIGHT.revoked)
    assert last.text == ("9",)


def test_unknown_samples_break_the_line() -> None:
    times = [START + timedelta(minutes=m) for m in range(4)]
    fig = lag.over_time(times, np.array([5.0, np.nan, 7.0, np.nan]), None, DARK)
    assert np.isnan(fig.data[0].y[1])
    assert fig.data[-1].x == (times[2],)


def test_rebalances_are_marked_above_and_as_wide_as_they_took() -> None:
    times = [START + timedelta(minutes=m) for m in range(4)]
    began, over = START + timedelta(seconds=60), START + timedelta(seconds=63)
    fig = lag.over_time(times, np.arange(4.0), None, LIGHT, [lag.Mark(began, over, "Generation 7: c3 left")])
    (span,), marks = fig.layout.shapes, fig.data[-1]
    assert (span.x0, span.x1) == (began, over)
    assert (marks.x, marks.customdata, marks.y) == ((over,), ("Generation 7: c3 left",), (fig.layout.yaxis.range[1],))


def test_an_unknown_partition_is_a_cross_not_a_bar_of_zero() -> None:
    fig = lag.by_partition(tps(4), [10, None, 30, None], ["#111111"] * 2 + ["#222222", "#111111"], LIGHT)
    bars, crosses = fig.data
    assert list(crosses.x) == [1, 3]
    assert list(crosses.customdata) == ["t-1", "t-3"]
    assert bars.marker.color == ("#111111", "#111111", "#222222", "#111111")


def test_beyond_400_partitions_those_with_most_lag_are_drawn() -> None:
    fig = lag.by_partition(tps(1_000), list(range(1_000)), ["#111111"] * 1_000, LIGHT)
    assert len(fig.data[0].y) == 400
    assert min(fig.data[0].y) == 600


def test_several_topics_get_letters_and_dividers() -> None:
    both = [*tps(3, "a.orders"), *tps(2, "b.payments")]
    fig = lag.by_partition(both, [1, 2, 3, 4, 5], ["#111111"] * 5, LIGHT)
    assert fig.layout.xaxis.ticktext == ("<b>a</b>", "<b>b</b>")
    assert len(fig.layout.shapes) == 1


@pytest.mark.parametrize(
    ("lags", "text"),
    [
        ([5] * 12, ""),
        ([5] * 11 + [9_000], "11 holds 99 % of the lag"),
        ([400, 390, 380, *[1] * 20], "0 to 2 hold 98 % of the lag"),
        ([None] * 12, ""),
        ([1_000], ""),
    ],
)
def test_concentrated_lag_is_named(lags: Any, text: str) -> None:
    assert lag.concentration(tps(len(lags)), lags)[0] == text


@pytest.mark.parametrize("top", [0, 1, 9, 10, 99, 1_234, 5e5, 1_204_331, 7.3e9])
def test_ticks_are_round_and_do_not_pass_the_top(top: float) -> None:
    values, labels = base.ticks(top)
    assert values[0] == 0
    assert values[-1] <= max(top, 1)
    assert 1 <= len(values) <= 8
    assert len(set(labels)) == len(labels)
