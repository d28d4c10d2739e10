"""A snapshot's health as pages use it: a sequence of groups, partitions on demand."""

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import pytest

from lag.model import ClusterSnapshot
from lag.verdict import judge as judging
from lag.verdict.evidence import RowFacts
from lag.verdict.health import TimeLag
from lag.verdict.judge import judge
from lag.verdict.rules.row_verdicts import time_lags
from lag.verdict.rules.status_rules import MARKERS_ONLY, CurrentRows, WindowStats
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, end, group, judged
from tests.support.known import known


def polls(names: Sequence[str], count: int = 6) -> Iterator[ClusterSnapshot]:
    for poll in range(count):
        groups = {name: group({"t-0": poll, "t-1": 5 * i}) for i, name in enumerate(names)}
        yield cluster(groups, {"t-0": end(100), "t-1": end(50 + poll)}, poll + 1, 10_000 * (poll + 1))


def test_groups_run_parallel_to_the_snapshot() -> None:
    health = judged(polls(["a", "b", "c"]))
    assert len(health.groups) == len(health.snapshot.groups) == 3
    assert [found.lag.records for found in health.groups] == [150, 145, 140]
    assert [found.lag.records for found in health.groups[1:]] == [145, 140]
    assert health.groups[-1] is health.groups[2]
    assert health.times_ms.tolist() == [10_000 * i for i in range(1, 7)]
    with pytest.raises(IndexError):
        health.groups[3]


def test_a_group_is_found_by_its_id() -> None:
    health = judged(polls(["a", "b"]))
    assert health.group("b") is health.groups[1]
    assert health.group("nobody") is None


def test_a_group_s_health_is_made_once() -> None:
    health = judged(polls(["a"]))
    assert health.groups[0] is health.groups[0]


def test_partitions_run_parallel_to_the_group_s_rows() -> None:
    health = judged(polls(["a", "b"]))
    its = known(health.snapshot.group("b"))
    found = health.partitions(its)
    assert len(found) == len(its.partitions) == 2
    assert [row.lag_trend[-1] for row in found] == [row.lag_records for row in its.partitions] == [95, 50]
    assert found[0].lag_trend.tolist() == [100, 99, 98, 97, 96, 95]
    assert found[1].finding.status is Status.STALLED


def test_a_group_of_another_snapshot_is_refused() -> None:
    stranger = next(polls(["z"])).groups[0]
    with pytest.raises(KeyError):
        judged(polls(["a"])).partitions(stranger)


def test_the_verdicts_do_not_depend_on_how_the_groups_are_cut_into_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"g{i}" for i in range(9)]
    whole = judged(polls(names))
    monkeypatch.setattr(judging, "BLOCK_CELLS", 30)
    cut = judged(polls(names))
    for mine, its in zip(whole.groups, cut.groups, strict=True):
        assert mine.finding == its.finding
        assert (mine.lag, mine.drain_s, mine.time_lag, mine.worst) == (its.lag, its.drain_s, its.time_lag, its.worst)
        assert np.array_equal(mine.lag_trend, its.lag_trend)


def test_a_cluster_without_groups_has_an_empty_health() -> None:
    health = judged([cluster({}, {}, 1, 1000), cluster({}, {"t-0": end(3)}, 2, 2000)])
    assert list(health.groups) == []


def test_groups_without_partitions_stand_among_others() -> None:
    groups = {"a": group({}), "b": group({"t-0": 1}), "c": group({}, members=0, state="Empty")}
    health = judged([cluster(groups, {"t-0": end(3)}, 1, 1000)])
    assert [found.lag.records for found in health.groups] == [None, 2, 0]
    assert [found.finding.status for found in health.groups] == [Status.UNKNOWN, Status.UNKNOWN, Status.OK]


def test_columns_have_the_drain_time_of_every_group() -> None:
    health = judged(polls(["a", "b", "c"]))
    assert health.columns.drain_s.tolist() == [found.drain_s for found in health.groups]


def test_time_lags_of_some_rows_are_those_of_their_partitions() -> None:
    ring = SampleRing()
    for number in range(1, 20):
        committed = {"t-0": 10 * number - 25, "t-1": 10 * number, "t-2": 3, "t-3": None}
        ends = {f"t-{p}": end(10 * number) for p in range(4)}
        snapshot = cluster({"a": group(committed)}, ends, number, 10_000 * number)
        window = ring.append(snapshot)
    expected = [health.time_lag for health in judge(snapshot, window).partitions(snapshot.groups[0])]
    found = time_lags(window, snapshot.offsets, np.array([0, 1, 3]), None)
    assert [lag.seconds for lag in expected] == [25.0, 0.0, None, None]
    assert found.seconds.tolist() == [25.0, 0.0, pytest.approx(np.nan, nan_ok=True)]
    assert found.error_bound_s[:2].tolist() == [lag.error_bound_s for lag in expected[:2]]


def test_nothing_waits_where_only_markers_are_left() -> None:
    """One answer for the group, for its partition, in the history and in metrics."""
    ring = SampleRing()
    for number in range(1, 20):
        snapshot = cluster({"a": group({"t-0": 8, "t-1": 5})}, {"t-0": end(10), "t-1": end(5)}, number, 10_000 * number)
        window = ring.append(snapshot)
    health = judge(snapshot, window, remainders=np.array([MARKERS_ONLY, 0], np.uint8))
    found = [health.groups[0].time_lag, *(one.time_lag for one in health.partitions(snapshot.groups[0]))]
    assert found == [TimeLag(0.0, 0.0)] * 3
    assert health.columns.time_lag_s.tolist() == [0.0]
    assert time_lags(window, snapshot.offsets, np.array([0, 1]), health.remainders).seconds.tolist() == [0.0, 0.0]


def test_the_facts_of_a_row_are_its_columns_in_order() -> None:
    assert RowFacts._fields[5:] == CurrentRows._fields + WindowStats._fields


def test_a_group_that_waits_has_no_verdict_until_it_is_watched_long_enough() -> None:
    found = [judged(islice(polls(["a"]), n)).groups[0].finding for n in (1, 3)]
    assert {finding.status for finding in found} == {Status.UNKNOWN}
    assert found[1].rule == "too early for a verdict"


def test_a_partition_without_records_and_commits_does_not_make_it_too_early() -> None:
    ends = {"t-0": end(0), "u-0": end(3)}
    health = judged([cluster({"a": group({"t-0": None}), "b": group({"t-0": None, "u-0": 3})}, ends, 1, 1000)])
    assert [found.finding.status for found in health.groups] == [Status.OK, Status.OK]
    assert [found.finding.evidence for found in health.groups] == [
        "no committed offset on t-0, and no records",
        "no rule fired in 1 poll",
    ]
    assert [found.time_lag.seconds for found in health.groups] == [None, 0.0]


def test_a_group_without_partitions_has_no_time_lag_in_columns_either() -> None:
    health = judged([cluster({"a": group({}), "b": group({"t-0": 3})}, {"t-0": end(3)}, 1, 1000)])
    assert [found.time_lag.seconds for found in health.groups] == [None, 0.0]
    assert np.isnan(health.columns.time_lag_s).tolist() == [True, False]
