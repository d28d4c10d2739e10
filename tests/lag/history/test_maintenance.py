"""Compaction and retention: nothing is lost, old days go, and what others write meanwhile stays."""

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError

from lag.history import maintenance
from lag.history.files import TableWriter
from lag.history.maintenance import DAY_OVER_AFTER, maintain, table_sizes
from lag.history.rewrites import retention, series_order
from lag.history.rewrites.file_replacement import replace_files
from lag.history.schemas import COMMITS, with_day
from lag.history.store import History, literal
from tests.lag.history.past import past
from tests.lag.history.rows import NOON, rows
from tests.lag.history.test_store import offsets, writer
from tests.lag.history.writer import ROWS
from tests.support.waiting import wait_until

DAY = 86_400
TICK = timedelta(microseconds=1)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def test_small_files_become_one_of_each_day_in_the_order_of_the_series(history: History) -> None:
    for number in range(6):
        made = [{"src_offset": number * 4 + at, "group_id": f"g{at}", "src_ts": DAY * (number % 2)} for at in range(4)]
        history.append("commits", rows("commits", *made))
    done = maintain(history, "commits", NOON + timedelta(days=1))
    assert done is not None
    assert (done.files_before, done.files_after, done.days_dropped) == (6, 2, 0)
    assert offsets(history) == list(range(24))
    yesterday = history.query(f"SELECT group_id FROM commits WHERE dt = DATE '{NOON.date()}'", "commits")
    groups = yesterday["group_id"].to_pylist()
    assert groups == sorted(groups)


def test_compacting_again_changes_nothing(history: History) -> None:
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    maintain(history, "commits", NOON + timedelta(days=1))
    before = history.open("commits")
    done = maintain(history, "commits", NOON + timedelta(days=1))
    after = history.open("commits")
    assert done is not None
    assert before is not None
    assert after is not None
    assert (done.files_before, done.files_after) == (1, 1)
    assert sorted(before.file_uris()) == sorted(after.file_uris())


def test_days_are_dropped_when_the_table_has_kept_them_long_enough(history: History) -> None:
    """Commits are kept for 7 days, minutes of lag for 90; these are all of one series, so the last one is of today."""
    made = [{"src_offset": -day, "src_ts": -DAY * day} for day in range(10)]
    history.append("commits", rows("commits", *made))
    done = maintain(history, "commits", NOON)
    assert done is not None
    assert (done.days_dropped, offsets(history)) == (2, [-8, -7, -6, -5, -4, -3, -2, -1, 0])
    history.append("lag_1m", past("lag_1m", *({"at": -1440 * day} for day in (89, 90, 91, 92))))
    done = maintain(history, "lag_1m", NOON)
    assert done is not None
    found = history.query("SELECT minute FROM lag_1m ORDER BY minute", "lag_1m")["minute"].to_pylist()
    assert (done.days_dropped, found) == (2, [NOON - timedelta(days=90), NOON - timedelta(days=89)])


@pytest.mark.process
def test_what_another_process_appends_during_compaction_is_kept(history: History) -> None:
    """Today's files, and then a day that is over. It goes on until it is stopped, after the last care."""
    for number in range(20):
        history.append("commits", rows("commits", {"group_id": "before", "src_offset": number}))
    with writer(history.root, "meanwhile", "-") as process:
        for times, late in enumerate((0, 1), 1):
            wait_until(lambda: counted(history).get("meanwhile", 0) >= times * ROWS)  # noqa: B023
            assert maintain(history, "commits", NOON + timedelta(days=late)) is not None
        appends = int(process.communicate(timeout=60)[0])
    assert counted(history) == {"before": 20, "meanwhile": appends * ROWS}


def counted(history: History) -> dict[str, int]:
    found = history.query("SELECT group_id, count(*) AS n FROM commits GROUP BY group_id", "commits").to_pylist()
    return {row["group_id"]: row["n"] for row in found}


@pytest.mark.parametrize("module", [series_order, retention])
def test_what_is_appended_between_reading_a_day_and_its_commit_is_kept(
    history: History, monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> None:
    """While a day is sorted, and while it is dropped."""
    for number in range(2):
        history.append("commits", rows("commits", {"src_offset": number}))
    before_commit(monkeypatch, module, lambda: history.append("commits", rows("commits", {"src_offset": 7})))
    done = maintain(history, "commits", NOON + timedelta(days=1 if module is series_order else 9))
    assert done is not None
    assert (done.days_left, done.days_dropped) == ((0, 0) if module is series_order else (0, 1))
    assert offsets(history) == ([0, 1, 7] if module is series_order else [1, 7])


def before_commit(monkeypatch: pytest.MonkeyPatch, module: ModuleType, do: Callable[[], None]) -> None:
    """Do it when all is read and nothing is committed yet, the first time that this happens."""
    first = iter([do])

    def exchanged(*args: Any, **how: Any) -> None:
        next(first, lambda: None)()
        replace_files(*args, **how)

    monkeypatch.setattr(module, "replace_files", exchanged)


def test_a_day_that_is_written_to_is_left_for_the_next_time_and_the_others_are_put_in_order(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day, number in product((0, 1), (0, 1)):
        history.append("commits", rows("commits", {"src_offset": 2 * day + number, "src_ts": DAY * day + number}))
    late = rows("commits", {"src_offset": 9})
    before_commit(monkeypatch, series_order, lambda: history.replace("commits", late, f"src_ts = {literal(NOON)}"))
    done, again = (maintain(history, "commits", NOON + timedelta(days=2)) for _ in range(2))
    assert done is not None
    assert again is not None
    assert (done.days_left, done.files_before, done.files_after) == (1, 4, 3)
    assert (again.days_left, again.files_before, again.files_after) == (0, 3, 2)
    assert offsets(history) == [1, 2, 3, 9]


def test_compaction_of_today_that_a_roll_up_gets_in_the_way_of_is_left_for_the_next_time(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    compact, where = maintenance._compact, "src_offset = 1 OR src_offset = 7"

    def replaced_meanwhile(table: DeltaTable, day: date) -> None:
        history.replace("commits", rows("commits", {"src_offset": 7}), where)
        compact(table, day)

    with monkeypatch.context() as patch:
        patch.setattr(maintenance, "_compact", replaced_meanwhile)
        done = maintain(history, "commits", NOON)
    assert done is not None
    assert (done.days_left, offsets(history)) == (1, [0, 2, 7])
    again = maintain(history, "commits", NOON)
    assert again is not None
    assert (again.days_left, again.files_after, offsets(history)) == (0, 1, [0, 2, 7])


def test_a_day_is_over_when_the_roll_up_no_longer_writes_its_last_hours(history: History) -> None:
    midnight = NOON + timedelta(hours=12)
    for number in range(2):
        history.append("commits", rows("commits", {"src_offset": number}))
    for later, is_sorted in ((timedelta(0), False), (DAY_OVER_AFTER - TICK, False), (DAY_OVER_AFTER, True)):
        maintain(history, "commits", midnight + later)
        (path,) = DeltaTable(history.table_path("commits")).file_uris()
        assert series_order.SORTED_PREFIX in path if is_sorted else series_order.SORTED_PREFIX not in path


def test_files_that_were_replaced_a_day_ago_are_deleted_however_many_checkpoints_the_log_has(history: History) -> None:
    """Those replaced just now stay for who is reading them, and those that nobody has committed yet as well.

    What a process left behind that was killed before its commit goes, too.
    """
    folder = Path(history.table_path("commits"))
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    replaced = on_disk(folder)
    maintain(history, "commits", NOON)
    abandoned = written(history)
    make_older(folder, replaced | abandoned)
    for number in range(10, 13):
        history.append("commits", rows("commits", {"src_offset": number}))
        DeltaTable(folder).create_checkpoint()
    young = on_disk(folder) - replaced - abandoned
    not_committed = written(history)
    done = maintain(history, "commits", NOON)
    assert done is not None
    assert (len(young), len(replaced), len(abandoned), done.old_files_deleted) == (4, 3, 1, 4)
    assert on_disk(folder) == young | not_committed | set(DeltaTable(folder).file_uris())
    assert offsets(history) == [0, 1, 2, 10, 11, 12]


def written(history: History) -> set[str]:
    """A file of the table that nobody has committed."""
    writing = TableWriter(history.root, COMMITS)
    writing.add(with_day(rows("commits", {"src_offset": 99}), COMMITS))
    return {f"{history.table_path('commits')}/{file.path}" for file in writing.close()}


def test_an_old_file_that_was_replaced_a_moment_ago_stays_for_who_is_reading_it(history: History) -> None:
    folder = Path(history.table_path("commits"))
    for number in range(2):
        history.append("commits", rows("commits", {"src_offset": number}))
    old = on_disk(folder)
    for path in old:
        os.utime(path, (0, 0))
    maintain(history, "commits", NOON)
    DeltaTable(folder).create_checkpoint()
    done = maintain(history, "commits", NOON)
    assert done is not None
    assert (done.old_files_deleted, old <= on_disk(folder)) == (0, True)


def on_disk(folder: Path) -> set[str]:
    return {str(path) for path in folder.glob("dt=*/*.parquet")}


def make_older(folder: Path, paths: set[str]) -> None:
    """As if they had been replaced eight days ago: so says the log, of which checkpoints keep seven, and the files."""
    ago_s = 8 * DAY
    for path in paths:
        os.utime(path, (time.time() - ago_s,) * 2)
    for file in folder.glob("_delta_log/*.json"):
        stated = [json.loads(line) for line in file.read_text().splitlines()]
        for line in stated:
            if "remove" in line:
                line["remove"]["deletionTimestamp"] -= 1000 * ago_s
        file.write_text("".join(json.dumps(line) + "\n" for line in stated))


def test_the_last_commit_of_a_series_outlives_its_day_until_it_is_deleted(history: History) -> None:
    """Of g two partitions, one of them committed to again; h was deleted: Kafka's tombstone is the last of it."""
    made: list[dict[str, Any]] = [
        {"src_ts": 0, "src_offset": 1, "partition": 0, "committed": 1},
        {"src_ts": 5, "src_offset": 2, "partition": 0, "committed": 2},
        {"src_ts": 6, "src_offset": 3, "partition": 1, "committed": 3},
        {"src_ts": 7, "src_offset": 4, "group_id": "h", "committed": 4},
        {"src_ts": 8, "src_offset": 5, "group_id": "h", "op": 1},
        {"src_ts": DAY, "src_offset": 6, "partition": 1, "committed": 6},
        {"src_ts": 9 * DAY, "src_offset": 7, "partition": 2, "committed": 7},
    ]
    history.append("commits", rows("commits", *made))
    dropped = []
    for days, kept in ((8, [2, 3, 6, 7]), (8, [2, 3, 6, 7]), (9, [2, 6, 7]), (30, [2, 6, 7])):
        done = maintain(history, "commits", NOON + timedelta(days=days))
        assert done is not None
        dropped.append(done.days_dropped)
        assert offsets(history) == kept
    assert dropped == [1, 0, 1, 1]
    assert history.query("SELECT DISTINCT dt FROM commits ORDER BY dt", "commits")["dt"].to_pylist() == [
        (NOON + timedelta(days=day)).date() for day in (0, 1, 9)
    ]


def test_the_last_record_of_a_group_and_of_each_member_outlives_its_day(history: History) -> None:
    """A classic group's has all its members, so only those of the newest count; KIP-848 writes of each by itself."""
    made = [
        {"src_offset": 1, "record_type": 2, "member_id": "gone", "generation_or_epoch": 49},
        *({"src_offset": 2, "record_type": 2, "member_id": name, "generation_or_epoch": 50} for name in "ab"),
        {"src_offset": 3, "group_id": "new", "record_type": 3, "generation_or_epoch": 7},
        {"src_offset": 4, "group_id": "new", "record_type": 3, "generation_or_epoch": 8},
        {"src_offset": 5, "group_id": "new", "record_type": 5, "member_id": "m"},
        {"src_offset": 6, "group_id": "new", "record_type": 5, "member_id": "left"},
        {"src_offset": 7, "group_id": "new", "record_type": 5, "member_id": "left", "tombstone": True},
    ]
    history.append("group_events", rows("group_events", *made))
    maintain(history, "group_events", NOON + timedelta(days=91))
    sql = "SELECT src_offset, member_id FROM group_events ORDER BY src_offset, member_id"
    assert [tuple(row.values()) for row in history.query(sql, "group_events").to_pylist()] == [
        (2, "a"), (2, "b"), (4, None), (5, "m"),
    ]  # fmt: skip


def test_the_last_record_of_each_regular_expression_outlives_its_day(history: History) -> None:
    """They have no member id: the key distinguishes them."""
    made: list[dict[str, Any]] = [
        {"src_offset": 1, "group_id": "g", "record_type": 16, "key": b"orders.*", "value": b"old"},
        {"src_offset": 2, "group_id": "g", "record_type": 16, "key": b"orders.*", "value": b"new"},
        {"src_offset": 3, "group_id": "g", "record_type": 16, "key": b"invoices.*", "value": b"new"},
        {"src_offset": 4, "group_id": "g", "record_type": 16, "key": b"gone.*", "value": b"old"},
        {"src_offset": 5, "group_id": "g", "record_type": 16, "key": b"gone.*", "tombstone": True},
    ]
    history.append("group_events", rows("group_events", *made))
    maintain(history, "group_events", NOON + timedelta(days=91))
    kept = history.query("SELECT src_offset FROM group_events ORDER BY src_offset", "group_events")
    assert kept.column("src_offset").to_pylist() == [2, 3]


def test_extents_are_those_of_tables_that_exist(history: History) -> None:
    assert table_sizes(history) == []
    history.append("commits", rows("commits", {}, {"src_ts": DAY}))
    (found,) = table_sizes(history)
    assert (found.table, found.rows, found.files) == ("commits", 2, 2)
    assert (found.first_day, found.last_day) == (NOON.date(), (NOON + timedelta(days=1)).date())


def test_the_number_of_rows_is_unknown_where_the_file_does_not_give_it(history: History) -> None:
    """Another writer of Delta tables may leave them out."""
    writing = TableWriter(history.root, COMMITS)
    writing.add(with_day(rows("commits", {}), COMMITS))
    (file,) = writing.close()
    history.commit("commits", [replace(file, stats="{}")], Transaction("a", 1))
    history.append("commits", rows("commits", {}))
    (found,) = table_sizes(history)
    assert (found.rows, found.files) == (None, 2)


def test_a_table_that_nobody_wrote_to_needs_no_care(history: History) -> None:
    assert maintain(history, "lag_1m", NOON) is None


def test_a_day_that_is_over_lies_in_the_order_of_its_series_and_then_of_its_time(history: History) -> None:
    """One file is enough to be sorted; partitions of one group lie together, whatever other groups have."""
    made: list[dict[str, Any]] = [
        {"src_offset": at, "group_id": group, "topic": topic, "partition": partition, "src_ts": -at}
        for at, (group, topic, partition) in enumerate(product("ba", "ut", (1, 0)))
    ]
    history.append("commits", rows("commits", *made, *({**row, "src_ts": row["src_ts"] + 60} for row in made)))
    maintain(history, "commits", NOON + timedelta(days=1))
    (path,) = DeltaTable(history.table_path("commits")).file_uris()
    table = pq.read_table(path, partitioning=None)
    found = list(zip(*(table[name].to_pylist() for name in ("group_id", "topic", "partition", "src_ts")), strict=True))
    assert len(found) == 16
    assert found == sorted(found)
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).has_column_index


def test_a_late_row_is_put_in_its_place(history: History) -> None:
    history.append("commits", rows("commits", {"group_id": "a", "src_offset": 1}, {"group_id": "c", "src_offset": 2}))
    maintain(history, "commits", NOON + timedelta(days=1))
    history.append("commits", rows("commits", {"group_id": "b", "src_offset": 3}))
    done = maintain(history, "commits", NOON + timedelta(days=1))
    assert done is not None
    assert (done.files_before, done.files_after, offsets(history)) == (2, 1, [1, 2, 3])


def test_a_large_day_is_sorted_piece_by_piece(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series_order, "MAX_BUFFERED_ROWS", 3)
    made: list[dict[str, Any]] = [{"group_id": f"g{at % 5}", "src_offset": at} for at in range(25)]
    history.append("commits", rows("commits", *made))
    maintain(history, "commits", NOON + timedelta(days=1))
    found = history.query("SELECT group_id, src_offset FROM commits", "commits").to_pylist()
    assert sorted(row["src_offset"] for row in found) == list(range(25))
    assert [row["group_id"] for row in found] == sorted(row["group_id"] for row in made)


@pytest.mark.parametrize("most", [1, 4, 7, 100])
def test_no_piece_is_larger_than_it_may_be_though_one_group_has_most_of_the_rows(
    history: History, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """A group is cut by topic, a topic by partition, and a partition by hours; one hour of it may be what it is."""
    sizes: list[int] = []
    add = TableWriter.add
    monkeypatch.setattr(series_order, "MAX_BUFFERED_ROWS", most)

    def counted(self: TableWriter, found: Any) -> Any:
        sizes.append(len(found))
        return add(self, found)

    monkeypatch.setattr(TableWriter, "add", counted)
    made = [("big", "t", partition, hour) for partition, hour in product(range(3), range(6))]
    made += [("big", "u", 0, 2), ("a", "t", 0, 1), ("z", "t", 0, 1)]
    commits = [
        {"src_offset": at, "group_id": group, "topic": topic, "partition": partition, "src_ts": 3600 * hour - at}
        for at, (group, topic, partition, hour) in enumerate(reversed(made))
    ]
    history.append("commits", rows("commits", *commits))
    maintain(history, "commits", NOON + timedelta(days=1))
    assert max(sizes) <= most
    assert sum(sizes) == len(made)
    names = ("group_id", "topic", "partition", "src_ts")
    (path,) = DeltaTable(history.table_path("commits")).file_uris()
    table = pq.read_table(path, partitioning=None)
    found = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    assert found == sorted(found)
    assert offsets(history) == list(range(len(made)))


def test_a_day_that_was_replaced_meanwhile_is_left_alone(history: History) -> None:
    """What was read is no longer what is there: putting it back would bring old rows back."""
    history.append("commits", rows("commits", {"src_offset": 1}))
    read = history.open("commits")
    assert read is not None
    history.replace("commits", rows("commits", {"src_offset": 2}), f"src_ts >= {literal(NOON)}")
    with pytest.raises(CommitFailedError):
        series_order.sort_day(history.root, read, COMMITS, NOON.date())
    assert offsets(history) == [2]


def test_a_day_that_another_process_put_in_order_meanwhile_is_left_alone(history: History) -> None:
    """Both have read the same files: the rows would be there twice."""
    for number in range(2):
        history.append("commits", rows("commits", {"src_offset": number}))
    first, second = history.open("commits"), history.open("commits")
    assert first is not None
    assert second is not None
    series_order.sort_day(history.root, first, COMMITS, NOON.date())
    with pytest.raises(CommitFailedError):
        series_order.sort_day(history.root, second, COMMITS, NOON.date())
    assert offsets(history) == [0, 1]
