"""What a worker of the roll-up reads off the files: every row belongs to one share, and its texts come back."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lag.history.exchange import stored
from lag.history.schemas import COMMITS, END_OFFSETS, TABLES
from lag.history.store import History
from lag.pipeline import reading
from lag.pipeline.reading import COMMIT_COLUMNS, END_COLUMNS, LAST_COMMITS, Files, Names, Share
from tests.lag.history.rows import NOON, rows


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def files(history: History, name: str) -> Files:
    table = history.open(name)
    assert table is not None
    return Files(history.root, TABLES[name], tuple(file.path for file in stored(table)))


def only(parts: Iterator[Any]) -> Any:
    (part,) = parts
    return part


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def us(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6)


def test_every_row_is_of_one_share_and_all_of_a_partition_of_the_same(history: History) -> None:
    made = [{"topic": f"t{n % 7}", "partition": n % 5, "log_end": n} for n in range(700)]
    history.append("end_offsets", rows("end_offsets", *made[:300]))
    history.append("end_offsets", rows("end_offsets", *made[300:]))
    shares = [read(history, Share(number, 3)) for number in range(3)]
    assert sorted(end for one in shares for end in one.log_end.tolist()) == list(range(700))
    places = [set(one.place.tolist()) for one in shares]
    assert sum(map(len, places)) == 35
    assert min(map(len, places)) > 0


def read(history: History, share: Share) -> reading.EndRows:
    every = files(history, "end_offsets").batches(END_COLUMNS)
    names = Names()
    for topic in range(7):
        names.topics.of(pa.array([f"t{topic}"]))
    return only(reading.ends(reading.kept(every, share.has), names, 1))


def test_a_part_has_all_rows_of_its_places_and_those_of_samples_and_commits_are_the_same(history: History) -> None:
    made = [{"topic": f"t{n % 7}", "partition": n % 50} for n in range(700)]
    history.append("end_offsets", rows("end_offsets", *made))
    history.append("commits", rows("commits", *made, *made))
    names = Names()
    ends = list(reading.ends(files(history, "end_offsets").batches(END_COLUMNS), names))
    commits = list(reading.commits(files(history, "commits").batches(COMMIT_COLUMNS), names))
    assert [set(part.place) for part in ends] == [set(part.place) for part in commits]
    assert sum(len(set(part.place)) for part in ends) == 350
    assert sum(len(part.place) for part in ends) == 700
    assert min(len(part.place) for part in ends) > 0


def test_samples_come_in_the_order_of_their_place_and_time(history: History) -> None:
    made = [
        {"topic": t, "partition": p, "poll_ts": at(s), "log_end": s} for s in (3, 1, 2) for t in "vu" for p in (1, 0)
    ]
    history.append("end_offsets", rows("end_offsets", *made))
    names = Names()
    found = only(reading.ends(files(history, "end_offsets").batches(END_COLUMNS), names, 1))
    topic, partition = reading.unplaced(found.place)[1:]
    assert [names.topics.texts[number] for number in topic] == ["v"] * 6 + ["u"] * 6
    assert partition.tolist() == [0, 0, 0, 1, 1, 1] * 2
    assert found.log_end.tolist() == [1, 2, 3] * 4
    assert found.at_us.tolist() == [us(at(s)) for s in (1, 2, 3)] * 4


def test_what_is_not_known_is_minus_one(history: History) -> None:
    history.append("end_offsets", rows("end_offsets", {"topic_id": b"1" * 16, "log_start": None, "log_end": 7}, {}))
    found = only(reading.ends(files(history, "end_offsets").batches(END_COLUMNS), Names(), 1))
    assert (found.log_start.tolist(), found.last_stable.tolist()) == ([-1, 0], [-1, -1])
    assert (found.log_end.tolist(), found.topic_id.tolist()) == ([7, -1], [0, -1])


def test_a_file_of_before_a_column_came_has_null_there(tmp_path: Path) -> None:
    whole = rows("end_offsets", {"topic_id": b"1" * 16, "log_end": 5})
    (tmp_path / "end_offsets").mkdir()
    pq.write_table(whole.drop_columns(["topic_id"]), tmp_path / "end_offsets" / "old.parquet")
    pq.write_table(whole, tmp_path / "end_offsets" / "new.parquet")
    old_and_new = Files(str(tmp_path), END_OFFSETS, ("old.parquet", "new.parquet"))
    found = only(reading.ends(old_and_new.batches(END_COLUMNS), Names(), 1))
    assert (found.log_end.tolist(), found.topic_id.tolist()) == ([5, 5], [-1, 0])


def test_no_files_are_no_rows(tmp_path: Path) -> None:
    names = Names()
    found = only(reading.commits(Files(str(tmp_path), COMMITS, ()).batches(COMMIT_COLUMNS), names, 1))
    assert len(found.place) == 0
    assert reading.last_commits(found, us(NOON), names).equals(LAST_COMMITS.empty_table())


def commit(group: str, seconds: float, src_offset: int, **more: Any) -> dict[str, Any]:
    return {"group_id": group, "src_ts": at(90), "commit_ts": at(seconds), "src_offset": src_offset} | more


def test_the_last_commit_is_that_of_the_latest_time_and_of_these_the_latest_record(history: History) -> None:
    """Its own time, or that of its record."""
    made = [
        commit("g", 5, 3, committed=30), commit("g", 5, 4, committed=20, topic_id=b"1" * 16), commit("g", 1, 9),
        commit("g", 10, 1, committed=99),
        commit("h", 9, 1, committed=7), commit("h", 0, 5, committed=None, op=1, commit_ts=None, src_ts=at(9.5)),
        commit("later", 10, 1),
    ]  # fmt: skip
    history.append("commits", rows("commits", *made))
    names = Names()
    found = only(reading.commits(files(history, "commits").batches(COMMIT_COLUMNS), names, 1))
    last = reading.last_commits(found, us(at(10)), names)
    assert last.schema == LAST_COMMITS
    told = [
        (row["group_id"], row["at"], row["src_offset"], row["committed"], row["topic_id"]) for row in last.to_pylist()
    ]
    assert told == [("g", at(5), 4, 20, b"1" * 16), ("h", at(9.5), 5, None, None)]
    again = only(reading.commits(last.to_batches(), names, 1))
    assert reading.last_commits(again, us(at(10)), names).equals(last)


def test_a_number_stands_for_the_same_text_in_every_batch() -> None:
    names = Names()
    first = names.groups.of(pa.array(["b", None, "a", "b"]))
    second = names.groups.of(pa.array(["a", "c", None]).dictionary_encode())
    assert (first.tolist(), second.tolist()) == ([0, -1, 1, 0], [1, 2, -1])
    assert names.groups.column(np.array([2, -1, 0]), pa.string()).to_pylist() == ["c", None, "b"]
