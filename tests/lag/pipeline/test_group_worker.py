"""What a worker does with a bucket of groups, without Spark."""

from datetime import timedelta

import pyarrow as pa

from lag.history.schemas import TIME
from lag.pipeline.group_worker import OWNERS, budgets, health, owners
from lag.rollup.error_budget import DEFAULT
from tests.lag.history.rows import NOON, rows

HOUR_US = round(NOON.timestamp() * 1e6)


def test_groups_of_a_bucket_are_kept_apart() -> None:
    """The same generation of two groups, and of one name in two clusters; rows in any order."""
    assignment = [{"topic": "t", "topic_id": None, "partitions": [0]}]
    first = {"generation_or_epoch": 1, "member_id": "m", "assignment": assignment, "ts": 1}
    events = rows("group_events", first | {"src_offset": 2, "generation_or_epoch": 2, "member_id": "n", "ts": 70},
                  first, first | {"group_id": "h"}, first | {"cluster": "c2"})  # fmt: skip
    found = owners(events).select(["cluster", "group_id", "owner"]).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("c1", "g", "m"), ("c1", "g", "n"), ("c1", "h", "m"), ("c2", "g", "m"),
    ]  # fmt: skip
    seen = rows("group_health_1m").slice(0, 0)
    seen = seen.append_column("members", pa.array([], pa.int32()))
    made = health(HOUR_US, HOUR_US + 3_600_000_000, events, seen).to_pylist()
    assert [(row["cluster"], row["group_id"], row["minute"], row["rebalances"], row["joins"]) for row in made] == [
        ("c1", "g", NOON, 1, 1), ("c1", "g", NOON + timedelta(minutes=1), 1, 1), ("c1", "h", NOON, 1, 1),
        ("c2", "g", NOON, 1, 1),
    ]  # fmt: skip


def test_a_window_of_which_nothing_is_known_has_neither_burn_nor_budget() -> None:
    """Of two minutes a good one leaves the whole budget; what an unknown one leaves is not known."""
    tallies = pa.table(
        {"cluster": ["c1"] * 2, "group_id": ["known", "unknown"], "slo_id": [DEFAULT[0].slo_id] * 2,
         "at": pa.array([NOON] * 2, TIME), "good": [1, 0], "bad": [0, 0], "unknown": [1, 2]}
    )  # fmt: skip
    made = budgets(DEFAULT, HOUR_US, HOUR_US + 60_000_000, tallies).to_pylist()
    assert {(row["group_id"], row["total_minutes"], row["burn"], row["budget_left"]) for row in made} == {
        ("known", 2, 0.0, 1.0), ("unknown", 2, None, None),
    }  # fmt: skip


def test_an_empty_bucket_gives_tables_without_rows() -> None:
    events = rows("group_events").slice(0, 0)
    tallies = rows("slo_burn").slice(0, 0)
    for name in ("good", "bad", "unknown"):
        tallies = tallies.append_column(name, pa.array([], pa.int64()))
    assert (len(owners(events)), owners(events).schema) == (0, OWNERS)
    assert len(budgets(DEFAULT, HOUR_US, HOUR_US + 60_000_000, tallies)) == 0
