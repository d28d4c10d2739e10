"""The history's tables: what goes in comes out, whoever writes at the same time; what cannot be used is refused."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction, write_deltalake

from lag.errors import HistoryError
from lag.history import store
from lag.history.files import TableWriter
from lag.history.schemas import COMMITS, SCHEMA_VERSION, TABLES, with_day
from lag.history.store import MAX_TRIES, VERSION_KEY, History, history_error, literal
from tests.lag.history.rows import NOON, poll, rows
from tests.lag.history.writer import ROWS

NAME = "o'neill"
SPECIFIED = {
    "commits": "cluster src_partition src_offset src_ts group_id topic topic_id partition op committed leader_epoch "
    "metadata commit_ts expire_ts value_version bootstrap",
    "end_offsets": "cluster topic topic_id partition poll_ts log_start log_end last_stable leader_epoch err",
    "group_events": "cluster src_partition src_offset ts group_id record_type member_id generation_or_epoch "
    "assignment_epoch protocol_type protocol state n_members client_id client_host instance_id assignment tombstone",
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def writer(root: str, name: str, *rest: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.lag.history.writer", root, name, *rest]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def offsets(history: History) -> list[int]:
    found = history.query("SELECT src_offset FROM commits ORDER BY src_offset", "commits")
    return list(found["src_offset"].to_pylist())


@pytest.mark.parametrize("table", SPECIFIED)
def test_tables_have_the_columns_of_the_specification(table: str) -> None:
    names = TABLES[table].file_schema.names
    assert [name for name in names if name in SPECIFIED[table].split()] == SPECIFIED[table].split()


def test_rows_come_out_as_they_went_in(history: History) -> None:
    assignment = [{"topic": "t", "topic_id": None, "partitions": [0, 3]}]
    made = rows("group_events", {"group_id": NAME, "assignment": assignment, "generation_or_epoch": 8})
    history.append("group_events", made)
    found = history.query(f"SELECT * FROM group_events WHERE group_id = {literal(NAME)}", "group_events")
    assert found.select(made.column_names).to_pylist() == made.to_pylist()
    assert found["dt"].to_pylist() == [NOON.date()]


def test_a_table_of_before_a_column_came_gets_it_and_has_null_there(history: History) -> None:
    made = rows("group_events", {"key": b"k"})
    old = TABLES["group_events"].schema
    old = pa.schema([field for field in old if field.name not in ("key", "value")])
    DeltaTable.create(history.table_path("group_events"), old, partition_by="dt")
    before = with_day(made, TABLES["group_events"]).drop_columns(["key", "value"])
    write_deltalake(history.table_path("group_events"), before, mode="append")
    history.append("group_events", made)
    assert history.query("SELECT key FROM group_events ORDER BY key", "group_events")["key"].to_pylist() == [b"k", None]


def test_a_table_of_before_members_could_be_unknown_permits_null_at_the_next_write(history: History) -> None:
    of, path = TABLES["group_snapshots"], history.table_path("group_snapshots")
    number = of.schema.get_field_index("members")
    DeltaTable.create(path, of.schema.set(number, of.schema.field(number).with_nullable(False)), partition_by="dt")
    write_deltalake(path, with_day(rows("group_snapshots", poll(0, members=3)), of), mode="append")
    history.append("group_snapshots", rows("group_snapshots", poll(10, members=None)))
    found = history.query("SELECT members FROM group_snapshots ORDER BY poll_ts", "group_snapshots")
    assert found["members"].to_pylist() == [3, None]
    assert DeltaTable(path).version() == 3  # create, rows of before, permit null, new row
    history.append("group_snapshots", rows("group_snapshots", poll(20)))
    assert DeltaTable(path).version() == 4


def test_a_table_that_nobody_wrote_to_is_empty_and_asking_does_not_make_it(history: History) -> None:
    for name, table in TABLES.items():
        found = history.query(f"SELECT *, max({table.time}) OVER () AS newest FROM {name}", name)
        assert (len(found), found.column_names) == (0, [*table.schema.names, "newest"])
        assert history.exists(name) is False
    assert not Path(history.root).exists()


def test_asking_a_table_of_before_a_column_came_leaves_it_as_it_is(history: History) -> None:
    """A history that may only be read can be asked all the same."""
    old = TABLES["group_events"].schema
    old = pa.schema([field for field in old if field.name not in ("key", "value")])
    rest = with_day(rows("group_events", {}), TABLES["group_events"]).drop_columns(["key", "value"])
    write_deltalake(history.table_path("group_events"), rest, schema_mode=None, partition_by="dt")
    sql = "SELECT group_id, key, max(value) AS value FROM group_events WHERE key IS NULL GROUP BY group_id, key"
    reported = [{"group_id": "g", "key": None, "value": None}]
    assert history.query(sql, "group_events").to_pylist() == reported
    answer = history.query_open(sql, "group_events")
    assert answer is not None
    assert answer.to_pylist() == reported
    table = DeltaTable(history.table_path("group_events"))
    assert (table.version(), [field.name for field in table.schema().fields]) == (0, old.names)


def test_a_replacement_that_compaction_gets_in_the_way_of_is_made_once_more(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the rows that it replaces and its commit their files were put together."""
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    tries = compacting_meanwhile(history, monkeypatch, 2)
    history.replace("commits", rows("commits", {"src_offset": 7}), "src_offset = 1 OR src_offset = 7")
    assert (offsets(history), tries) == ([0, 2, 7, 101, 102], [0, 1, 2])


def test_a_replacement_that_always_conflicts_is_given_up_and_reported(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        history.append("commits", rows("commits", {"src_offset": number}))
    tries = compacting_meanwhile(history, monkeypatch, MAX_TRIES)
    with pytest.raises(HistoryError, match=r"other writers kept changing the same rows\. Try again"):
        history.replace("commits", rows("commits", {"src_offset": 7}), "src_offset = 1 OR src_offset = 7")
    assert (offsets(history), len(tries)) == ([0, 1, 2, *range(101, 101 + MAX_TRIES)], MAX_TRIES)


def compacting_meanwhile(history: History, monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """The first so many writes find a file replaced that they have read; the list grows with each write."""
    tries: list[int] = []

    def write(table: DeltaTable, *args: Any, **how: Any) -> None:
        tries.append(len(tries))
        if len(tries) <= times:
            other = with_day(rows("commits", {"src_offset": 100 + len(tries)}), COMMITS)
            write_deltalake(history.table_path("commits"), other, mode="append")
            DeltaTable(history.table_path("commits")).optimize.compact()
        write_deltalake(table, *args, **how)

    monkeypatch.setattr(store, "write_deltalake", write)
    return tries


@pytest.mark.process
def test_two_processes_append_at_once_and_nothing_is_lost(history: History) -> None:
    with writer(history.root, "a", "8") as one, writer(history.root, "b", "8") as two:
        assert [process.communicate(timeout=60)[0] for process in (one, two)] == ["", ""]
    found = history.query("SELECT group_id, src_offset FROM commits", "commits").to_pylist()
    wanted = [(name, offset) for name in ("a", "b") for offset in range(8 * ROWS)]
    assert sorted((row["group_id"], row["src_offset"]) for row in found) == wanted


def test_written_files_count_for_nothing_until_they_are_committed(history: History) -> None:
    history.create("commits")
    files = TableWriter(history.root, TABLES["commits"])
    files.add(with_day(rows("commits", {"src_offset": 1}, {"src_offset": 2, "src_ts": 86_400}), TABLES["commits"]))
    written = files.close()
    assert [(file.day, file.rows) for file in written] == [("2026-11-22", 1), ("2026-11-23", 1)]
    assert (offsets(history), history.committed("commits", "app")) == ([], None)
    history.commit("commits", written, Transaction("app", 7))
    assert (offsets(history), history.committed("commits", "app")) == ([1, 2], 7)
    assert history.committed("commits", "another") is None


def test_bounds_of_a_file_are_those_of_its_rows(history: History) -> None:
    """Readers leave a file out by them, so a wrong one would hide rows."""
    made = rows(
        "commits",
        {"group_id": "b", "src_offset": 5, "src_ts": 0.5, "topic": "x" * 200},
        {"group_id": "a", "src_offset": -3, "src_ts": 0.000001, "topic": "y", "metadata": "m"},
    )
    files = TableWriter(history.root, TABLES["commits"])
    files.add(with_day(made, TABLES["commits"]))
    history.commit("commits", files.close(), Transaction("app", 0))
    actions = pa.table(DeltaTable(history.table_path("commits")).get_add_actions(flatten=True)).to_pylist()[0]
    assert (actions["min.group_id"], actions["max.group_id"]) == ("a", "b")
    assert (actions["min.src_offset"], actions["max.src_offset"]) == (-3, 5)
    assert (actions["min.src_ts"], actions["max.src_ts"]) == (
        NOON + timedelta(microseconds=1),
        NOON + timedelta(milliseconds=500),
    )
    assert (actions["min.topic"], actions["max.topic"]) == (None, "y")
    assert (actions["null_count.metadata"], actions["null_count.group_id"]) == (1, 0)
    for name in ("x" * 200, "y"):
        assert len(history.query(f"SELECT 1 FROM commits WHERE topic = '{name}'", "commits")) == 1


def test_replacing_an_hour_leaves_the_others_alone(history: History) -> None:
    made = [{"minute": minute * 60, "samples": 1, "commits": 0, "rewinds": 0, "rewind_records": 0, "status": 0,
             "time_lag_bounded": True} for minute in (0, 30, 60)]  # fmt: skip
    history.append("lag_1m", rows("lag_1m", *made))
    where = f"minute >= {literal(NOON)} AND minute < {literal(NOON + timedelta(hours=1))}"
    for _ in range(2):
        history.replace("lag_1m", rows("lag_1m", made[1] | {"samples": 6}), where)
        found = history.query("SELECT minute, samples FROM lag_1m ORDER BY minute", "lag_1m")
        assert found["samples"].to_pylist() == [6, 1]


def test_a_table_of_a_newer_groupscope_is_refused(history: History) -> None:
    history.append("commits", rows("commits", {}))
    DeltaTable(history.table_path("commits")).alter.set_table_properties(
        {VERSION_KEY: str(SCHEMA_VERSION + 1)}, raise_if_not_exists=False
    )
    for use in (lambda: history.append("commits", rows("commits", {})), lambda: history.query("SELECT 1", "commits")):
        with pytest.raises(HistoryError, match=r"was written by a newer groupscope .* Upgrade groupscope here"):
            use()


def test_a_table_of_a_newer_delta_lake_is_refused(history: History) -> None:
    history.append("commits", rows("commits", {}))
    log = Path(history.table_path("commits")) / "_delta_log"
    (log / f"{2:020}.json").write_text('{"protocol":{"minReaderVersion":9,"minWriterVersion":9}}\n')
    with pytest.raises(HistoryError, match="written by a newer Delta Lake"):
        history.query("SELECT 1 FROM commits", "commits")


def test_a_folder_that_may_not_be_written_to_is_reported(tmp_path: Path) -> None:
    (tmp_path / "history").write_text("a file")
    with pytest.raises(HistoryError, match=f"The history at {tmp_path}/history/commits cannot be used: "):
        History(tmp_path / "history").append("commits", rows("commits", {}))


def test_a_disk_that_takes_no_more_loses_nothing_that_was_there(history: History) -> None:
    history.append("commits", rows("commits", {"src_offset": 1}))
    with writer(history.root, "a", "1", "600") as process:
        stated = process.communicate(timeout=60)[0]
    assert stated.startswith(
        f"The history at {history.root}/commits cannot be used: a file has reached the size limit. "
    ), stated
    assert offsets(history) == [1]


def test_the_own_error_of_a_worker_that_ended_is_reported() -> None:
    stated = (
        "An error occurred while calling z:collect.\n: Job aborted: Traceback (most recent call last):\n"
        '  File "a.py", line 1, in f\n    g()\nOSError: it is gone\nsecond line\n\n\tat org.apache.spark.X\n'
    )
    assert "cannot be used: OSError: it is gone" in str(store.history_error("/h", stated))
    assert "cannot be used: one line" in str(store.history_error("/h", "one line\nand more"))
    assert "cannot be used: no reason given" in str(store.history_error("/h", ""))


def test_a_full_disk_is_named_with_its_fix() -> None:
    stated = "Generic LocalFileSystem error: Unable to copy data to file: No space left on device (os error 28)"
    assert str(history_error("/h/commits", stated)) == (
        "The history at /h/commits cannot be used: the disk is full. Free space there; nothing was half written"
    )
