"""What the history answers: exact values, gaps that stay gaps, both tiers, one cluster's rows only."""

import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from deltalake import DeltaTable

from lag.errors import HistoryError
from lag.history.maintenance import maintain
from lag.history.queries import HistoryQueries
from lag.history.schemas import SCHEMA_VERSION
from lag.history.span import DAY, HOUR, Scope, Span
from lag.history.store import VERSION_KEY, History
from lag.times import MICROSECOND, micros
from lag.verdict.status import URGENCY, Status
from tests.lag.history.past import past
from tests.lag.history.rows import NOON, rows

MINUTE = timedelta(minutes=1)
FIVE = Span(NOON, NOON + 5 * MINUTE)
G = Scope("g")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture
def asked(history: History) -> HistoryQueries:
    return HistoryQueries(history, "c1")


def numbers(values: Iterable[float]) -> list[float | None]:
    """The values, None for what is not known."""
    return [None if np.isnan(value) else float(value) for value in values]


def records(found: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The rows, None for what is not known."""
    return [tuple(None if pd.isna(value) else value for value in row) for row in found.itertuples(index=False)]


def test_a_history_without_roll_ups_answers_nothing_and_stays_as_it_is(history: History, asked: HistoryQueries) -> None:
    assert asked.latest(NOON) is None
    assert asked.is_recorded() is False
    assert (asked.groups(FIVE), asked.topics("g", FIVE)) == ([], [])
    assert asked.partition_numbers("g", "t", FIVE) == []
    for found in (asked.group_lags(FIVE), asked.partitions(G, FIVE), asked.health_series("g", FIVE)):
        assert found.empty
    assert asked.burn_rates(FIVE).empty
    assert asked.health_cells(FIVE, [Status.STOPPED]).empty
    assert numbers(asked.lag(G, FIVE)["lag_records"]) == [None] * 5
    assert not Path(history.root).exists()


def test_the_newest_minute_is_found_however_old_it_is(history: History, asked: HistoryQueries) -> None:
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"at": 2}, {"at": 1}, {"at": 9, "cluster": "c2"}))
    assert asked.latest(NOON) == NOON + 2 * MINUTE
    assert asked.latest(NOON + 30 * DAY) == NOON + 2 * MINUTE


def test_there_are_minutes_of_a_time_or_there_are_none(history: History, asked: HistoryQueries) -> None:
    assert asked.has_minutes(Span(NOON, NOON + DAY)) is False
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"at": 2}, {"at": 9, "cluster": "c2"}))
    assert asked.has_minutes(Span(NOON, NOON + 3 * MINUTE)) is True
    assert asked.has_minutes(Span(NOON, NOON + 2 * MINUTE)) is False
    assert asked.has_minutes(Span(NOON + 3 * MINUTE, NOON + DAY)) is False


def test_what_was_recorded_counts_for_its_own_cluster_only(history: History, asked: HistoryQueries) -> None:
    history.append("end_offsets", rows("end_offsets", {}))
    assert asked.is_recorded() is True
    assert HistoryQueries(history, "c2").is_recorded() is False


def test_the_lag_of_a_group_is_that_of_its_topics_and_gaps_stay_gaps(history: History, asked: HistoryQueries) -> None:
    """Minute 1 has no row; of minute 2 one topic is not known; of minute 3 nothing is; minute 5 is not asked for."""
    made = past(
        "lag_group_topic_1m",
        {
            "at": 0,
            "topic": "a",
            "lag_sum": 10,
            "lag_p95": 4.5,
            "time_lag_max_ms": 1500,
            "partitions": 2,
            "lag_known": 2,
        },
        {"at": 0, "topic": "b", "lag_sum": 5, "lag_p95": 5.0, "time_lag_max_ms": 500, "partitions": 1, "lag_known": 1},
        {"at": 2, "topic": "a", "lag_sum": 0, "time_lag_max_ms": 0, "partitions": 2, "lag_known": 1},
        {"at": 2, "topic": "b", "lag_sum": None, "time_lag_max_ms": None, "partitions": 1, "lag_known": 0},
        {"at": 3, "topic": "a", "lag_sum": None, "time_lag_max_ms": None, "partitions": 2, "lag_known": 0},
        {"at": 5, "topic": "a", "lag_sum": 7},
        {"at": 4, "topic": "a", "lag_sum": 8, "group_id": "another"},
        {"at": 4, "topic": "a", "lag_sum": 9, "cluster": "c2"},
    )
    history.append("lag_group_topic_1m", made)
    line = asked.lag(G, FIVE)
    assert [at - micros(NOON) for at in line["at_us"]] == [minute * 60_000_000 for minute in range(5)]
    assert numbers(line["lag_records"]) == [15, None, None, None, None]
    assert numbers(line["lag_p95_records"]) == [5, None, None, None, None]
    assert numbers(line["time_lag_s"]) == [1.5, None, None, None, None]
    assert (line["known"].tolist(), line["partitions"].max()) == ([3, 0, 1, 0, 0], 3)
    one = asked.lag(Scope("g", "b"), FIVE)
    assert numbers(one["lag_records"]) == [5, None, None, None, None]
    assert (one["known"].tolist(), one["partitions"].max()) == ([1, 0, 0, 0, 0], 1)
    assert asked.topics("g", FIVE) == ["a", "b"]
    assert asked.groups(FIVE) == ["another", "g"]


def test_partitions_that_were_never_committed_to_count_as_not_known(history: History, asked: HistoryQueries) -> None:
    topic = {"topic": "a", "lag_sum": 10, "time_lag_max_ms": 1500, "partitions": 2, "lag_known": 2}
    polled = {"lag": 10, "lag_known": 2, "lag_partitions": 3, "time_lag_max_ms": 1500, "time_lag_known": True}
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"at": 0, **topic}))
    history.append("group_health_1m", past("group_health_1m", {"at": 0, **polled}, {"at": 1}))
    line = asked.lag(G, FIVE)
    assert (numbers(line["lag_records"]), line["known"].tolist(), line["partitions"].max()) == (
        [10, *[None] * 4],
        [2, 0, 0, 0, 0],
        3,
    )
    assert asked.lag(Scope("g", "a"), FIVE)["partitions"].max() == 2


@pytest.mark.parametrize("span", [FIVE, Span(NOON - 5 * DAY, NOON + HOUR)], ids=["by the minute", "by the hour"])
def test_a_share_group_has_a_lag_although_it_commits_nothing(
    history: History, asked: HistoryQueries, span: Span
) -> None:
    polled = {"lag": 7, "lag_known": 1, "lag_partitions": 2, "time_lag_max_ms": 2500}
    made = past("group_health_1m", {"at": 2, **polled, "time_lag_known": True}, {"at": 3, "group_id": "another"})
    history.append("group_health_1m", made)
    line = asked.lag(G, span)
    (at,) = np.flatnonzero(line["known"])
    assert line.iloc[at][["lag_records", "time_lag_s", "known", "partitions"]].tolist() == [7, 2.5, 1, 2]
    assert line["lag_records"].drop(at).isna().all()
    assert asked.groups(FIVE) == ["another", "g"]


def test_the_lag_of_a_partition_has_no_number_where_none_is_known(history: History, asked: HistoryQueries) -> None:
    made = past(
        "lag_1m",
        {"at": 0, "lag_last": 10, "lag_max": 12, "time_lag_max_ms": 250},
        {"at": 1, "lag_last": None, "lag_max": None},
        {"at": 2, "lag_last": 99, "lag_max": 99, "partition": 1},
    )
    history.append("lag_1m", made)
    line = asked.lag(Scope("g", "t", 0), FIVE)
    assert numbers(line["lag_records"]) == [10, None, None, None, None]
    assert numbers(line["time_lag_s"]) == [0.25, None, None, None, None]
    assert (line["known"].tolist(), line["partitions"].max()) == ([1, 0, 0, 0, 0], 1)


def test_a_long_span_is_shown_by_the_hour_with_the_worst_of_its_minutes(
    history: History, asked: HistoryQueries
) -> None:
    made = past(
        "lag_group_topic_1m",
        {"at": 1, "topic": "a", "lag_sum": 10, "time_lag_max_ms": 9000, "partitions": 2, "lag_known": 2},
        {"at": 1, "topic": "b", "lag_sum": 1, "time_lag_max_ms": 0, "partitions": 1, "lag_known": 1},
        {"at": 2, "topic": "a", "lag_sum": 7, "time_lag_max_ms": 7000, "partitions": 2, "lag_known": 1},
        {"at": 125, "topic": "a", "lag_sum": 3, "time_lag_max_ms": 4000, "partitions": 2, "lag_known": 2},
    )
    history.append("lag_group_topic_1m", made)
    history.append("lag_1h", past("lag_1h", {"at": 60, "lag_max": 42, "lag_last": 1, "time_lag_max_ms": 1000}))
    span = Span(NOON, NOON + 7 * DAY)
    line = asked.lag(G, span)
    assert (len(line["at_us"]), line["at_us"][1] - line["at_us"][0]) == (7 * 24, HOUR // timedelta(microseconds=1))
    assert numbers(line["lag_records"][:4]) == [11, None, 3, None]
    assert numbers(line["time_lag_s"][:4]) == [9, None, 4, None]
    assert (line["known"][:4].tolist(), line["partitions"].max()) == ([2, 0, 2, 0], 3)
    assert numbers(asked.lag(Scope("g", "t", 0), span)["lag_records"][:3]) == [None, 42, None]


def test_a_span_that_begins_within_an_hour_begins_with_that_hour() -> None:
    span = Span(NOON + 20 * MINUTE, NOON + 4 * DAY)
    assert span.times(HOUR)[0] == micros(NOON)
    assert len(span.times(HOUR)) == 4 * 24


def test_partitions_come_with_the_one_that_lagged_most_first(history: History, asked: HistoryQueries) -> None:
    made = past(
        "lag_1m",
        {"at": 0, "partition": 0, "lag_max": 5, "lag_last": 5, "time_lag_max_ms": 100, "lost": 0, "lag_avg": 4.0},
        {
            "at": 1,
            "partition": 0,
            "lag_max": 9,
            "lag_last": 2,
            "time_lag_max_ms": 400,
            "lost": 3,
            "rewinds": 2,
            "lead_min": 3,
            "lag_avg": 7.0,
            "samples": 12,
            "commit_gap_max_ms": 4_500,
        },
        {
            "at": 2,
            "partition": 0,
            "lag_max": 9,
            "lag_last": 1,
            "time_lag_max_ms": 300,
            "lost": 1,
            "owner_member": "m",
            "lead_min": -2,
            "commit_gap_max_ms": 1_500,
        },
        {"at": 0, "partition": 1, "lag_max": 70, "lag_last": 70, "time_lag_min_ms": 7_200_000, "lost": 0},
        {"at": 1, "partition": 1},
        {"at": 1, "partition": 2},
    )
    history.append("lag_1m", made)
    assert records(asked.partitions(G, FIVE)) == [
        ("t", 1, 70, micros(NOON), None, None, None, 7200.0, None, None, False, 0, 0, None),
        ("t", 0, 9, micros(NOON + MINUTE), 6.0, None, 0.4, None, -2, 4.5, False, 3, 2, "m"),
        ("t", 2, None, None, None, None, None, None, None, None, False, None, 0, None),
    ]


@pytest.mark.parametrize(("table", "span"), [("lag_1m", FIVE), ("lag_1h", Span(NOON - 5 * DAY, NOON + 5 * HOUR))])
def test_the_longest_commit_gap_is_open_if_no_commit_ended_it(
    history: History, asked: HistoryQueries, table: str, span: Span
) -> None:
    """That of partition 1 is older than the open one; partition 2 has no sample after its last commit."""
    step = 1 if table == "lag_1m" else 60
    gaps: list[list[tuple[int, int, int | None]]] = [
        [(0, 9_000, 9_000), (1, 69_000, 69_000)],
        [(0, 90_000, 2_000), (1, 62_000, 62_000)],
        [(0, 59_000, 59_000), (1, 70_000, None)],
        [(0, 59_000, None)],
    ]
    made = (
        {"at": at * step, "partition": partition, "commit_gap_max_ms": most, "commit_gap_open_ms": left}
        for partition, rows in enumerate(gaps)
        for at, most, left in rows
    )
    history.append(table, past(table, *made))
    found = asked.partitions(G, span).sort_values("partition")
    assert records(found[["commit_gap_max_s", "commit_gap_is_open"]]) == [
        (69.0, True), (90.0, False), (70.0, False), (59.0, False),
    ]  # fmt: skip


def test_losses_add_up_and_one_from_before_the_span_counts_once(history: History, asked: HistoryQueries) -> None:
    """Two losses of partition 0; that of partition 1 is older and still there; partition 2 has rows of an old table."""
    made = past(
        "lag_1m",
        {"at": 0, "lost": 30, "newly_lost": 30},
        {"at": 1, "lost": 30, "newly_lost": 0},
        {"at": 3, "lost": 60, "newly_lost": 60},
        {"at": 0, "partition": 1, "lost": 40, "newly_lost": 0},
        {"at": 0, "partition": 2, "lost": 7},
        {"at": 1, "partition": 2, "lost": 9},
        {"at": 0, "partition": 3},
    )
    history.append("lag_1m", made)
    lost = asked.partitions(G, FIVE)[["partition", "lost_records"]]
    assert records(lost) == [(0, 90), (1, 40), (2, 9), (3, None)]


def test_an_average_is_over_the_samples_whose_lag_is_known(history: History, asked: HistoryQueries) -> None:
    """Five are: one of 1,000 records, four without lag. A row of an earlier version has the number of all samples."""
    made = past(
        "lag_1m",
        {"at": 0, "lag_avg": 1000.0, "samples": 4, "lag_samples": 1},
        {"at": 1, "lag_avg": 0.0, "samples": 4, "lag_samples": 4},
        {"at": 0, "partition": 1, "lag_avg": 1000.0, "samples": 4},
        {"at": 1, "partition": 1, "lag_avg": 0.0, "samples": 4},
    )
    history.append("lag_1m", made)
    assert dict(asked.partitions(G, FIVE)[["partition", "avg_records"]].values.tolist()) == {0: 200.0, 1: 500.0}


def test_the_furthest_behind_of_all_groups_comes_first(history: History, asked: HistoryQueries) -> None:
    """The most of a group is that of a minute of all its topics: 6 + 6, not the 9 of one topic."""
    made = past(
        "lag_group_topic_1m",
        {"at": 0, "group_id": "two", "topic": "a", "lag_sum": 9, "time_lag_max_ms": 1000},
        {"at": 1, "group_id": "two", "topic": "a", "lag_sum": 6, "time_lag_max_ms": 2000},
        {"at": 1, "group_id": "two", "topic": "b", "lag_sum": 6, "time_lag_max_ms": 3000},
        {"at": 2, "group_id": "two", "topic": "a", "lag_sum": 4},
        {"at": 0, "group_id": "one", "lag_sum": 20},
        {"at": 1, "group_id": "one", "lag_sum": None},
        {"at": 0, "group_id": "none", "lag_sum": None},
    )
    history.append("lag_group_topic_1m", made)
    assert records(asked.group_lags(FIVE)) == [
        ("one", 20, micros(NOON), None, None),
        ("two", 12, micros(NOON + MINUTE), None, 3.0),
        ("none", None, None, None, None),
    ]
    assert asked.group_lags(Span(NOON, NOON + 3 * MINUTE))["last_records"].tolist() == [pd.NA, 4, pd.NA]


def test_the_lag_of_a_topic_that_cannot_be_read_is_missing_in_the_sum(history: History, asked: HistoryQueries) -> None:
    """A million records behind do not become 10; a group that is never known in full has the lag of what is known."""
    topics: list[dict[str, Any]] = [{"at": at, "topic": "a", "lag_sum": 10, "time_lag_max_ms": 1000} for at in range(4)]
    for at in range(4):
        known = at in (0, 3)
        topics.append(
            {"at": at, "topic": "b", "lag_sum": 1_000_000 if known else None, "lag_known": int(known)}
            | ({"time_lag_max_ms": 9000} if known else {"time_lag_max_ms": None})
        )
        topics.append({"at": at, "group_id": "half", "lag_sum": at, "partitions": 2, "lag_known": 1})
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *topics))
    line = asked.lag(G, FIVE)
    assert numbers(line["lag_records"]) == [1_000_010, None, None, 1_000_010, None]
    assert numbers(line["time_lag_s"]) == [9, None, None, 9, None]
    assert line["known"].tolist() == [2, 1, 1, 2, 0]
    assert numbers(asked.lag(Scope("half"), FIVE)["lag_records"]) == [0, 1, 2, 3, None]
    for until, last in ((3, None), (4, 1_000_010)):
        lags = asked.group_lags(Span(NOON, NOON + until * MINUTE))
        assert records(lags[["group_id", "most_records", "last_records", "time_lag_s"]]) == [
            ("g", 1_000_010, last, 9),
            ("half", until - 1, until - 1, None),
        ]


def test_a_topic_that_has_grown_is_known_in_full_before_and_after(history: History, asked: HistoryQueries) -> None:
    grown = ({"at": at, "partitions": n, "lag_known": n, "lag_sum": n} for at, n in ((0, 4), (2, 8)))
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", *grown))
    line = asked.lag(G, FIVE)
    assert (line["known"].tolist(), line["partitions"].tolist()) == ([4, 0, 8, 0, 0], [4, 4, 8, 8, 8])


def test_a_cluster_of_share_groups_alone_has_minutes_and_lags(history: History, asked: HistoryQueries) -> None:
    polled = {"lag_known": 2, "lag_partitions": 2, "time_lag_known": True, "time_lag_max_ms": 2500}
    minutes = ({"at": at, "lag": lag, **polled} for at, lag in ((0, 70), (4, 30)))
    history.append("group_health_1m", past("group_health_1m", *minutes, {"at": 4, "group_id": "unread"}))
    assert (asked.latest(NOON + HOUR), asked.has_minutes(FIVE)) == (NOON + 4 * MINUTE, True)
    assert asked.group_lags(FIVE).empty
    assert records(asked.polled_group_lags(FIVE, ["g", "unread"])) == [("g", 70, micros(NOON), 30, 2.5)]
    assert asked.polled_group_lags(FIVE, ["unread"]).empty
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"at": 1, "group_id": "commits", "lag_sum": 99}))
    assert records(asked.group_lags(FIVE)[["group_id", "most_records"]]) == [("commits", 99)]


def test_groups_that_may_not_be_seen_are_as_if_they_had_not_been_recorded(history: History) -> None:
    made = past("lag_group_topic_1m", *({"at": 0, "group_id": name, "lag_sum": 1} for name in ("mine", "theirs")))
    history.append("lag_group_topic_1m", made)
    asked = HistoryQueries(history, "c1", "mine".__eq__)
    assert asked.groups(FIVE) == ["mine"]
    assert list(asked.group_lags(FIVE)["group_id"]) == ["mine"]
    assert (asked.topics("theirs", FIVE), len(asked.topics("mine", FIVE))) == ([], 1)
    assert numbers(asked.lag(Scope("theirs"), FIVE)["lag_records"]) == [None] * 5
    assert asked.partitions(Scope("theirs"), FIVE).empty
    nobody = HistoryQueries(history, "c1", "nobody".__eq__)
    assert (nobody.groups(FIVE), nobody.group_lags(FIVE).empty) == ([], True)


def test_health_is_the_worst_of_each_hour(history: History, asked: HistoryQueries) -> None:
    made = past(
        "group_health_1m",
        {"at": 0, "status": Status.OK, "rebalances": 1},
        {"at": 1, "status": Status.STOPPED},
        {"at": 2, "status": Status.REWOUND, "rebalances": 2, "time_lag_max_ms": 1500},
        {"at": 61, "status": None},
        {"at": 0, "group_id": "h", "status": Status.UNKNOWN},
        {"at": 1, "group_id": "h", "status": Status.OK},
        {"at": 0, "cluster": "c2", "status": Status.LOST},
    )
    history.append("group_health_1m", made)
    trouble = [Status.STOPPED, Status.REWOUND]
    assert records(asked.health_cells(Span(NOON, NOON + 2 * HOUR), trouble)) == [
        ("g", micros(NOON), 0, 3, 2, 3, 1.5),
        ("g", micros(NOON + HOUR), None, 0, 0, 0, None),
        ("h", micros(NOON), URGENCY.index(Status.UNKNOWN), 1, 0, 0, None),
    ]
    midnight = datetime(2026, 11, 22, tzinfo=UTC)
    days = asked.health_cells(Span(midnight, midnight + 30 * DAY), trouble)
    assert records(days) == [
        ("g", micros(midnight), 0, 3, 2, 3, 1.5),
        ("h", micros(midnight), URGENCY.index(Status.UNKNOWN), 1, 0, 0, None),
    ]


def test_cells_of_health_are_ten_minutes_an_hour_or_a_day_long(history: History, asked: HistoryQueries) -> None:
    judged = [{"at": at, "status": Status.OK} for at in (0, 9, 10, 59, 60)]
    history.append("group_health_1m", past("group_health_1m", *judged))

    def known(hours: int) -> dict[timedelta, int]:
        cells = asked.health_cells(Span(NOON - (hours - 2) * HOUR, NOON + 2 * HOUR), [Status.STOPPED])
        return {
            (at - micros(NOON)) * MICROSECOND: n for at, n in zip(cells["at_us"], cells["known_minutes"], strict=True)
        }

    assert known(6) == {0 * MINUTE: 2, 10 * MINUTE: 1, 50 * MINUTE: 1, 60 * MINUTE: 1}
    assert known(7) == known(7 * 24) == {0 * MINUTE: 4, 60 * MINUTE: 1}
    assert known(7 * 24 + 1) == {-12 * HOUR: 5}


def test_a_group_has_verdicts_where_they_were_computed(history: History, asked: HistoryQueries) -> None:
    made = past(
        "group_health_1m",
        {"at": 3, "status": Status.STOPPED, "rebalances": 1, "joins": 2, "leaves": 3, "churn": 2.5},
        {"at": 1, "status": None},
        {"at": 4, "group_id": "h"},
    )
    history.append("group_health_1m", made)
    assert records(asked.health_series("g", FIVE)) == [
        (micros(NOON + MINUTE), URGENCY.index(Status.UNKNOWN), 0, 0, 0, None),
        (micros(NOON + 3 * MINUTE), 0, 1, 2, 3, 2.5),
    ]
    assert asked.health_series("nobody", FIVE).empty


def test_the_newest_burn_of_each_objective_and_window_counts(history: History, asked: HistoryQueries) -> None:
    made = past(
        "slo_burn",
        {"at": 1, "burn": 1.0, "budget_left": 0.9},
        {"at": 2, "burn": 2.0, "budget_left": 0.8, "bad_minutes": 2, "unknown_minutes": 4},
        {"at": 1, "window_s": 300, "burn": None},
        {"at": 2, "group_id": "h", "burn": 3.0},
        {"at": 2, "cluster": "c2", "burn": 4.0},
    )
    history.append("slo_burn", made)
    short = ("g", "fresh", 99.0, 60.0, 300, None, None, 1, 0, 60, micros(NOON + MINUTE))
    long = ("g", "fresh", 99.0, 60.0, 3600, 2.0, 80.0, 2, 4, 60, micros(NOON + 2 * MINUTE))
    assert records(asked.burn_rates(FIVE, "g")) == [short, long]
    assert records(asked.burn_rates(FIVE)[["group_id", "burn"]]) == [("g", None), ("g", 2.0), ("h", 3.0)]


def test_a_window_that_ends_with_the_span_is_in_it_and_one_that_ended_as_it_began_is_not(
    history: History, asked: HistoryQueries
) -> None:
    """Up to midnight: the row is of the next day's file, as the roll-up writes it."""
    midnight = datetime(2026, 11, 23, tzinfo=UTC)
    last = (midnight - NOON) // MINUTE
    made = ({"at": at, "slo_id": f"s{at}", "burn": 1.0} for at in (last - 5, last - 4, last, last + 1))
    history.append("slo_burn", past("slo_burn", *made))
    assert list(asked.burn_rates(Span(midnight - 5 * MINUTE, midnight))["at_us"]) == [
        micros(midnight - 4 * MINUTE),
        micros(midnight),
    ]


def test_a_time_lag_that_is_only_known_to_be_exceeded_is_not_that_of_the_others(
    history: History, asked: HistoryQueries
) -> None:
    made = past(
        "lag_group_topic_1m",
        {"at": 0, "topic": "a", "lag_sum": 9, "time_lag_max_ms": 200},
        {"at": 0, "topic": "b", "lag_sum": 9, "time_lag_max_ms": 5000},
        {"at": 1, "topic": "a", "lag_sum": 9, "time_lag_max_ms": 200},
        {"at": 1, "topic": "b", "lag_sum": 9, "time_lag_max_ms": None},
        {"at": 60, "topic": "a", "lag_sum": 9, "time_lag_max_ms": 300},
    )
    history.append("lag_group_topic_1m", made)
    assert numbers(asked.lag(G, FIVE)["time_lag_s"][:2]) == [5, None]
    assert numbers(asked.lag(G, Span(NOON, NOON + 7 * DAY))["time_lag_s"][:2]) == [None, 0.3]
    half = {"lag_last": 9, "lag_max": 9, "time_lag_max_ms": 200}
    history.append("lag_1m", past("lag_1m", half | {"at": 0}, half | {"at": 1, "time_lag_bounded": False}))
    history.append("lag_1h", past("lag_1h", half | {"at": 0, "time_lag_bounded": False}, half | {"at": 60}))
    one = Scope("g", "t", 0)
    assert numbers(asked.lag(one, FIVE)["time_lag_s"][:2]) == [0.2, None]
    assert numbers(asked.lag(one, Span(NOON, NOON + 7 * DAY))["time_lag_s"][:2]) == [None, 0.2]


def test_partitions_are_labelled_with_their_numbers(history: History, asked: HistoryQueries) -> None:
    history.append("lag_1m", past("lag_1m", *({"partition": at} for at in (7, 3, 3)), {"partition": 0, "topic": "u"}))
    history.append("lag_1h", past("lag_1h", {"partition": 5}))
    assert asked.partition_numbers("g", "t", FIVE) == [3, 7]
    assert asked.partition_numbers("g", "t", Span(NOON, NOON + 7 * DAY)) == [5]


def test_over_days_a_span_of_part_hours_has_its_first_hour_and_not_its_last(
    history: History, asked: HistoryQueries
) -> None:
    made = ({"at": 60 * at, "lag_max": at + 1, "lag_last": at + 1} for at in range(97))
    history.append("lag_1h", past("lag_1h", *made))
    span = Span(NOON + 20 * MINUTE, NOON + 96 * HOUR + 20 * MINUTE)
    found = numbers(asked.lag(Scope("g", "t", 0), span)["lag_records"])
    assert (len(found), found[0], found[95], found[96]) == (97, 1, 96, None)
    assert records(asked.partitions(G, span)[["most_records", "last_records"]]) == [(96, 96)]


def test_the_lag_of_all_groups_over_days_is_that_of_its_days(history: History, asked: HistoryQueries) -> None:
    """Noon to noon, with a midnight in between; of two equal minutes the first counts."""
    made = past(
        "lag_group_topic_1m",
        {"at": 0, "group_id": "falls", "lag_sum": 9, "time_lag_max_ms": 3000},
        {"at": 800, "group_id": "falls", "lag_sum": 2, "time_lag_max_ms": 1000},
        {"at": 1, "group_id": "stays", "lag_sum": 0},
        {"at": 801, "group_id": "stays", "lag_sum": 0},
        {"at": 2, "group_id": "grows", "lag_sum": None},
        {"at": 802, "group_id": "grows", "lag_sum": 9},
        {"at": 1440, "group_id": "late", "lag_sum": 1},
    )
    history.append("lag_group_topic_1m", made)
    assert records(asked.group_lags(Span(NOON, NOON + DAY))) == [
        ("falls", 9, micros(NOON), None, 3.0),
        ("grows", 9, micros(NOON + 802 * MINUTE), None, None),
        ("stays", 0, micros(NOON + MINUTE), None, None),
    ]
    late = asked.group_lags(Span(NOON, NOON + 803 * MINUTE))[["group_id", "last_records"]]
    assert records(late) == [("falls", None), ("grows", 9), ("stays", None)]


def test_both_tiers_answer_alike(history: History, asked: HistoryQueries) -> None:
    """Yesterday is laid out by series, today lies as it came; the span has minutes of both."""
    day = [
        {"at": at, "group_id": group, "partition": partition, "lag_last": at + partition, "lag_max": at + partition}
        for at in range(-800, 5)
        for group in ("f", "g")
        for partition in (0, 1)
    ]
    for part in (day[:2400], day[2400:]):
        history.append("lag_1m", past("lag_1m", *part))
    span, place = Span(NOON - 800 * MINUTE, NOON + 5 * MINUTE), Scope("g", "t", 1)
    before = asked.lag(place, span)
    assert numbers(before["lag_records"]) == [float(at + 1) for at in range(-800, 5)]
    done = maintain(history, "lag_1m", NOON)
    assert done is not None
    assert (done.files_before, done.files_after) == (3, 2)
    assert numbers(asked.lag(place, span)["lag_records"]) == numbers(before["lag_records"])
    assert len(asked.partitions(G, span)) == 2


def test_a_name_with_quotes_is_a_name(history: History, asked: HistoryQueries) -> None:
    name = "o'neill' OR '1'='1"
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"group_id": name, "lag_sum": 3}, {"lag_sum": 4}))
    assert numbers(asked.lag(Scope(name), FIVE)["lag_records"]) == [3, None, None, None, None]


def test_a_damaged_table_is_named(history: History, asked: HistoryQueries) -> None:
    history.append("lag_group_topic_1m", past("lag_group_topic_1m", {"lag_sum": 3}))
    for file in Path(history.table_path("lag_group_topic_1m")).glob("dt=*/*.parquet"):
        file.write_bytes(b"PAR1 no more")
    with pytest.raises(HistoryError, match=r"The history at .*/lag_group_topic_1m cannot be used: .*restore it"):
        asked.lag(G, FIVE)


def test_a_table_of_a_newer_groupscope_is_refused(history: History, asked: HistoryQueries) -> None:
    history.create("slo_burn")
    table = DeltaTable(history.table_path("slo_burn"))
    table.alter.set_table_properties({VERSION_KEY: str(SCHEMA_VERSION + 1)}, raise_if_not_exists=False)
    with pytest.raises(HistoryError, match=f"newer groupscope .schema {SCHEMA_VERSION + 1}"):
        asked.burn_rates(FIVE)


def test_what_was_written_since_is_seen_from_any_writer(history: History, asked: HistoryQueries) -> None:
    other = History(history.root)
    for lag, write in ((1, other.append), (2, other.append), (3, partial(other.replace, where="burn >= 0"))):
        write("slo_burn", past("slo_burn", {"burn": float(lag), "slo_id": f"s{lag}"}))
        newest = asked.burn_rates(FIVE).iloc[-1]
        assert (newest["objective"], newest["burn"]) == (f"s{lag}", float(lag))
    assert len(asked.burn_rates(FIVE)) == 1


def test_a_table_that_was_removed_is_empty_and_then_another(history: History, asked: HistoryQueries) -> None:
    history.append("slo_burn", past("slo_burn", {"burn": 1.0}))
    assert list(asked.burn_rates(FIVE)["burn"]) == [1.0]
    shutil.rmtree(history.table_path("slo_burn"))
    assert asked.burn_rates(FIVE).empty
    history.append("slo_burn", past("slo_burn", {"burn": 2.0}))
    assert list(asked.burn_rates(FIVE)["burn"]) == [2.0]
