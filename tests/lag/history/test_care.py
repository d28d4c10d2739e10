"""Compaction and retention: nothing is lost, old days go, and what others write meanwhile stays."""

from datetime import timedelta
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from lag.history import layout
from lag.history.care import care, extents
from lag.history.schemas import COMMITS
from lag.history.store import History, literal
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


def test_a_day_that_is_over_lies_in_the_order_of_its_series_and_then_of_its_time(history: History) -> None:
    """One file is enough to be sorted; partitions of one group lie together, whatever other groups have."""
    made = [
        {"src_offset": at, "group_id": group, "topic": topic, "partition": partition, "src_ts": -at}
        for at, (group, topic, partition) in enumerate(product("ba", "ut", (1, 0)))
    ]
    history.append("commits", rows("commits", *made, *({**row, "src_ts": row["src_ts"] + 60} for row in made)))
    care(history, "commits", NOON + timedelta(days=1))
    (path,) = DeltaTable(history.place("commits")).file_uris()
    table = pq.read_table(path, partitioning=None)
    found = list(zip(*(table[name].to_pylist() for name in ("group_id", "topic", "partition", "src_ts")), strict=True))
    assert len(found) == 16
    assert found == sorted(found)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).has_column_index


def test_a_late_row_is_put_in_its_place(history: History) -> None:
    history.append("commits", rows("commits", {"group_id": "a", "src_offset": 1}, {"group_id": "c", "src_offset": 2}))
    care(history, "commits", NOON + timedelta(days=1))
    history.append("commits", rows("commits", {"group_id": "b", "src_offset": 3}))
    done = care(history, "commits", NOON + timedelta(days=1))
    assert done is not None
    assert (done.files_before, done.files_after, offsets(history)) == (2, 1, [1, 2, 3])


def test_a_large_day_is_sorted_piece_by_piece(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MOST_ROWS", 3)
    made = [{"group_id": f"g{at % 5}", "src_offset": at} for at in range(25)]
    history.append("commits", rows("commits", *made))
    care(history, "commits", NOON + timedelta(days=1))
    found = history.query("SELECT group_id, src_offset FROM commits", "commits").to_pylist()
    assert sorted(row["src_offset"] for row in found) == list(range(25))
    assert [row["group_id"] for row in found] == sorted(row["group_id"] for row in made)


def test_a_day_that_was_replaced_meanwhile_is_left_alone(history: History) -> None:
    """What was read is no longer what is there: putting it back would bring old rows back."""
    history.append("commits", rows("commits", {"src_offset": 1}))
    read = history.open("commits")
    assert read is not None
    history.replace("commits", rows("commits", {"src_offset": 2}), f"src_ts >= {literal(NOON)}")
    with pytest.raises(CommitFailedError):
        layout.sort_day(history.root, read, COMMITS, NOON.date())
    assert offsets(history) == [2]
