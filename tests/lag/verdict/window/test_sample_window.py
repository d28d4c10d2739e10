"""The ring of samples: what it keeps, what it forgets, and that it does not grow."""

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lag.model import ClusterSnapshot
from lag.verdict.window.sample_window import SampleRing, Window
from tests.lag.make import End, cluster, deleted, end, failed, group

SECOND = 1000


def poll(
    number: int, committed: Mapping[str, Mapping[str, int | None]], ends: Mapping[str, End], **rest: Any
) -> ClusterSnapshot:
    """Poll `number`, 10 s after the one before; `committed` is {group: {partition: offset}}."""
    groups = {name: group(offsets) for name, offsets in committed.items()}
    return cluster(groups, ends, number, number * 10 * SECOND, **rest)


def columns(window: Window, row: int) -> tuple[list[int], list[int], list[int]]:
    rows = window.rows(slice(row, row + 1))
    return rows.committed[:, 0].tolist(), rows.log_start[:, 0].tolist(), rows.log_end[:, 0].tolist()


def test_each_poll_adds_a_sample_and_the_last_one_is_the_newest() -> None:
    trend = SampleRing()
    trend.append(poll(1, {"a": {"t-0": 5}}, {"t-0": end(10, start=1)}))
    window = trend.append(poll(2, {"a": {"t-0": 7}}, {"t-0": end(12, start=2)}))
    assert window.times_ms.tolist() == [10_000, 20_000]
    assert columns(window, 0) == ([5, 7], [1, 2], [10, 12])


def test_a_value_that_a_poll_did_not_know_is_kept_as_unknown() -> None:
    trend = SampleRing()
    trend.append(poll(1, {"a": {"t-0": 5}}, {"t-0": end(10)}))
    trend.append(poll(2, {"a": {"t-0": None}}, {"t-0": failed()}))
    window = trend.append(poll(3, {"a": {"t-0": 6}}, {"t-0": end(11)}))
    assert columns(window, 0) == ([5, -1, 6], [0, -1, 0], [10, -1, 11])


def test_the_oldest_sample_goes_when_the_ring_is_full() -> None:
    trend = SampleRing(max_samples=3, min_samples=2)
    for number in range(1, 6):
        window = trend.append(poll(number, {"a": {"t-0": number}}, {"t-0": end(10)}))
    assert window.times_ms.tolist() == [30_000, 40_000, 50_000]
    assert columns(window, 0)[0] == [3, 4, 5]


@pytest.mark.parametrize(
    ("rows", "ends", "samples"),
    [(100, 100, 60), (500_000, 5_000, 47), (500_000, 500_000, 16), (5_000_000, 500_000, 12), (0, 0, 60)],
)
def test_a_large_cluster_keeps_fewer_samples(rows: int, ends: int, samples: int) -> None:
    assert SampleRing().capacity(rows, ends) == samples


def test_nothing_is_copied_while_the_rows_stay_the_same() -> None:
    trend = SampleRing()
    first = trend.append(poll(1, {"a": {"t-0": 5}}, {"t-0": end(10)}))
    second = trend.append(poll(2, {"a": {"t-0": 6}}, {"t-0": end(11)}))
    assert second.committed[0] is first.committed[0]
    assert second.log_end[0] is first.log_end[0]


def test_rows_follow_their_group_and_partition_when_others_come_and_go() -> None:
    trend = SampleRing()
    ends = {"t-0": end(10), "t-1": end(20)}
    trend.append(poll(1, {"b": {"t-0": 1, "t-1": 2}, "c": {"t-1": 3}}, ends))
    ends = {"s-0": end(5), "t-1": end(21), "t-2": end(30)}
    window = trend.append(poll(2, {"a": {"t-1": 9}, "b": {"s-0": 4, "t-1": 5}, "c": {"t-1": 6, "t-2": 7}}, ends))
    assert columns(window, 0) == ([-1, 9], [0, 0], [20, 21])  # a, t-1: new group, known log
    assert columns(window, 1) == ([-1, 4], [-1, 0], [-1, 5])  # b, s-0: new topic
    assert columns(window, 2) == ([2, 5], [0, 0], [20, 21])  # b, t-1
    assert columns(window, 3) == ([3, 6], [0, 0], [20, 21])  # c, t-1
    assert columns(window, 4) == ([-1, 7], [-1, 0], [-1, 30])  # c, t-2: the topic grew


def test_a_group_that_was_gone_for_a_poll_starts_again() -> None:
    trend = SampleRing()
    ends = {"t-0": end(10)}
    trend.append(poll(1, {"a": {"t-0": 1}}, ends))
    trend.append(poll(2, {}, ends))
    window = trend.append(poll(3, {"a": {"t-0": 2}}, ends))
    assert columns(window, 0) == ([-1, -1, 2], [0, 0, 0], [10, 10, 10])


def test_a_cluster_without_groups_and_topics_is_kept_too() -> None:
    trend = SampleRing()
    trend.append(poll(1, {}, {}))
    window = trend.append(poll(2, {"a": {"t-0": 1}}, {"t-0": end(3)}))
    assert columns(window, 0) == ([-1, 1], [-1, 0], [-1, 3])
    assert trend.append(poll(3, {}, {})).times_ms.tolist() == [10_000, 20_000, 30_000]


def test_a_recreated_topic_has_no_past() -> None:
    trend = SampleRing()
    trend.append(poll(1, {"a": {"t-0": 5, "u-0": 1}}, {"t-0": end(10), "u-0": end(3)}, topic_ids={"t": "old"}))
    ends = {"t-0": end(99), "u-0": end(4)}
    window = trend.append(poll(2, {"a": {"t-0": 6, "u-0": 2}}, ends, topic_ids={"t": "new"}))
    assert columns(window, 0) == ([-1, 6], [-1, 0], [-1, 99])
    assert columns(window, 1) == ([1, 2], [0, 0], [3, 4])


def test_a_topic_that_was_missing_before_it_was_recreated_has_no_past() -> None:
    trend = SampleRing()
    trend.append(poll(1, {"a": {"t-0": 5}}, {"t-0": end(10)}, topic_ids={"t": "old"}))
    trend.append(poll(2, {"a": {"t-0": 5}}, {"t-0": deleted()}))
    window = trend.append(poll(3, {"a": {"t-0": 5}}, {"t-0": end(11)}, topic_ids={"t": "new"}))
    assert columns(window, 0) == ([-1, -1, 5], [-1, -1, 0], [-1, -1, 11])


@pytest.mark.parametrize("now", [end(9, start=3), end(12, start=2)], ids=["end", "start"])
def test_a_log_that_went_backwards_has_no_past(now: Any) -> None:
    trend = SampleRing()
    trend.append(poll(1, {"a": {"t-0": 5, "t-1": 1}}, {"t-0": end(10, start=3), "t-1": end(3)}))
    trend.append(poll(2, {"a": {"t-0": 5, "t-1": 1}}, {"t-0": failed(), "t-1": end(3)}))
    window = trend.append(poll(3, {"a": {"t-0": 5, "t-1": 1}}, {"t-0": now, "t-1": end(3)}))
    assert columns(window, 0) == ([-1, -1, 5], [-1, -1, now.start], [-1, -1, now.log_end])
    assert columns(window, 1) == ([1, 1, 1], [0, 0, 0], [3, 3, 3])


def test_a_clock_that_went_backwards_starts_a_new_ring() -> None:
    trend = SampleRing()
    trend.append(poll(5, {"a": {"t-0": 5}}, {"t-0": end(10)}))
    window = trend.append(poll(4, {"a": {"t-0": 6}}, {"t-0": end(11)}))
    assert window.times_ms.tolist() == [40_000]
    assert columns(window, 0) == ([6], [0], [11])


def test_a_window_never_changes() -> None:
    trend = SampleRing()
    snapshot = poll(1, {"a": {"t-0": 5}}, {"t-0": end(10)}, topic_ids={"t": "old"})
    window = trend.append(snapshot)
    snapshot.offsets.committed[0] = 77
    trend.append(poll(2, {"b": {"t-0": 6}}, {"t-0": end(1)}, topic_ids={"t": "new"}))
    assert columns(window, 0) == ([5], [0], [10])
    with pytest.raises(ValueError, match="read-only"):
        window.committed[0][0] = 1


def test_the_ring_does_not_grow_when_groups_and_topics_come_and_go() -> None:
    trend, watched = SampleRing(max_samples=8, min_samples=4), []
    for number in range(1, 200):
        names = [f"g{(number + i) % 17}" for i in range(5)]
        ends = {f"t{number % 7 + i}-0": end(10 + number) for i in range(4)}
        snapshot = poll(number, {name: dict.fromkeys(ends, number) for name in names}, ends)
        window = trend.append(snapshot)
        watched.append(weakref.ref(snapshot.offsets.committed))
    cells = sum(len(column) for column in (*window.committed, *window.log_start, *window.log_end))
    assert cells == 8 * (5 * 4 + 2 * 4)
    del snapshot, window
    gc.collect()
    assert [ref() for ref in watched[:-1]] == [None] * 198
    assert np.sum([ref() is not None for ref in watched]) <= 1
