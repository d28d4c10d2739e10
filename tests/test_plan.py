"""The plan for a large fleet: its arithmetic, and that docs/cluster.md shows what it prints."""

from pathlib import Path

import pytest

from benchmarks.plan import FAN_OUTS, Fleet, Measured, Prices, plan, table

SMALL = Fleet(groups=10, partitions=100, fan_out=2, topics=20, commit_every_s=5, poll_every_s=10, roll_up_every_h=1)
ROUND = Measured(
    stream_records_per_s=80,
    rollup_samples_per_s=40,
    poll_pairs_per_s=200,
    record_bytes=100,
    row_bytes={
        "commits": 10,
        "end_offsets": 4,
        "group_snapshots": 5,
        "lag_1m": 20,
        "lag_1h": 30,
        "by topic": 25,
        "group_health_1m": 3,
    },
)


def test_rows_follow_from_series_and_intervals() -> None:
    made = plan(SMALL, ROUND)
    assert made.records_per_s == 200 / 5
    assert made.topic_bytes_a_day == 40 * 86_400 * 100
    assert made.rows == {
        "commits": 40 * 86_400,
        "end_offsets": 100 * 8_640,
        "group_snapshots": 10 * 8_640,
        "lag_1m": 200 * 1_440,
        "lag_1h": 200 * 24,
        "by topic": 40 * 1_440,
        "group_health_1m": 10 * 1_440,
    }


def test_what_is_stored_is_what_is_kept() -> None:
    made = plan(SMALL, ROUND)
    assert made.stored == {
        "commits": 40 * 86_400 * 7 * 10,
        "end_offsets": 100 * 8_640 * 7 * 4,
        "group_snapshots": 10 * 8_640 * 90 * 5,
        "lag_1m": 200 * 1_440 * 90 * 20,
        "lag_1h": 200 * 24 * 730 * 30,
        "by topic": 40 * 1_440 * 90 * 25,
        "group_health_1m": 10 * 1_440 * 730 * 3,
    }


def test_an_hourly_roll_up_computes_each_hour_twice() -> None:
    made = plan(SMALL, ROUND)
    assert (made.stream_cores, made.rollup_cores, made.poll_cores) == (40 / 80, 20 * 2 / 40, 20 / 200)


def test_the_cost_is_that_of_storage_and_cores() -> None:
    made = plan(SMALL, ROUND, Prices(gb_month=1, core_hour=2))
    assert made.dollars_a_month == pytest.approx(sum(made.stored.values()) / 1e9 + (0.5 + 1.0 + 0.1) * 730 * 2)


def test_more_readers_of_a_partition_cost_nothing_at_its_ends() -> None:
    once, twice = plan(Fleet(fan_out=1)), plan(Fleet(fan_out=2))
    assert twice.rows["end_offsets"] == once.rows["end_offsets"]
    assert twice.rows["lag_1m"] == 2 * once.rows["lag_1m"]


def test_the_docs_show_what_the_plan_prints() -> None:
    fleets = [Fleet(fan_out=fan_out) for fan_out in FAN_OUTS]
    printed = "\n".join(table([(fleet, plan(fleet)) for fleet in fleets]))
    assert printed in (Path(__file__).parent.parent / "docs" / "cluster.md").read_text()
