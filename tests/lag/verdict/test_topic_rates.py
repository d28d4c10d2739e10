"""How fast logs grow, also those that no group reads."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from lag.verdict import topic_rates
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import End, cluster, deleted, end, failed, group


def rates_after(polls: Sequence[Mapping[str, End]]) -> NDArray[np.float64]:
    """Rates of the rows after those polls of ends, 10 s apart."""
    trend = SampleRing()
    for number, ends in enumerate(polls):
        window = trend.append(cluster({"g": group({"read-0": 1})}, ends, number + 1, number * 10_000))
    return topic_rates.produce_rates(window)


def test_a_log_that_no_group_reads_has_a_rate() -> None:
    found = rates_after([{"read-0": end(10), "unread-0": end(100)}, {"read-0": end(10), "unread-0": end(350)}])
    assert found.tolist() == [0.0, 25.0]


def test_one_poll_gives_no_rate() -> None:
    assert np.isnan(rates_after([{"read-0": end(10)}])).tolist() == [True]


def test_a_partition_that_came_in_the_last_poll_has_no_rate_yet() -> None:
    found = rates_after([{"read-0": end(10)}, {"read-0": end(40), "read-1": end(5)}])
    assert found[0] == 3.0
    assert np.isnan(found[1])


def test_a_log_without_a_leader_has_no_rate() -> None:
    assert np.isnan(rates_after([{"read-0": failed()}, {"read-0": failed()}])).tolist() == [True]


def test_a_topic_that_is_deleted_has_no_rate_from_that_poll_on() -> None:
    before = [{"read-0": end(1_000 * number)} for number in range(6)]
    for polls_since in range(1, 20):
        assert np.isnan(rates_after([*before, *[{"read-0": deleted()}] * polls_since])).tolist() == [True]


def test_rates_are_those_of_the_last_three_minutes() -> None:
    ends = [{"read-0": end(1_000_000 * min(number, 1) + 20 * number)} for number in range(40)]
    assert rates_after(ends).tolist() == [2.0]


def test_a_cluster_without_topics_has_no_rates() -> None:
    trend = SampleRing()
    assert len(topic_rates.produce_rates(trend.append(cluster({}, {}, 1, 0)))) == 0


def test_rates_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    polls = [{f"read-{p}": end(10 + p * number) for p in range(9)} for number in range(4)]
    whole = rates_after(polls)
    assert whole.tolist() == [p / 10 for p in range(9)]
    monkeypatch.setattr("lag.verdict.window.sample_window.BLOCK_CELLS", 8)
    assert rates_after(polls).tolist() == whole.tolist()
