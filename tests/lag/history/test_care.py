"""Compaction and retention: nothing is lost, old days go, and what others write meanwhile stays."""

from datetime import timedelta
from pathlib import Path

import pytest

from lag.history.care import care, extents
from lag.history.store import History
from tests.lag.history.rows import NOON, rows
from tests.lag.history.test_store import offsets, writer
from tests.lag.history.writer import ROWS

DAY = 86_400


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def test_small_files_become_one_of_each_day_in_the_order_of_the_series(history: History) -> None:
    for number in range(6):
        made = [{"src_offset": number * 4 + at, "group_id": f"g{at}", "src_ts": DAY * (number % 2)} for at in range(4)]
        history.append("commits", rows("commits", *made))
    done = care(history, "commits", NOON + timedelta(days=1))
    assert done is not None
    assert (done.files_before, done.files_after, done.days_dropped) == (6, 2, 0)
    assert offsets(history) == list(range(24))
    yesterday = history.query(f"SELECT group_id FROM commits WHERE dt = DATE '{NOON.date()}'", "commits")
    groups = yesterday["group_id"].to_pylist()
    assert groups == sorted(groups)


def test_compacting_again_changes_nothing(history: History) -> None:
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    care(history, "commits", NOON + timedelta(days=1))
    before = history.open("commits")
    done = care(history, "commits", NOON + timedelta(days=1))
    after = history.open("commits")
    assert done is not None
    assert before is not None
    assert after is not None
    assert (done.files_before, done.files_after) == (1, 1)
    assert sorted(before.file_uris()) == sorted(after.file_uris())


def test_days_are_dropped_when_the_table_has_kept_them_long_enough(history: History) -> None:
    """Commits are kept for 7 days, minutes of lag for 90."""
    history.append("commits", rows("commits", *({"src_offset": day, "src_ts": -DAY * day} for day in range(10))))
    done = care(history, "commits", NOON)
    assert done is not None
    assert (done.days_dropped, offsets(history)) == (2, [0, 1, 2, 3, 4, 5, 6, 7])


def test_what_is_appended_during_compaction_is_kept(history: History) -> None:
    for number in range(20):
        history.append("commits", rows("commits", {"group_id": "before", "src_offset": number}))
    with writer(history.root, "meanwhile", "6") as process:
        while process.poll() is None:
            care(history, "commits", NOON + timedelta(days=1))
    found = history.query("SELECT group_id, count(*) AS n FROM commits GROUP BY group_id", "commits").to_pylist()
    assert {row["group_id"]: row["n"] for row in found} == {"before": 20, "meanwhile": 6 * ROWS}


def test_extents_are_those_of_tables_that_exist(history: History) -> None:
    assert extents(history) == []
    history.append("commits", rows("commits", {}, {"src_ts": DAY}))
    (found,) = extents(history)
    assert (found.table, found.rows, found.files) == ("commits", 2, 2)
    assert (found.first_day, found.last_day) == (NOON.date(), (NOON + timedelta(days=1)).date())


def test_a_table_that_nobody_wrote_to_needs_no_care(history: History) -> None:
    assert care(history, "lag_1m", NOON) is None
