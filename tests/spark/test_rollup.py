"""The roll-up of tables equals the plain reference series by series; running again changes nothing."""

import math
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from lag.health import URGENCY
from lag.history.store import History
from lag.pipeline.rollup import Rollup
from tests.lag import plain_minutes as plain
from tests.lag.history.rows import rows
from tests.lag.plain_minutes import Commit, Sample
from tests.lag.test_minutes import random_commits, random_samples

pytestmark = pytest.mark.timeout(600)

BEGIN = datetime(2026, 11, 22, 12, tzinfo=UTC)
SECONDS = 1500
IDS = {"old": bytes(15) + b"1", "new": bytes(15) + b"2"}
SERIES = [("g", "t", 0), ("g", "t", 1), ("g", "u", 0), ("h", "t", 0), ("h", "t", 1)]

Run = Callable[[], int]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture
def series(history: History) -> dict[tuple[str, str, int], tuple[list[Sample], list[Commit]]]:
    """Random samples of three partitions and commits of five series, in the tables."""
    dice = random.Random(7)
    samples = {place: random_samples(dice) for place in sorted({(topic, part) for _, topic, part in SERIES})}
    commits = {one: random_commits(dice) for one in SERIES}
    ends = [
        {"topic": topic, "partition": part, "poll_ts": BEGIN + timedelta(seconds=s.at), "log_start": s.start,
         "log_end": s.end, "last_stable": s.stable, "topic_id": IDS.get(s.topic or "")}
        for (topic, part), many in samples.items() for s in many
    ]  # fmt: skip
    made = [
        {"group_id": group, "topic": topic, "partition": part, "src_offset": number, "committed": c.offset,
         "op": int(c.offset is None), "topic_id": IDS.get(c.topic or ""), "bootstrap": c.bootstrap,
         "src_ts": BEGIN + timedelta(seconds=c.at),
         "commit_ts": None if c.offset is None else BEGIN + timedelta(seconds=c.at)}
        for (group, topic, part), many in commits.items() for number, c in enumerate(many)
    ]  # fmt: skip
    dice.shuffle(ends)
    dice.shuffle(made)
    history.append("end_offsets", rows("end_offsets", *ends))
    history.append("commits", rows("commits", *made))
    return {one: (samples[one[1:]], commits[one]) for one in SERIES}


def roll_up(spark: SparkSession, history: History) -> list[Any]:
    return Rollup(spark, history).run(BEGIN + timedelta(seconds=SECONDS), lambda *_: None)


def of(history: History, table: str, order: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = history.query(f"SELECT * FROM {table} ORDER BY {order}", table).to_pylist()
    return found


def same(mine: Any, wanted: Any) -> bool:
    if isinstance(wanted, float):
        return mine is not None and (mine == wanted or math.isclose(mine, wanted, rel_tol=1e-6, abs_tol=0.51))
    return bool(mine == wanted)


def test_roll_ups_are_as_the_reference_has_them_and_running_again_changes_nothing(
    spark: SparkSession, history: History, series: dict[tuple[str, str, int], tuple[list[Sample], list[Commit]]]
) -> None:
    (piece,) = roll_up(spark, history)
    minutes = of(history, "lag_1m", "group_id, topic, partition, minute")
    by_series = {one: [row for row in minutes if place(row) == one] for one in SERIES}
    for one, (samples, commits) in series.items():
        wanted = plain.minutes(samples, commits, 0, SECONDS)
        assert [seconds(row["minute"]) for row in by_series[one]] == [row.pop("minute") for row in wanted]
        for mine, reference in zip(by_series[one], wanted, strict=True):
            mine["status"] = str(URGENCY[mine["status"]])
            assert {name: mine[name] for name, value in reference.items() if not same(mine[name], value)} == {}
    assert piece.rows["lag_1m"] == len(minutes)
    hours, topics = of(history, "lag_1h", "group_id, topic, partition"), of(history, "lag_group_topic_1m", "group_id")
    check_hours(hours, by_series)
    check_topics(topics, minutes)
    roll_up(spark, history)
    again = of(history, "lag_1m", "group_id, topic, partition, minute")
    assert [{**row, "status": str(URGENCY[row["status"]])} for row in again] == minutes
    assert of(history, "lag_1h", "group_id, topic, partition") == hours


def place(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["group_id"], row["topic"], row["partition"]


def seconds(at: datetime) -> int:
    return round((at - BEGIN).total_seconds())


def check_hours(hours: list[dict[str, Any]], by_series: dict[Any, list[dict[str, Any]]]) -> None:
    assert [place(row) for row in hours] == sorted(SERIES)
    for row in hours:
        many = by_series[place(row)]
        known = [one for one in many if one["lag_avg"] is not None]
        weights = [one["samples"] for one in known]
        assert row["lag_avg"] == pytest.approx(np.average([one["lag_avg"] for one in known], weights=weights))
        assert row["lag_last"] == [one["lag_last"] for one in many if one["lag_last"] is not None][-1]
        assert row["lag_max"] == max(one["lag_max"] for one in known)
        assert row["commits"] == sum(one["commits"] for one in many)
        assert (row["rewinds"], row["samples"]) == tuple(
            sum(one[name] for one in many) for name in ("rewinds", "samples")
        )
        assert row["time_lag_bounded"] == all(one["time_lag_bounded"] for one in many)
        assert row["hour"] == BEGIN


def check_topics(topics: list[dict[str, Any]], minutes: list[dict[str, Any]]) -> None:
    together: dict[Any, list[dict[str, Any]]] = {}
    for row in minutes:
        together.setdefault((row["group_id"], row["topic"], row["minute"]), []).append(row)
    assert {(row["group_id"], row["topic"], row["minute"]) for row in topics} == set(together)
    for row in topics:
        many = together[row["group_id"], row["topic"], row["minute"]]
        lags = [one["lag_last"] for one in many if one["lag_last"] is not None]
        assert (row["partitions"], row["lag_known"]) == (len(many), len(lags))
        assert row["lag_sum"] == (sum(lags) if lags else None)
        assert row["lag_p95"] == (pytest.approx(float(np.percentile(lags, 95))) if lags else None)
        assert row["skew"] == (pytest.approx(max(lags) / np.mean(lags)) if lags and sum(lags) else None)
        counts = dict(row["partitions_by_status"])
        assert {str(URGENCY[code]): n for code, n in counts.items()} == {
            name: sum(one["status"] == name for one in many) for name in {one["status"] for one in many}
        }


def test_a_commit_that_comes_late_changes_the_minutes_that_it_belongs_to(spark: SparkSession, history: History) -> None:
    samples = [{"poll_ts": BEGIN + timedelta(seconds=10 * n), "log_end": 100, "last_stable": 100} for n in range(18)]
    history.append("end_offsets", rows("end_offsets", *samples))
    early = {"committed": 40, "src_ts": BEGIN, "commit_ts": BEGIN, "src_offset": 1}
    history.append("commits", rows("commits", early))
    roll_up(spark, history)
    assert [row["lag_last"] for row in of(history, "lag_1m", "minute")] == [60, 60, 60]
    late = early | {"committed": 90, "commit_ts": BEGIN + timedelta(seconds=70), "src_offset": 2}
    history.append("commits", rows("commits", late))
    roll_up(spark, history)
    assert [row["lag_last"] for row in of(history, "lag_1m", "minute")] == [60, 10, 10]


def test_an_empty_history_has_nothing_to_roll_up(spark: SparkSession, history: History) -> None:
    assert roll_up(spark, history) == []


def test_the_last_commit_before_the_window_counts_however_old(spark: SparkSession, history: History) -> None:
    days_ago = BEGIN - timedelta(days=5)
    commits = [{"committed": n, "src_ts": days_ago, "commit_ts": days_ago, "src_offset": n} for n in (3, 7, 5)]
    history.append("commits", rows("commits", *commits))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": BEGIN, "log_end": 10, "last_stable": 10}))
    roll_up(spark, history)
    (row,) = of(history, "lag_1m", "minute")
    assert (row["committed_last"], row["lag_last"], row["commits"]) == (7, 3, 0)


def test_the_last_commit_before_the_window_is_carried_from_piece_to_piece(
    spark: SparkSession, history: History
) -> None:
    times = {0: BEGIN - timedelta(days=1), 1: BEGIN + timedelta(hours=3)}
    commits = [
        {"group_id": group, "committed": committed, "src_ts": times[day], "commit_ts": times[day], "src_offset": number}
        for number, (group, committed, day) in enumerate((("old", 2, 0), ("both", 3, 0), ("both", 7, 1), ("new", 8, 1)))
    ]
    history.append("commits", rows("commits", *commits))
    polls = [BEGIN + timedelta(hours=5), BEGIN + timedelta(hours=7)]
    ends = [{"poll_ts": at, "log_end": 10, "last_stable": 10} for at in polls]
    history.append("end_offsets", rows("end_offsets", *ends))
    rollup = Rollup(spark, history)
    for hours in (4, 6):
        rollup.piece(BEGIN + timedelta(hours=hours), BEGIN + timedelta(hours=hours + 2))
    found = [(row["group_id"], row["minute"], row["lag_last"]) for row in of(history, "lag_1m", "group_id, minute")]
    assert found == [
        (group, at, 10 - committed) for group, committed in (("both", 7), ("new", 8), ("old", 2)) for at in polls
    ]
