"""What workers of the roll-up read off the files and deal out: every row to one share, whose texts come back."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lag.history.resume.rollup_progress import LAST_COMMITS
from lag.history.rewrites.file_replacement import StoredFile, stored_files
from lag.history.store import History
from lag.pipeline import columns as reading
from lag.pipeline.columns import COMMIT_COLUMNS, END_COLUMNS, Names, Parts, commit_times
from lag.pipeline.partition_worker import Owned, lag_minutes
from lag.pipeline.shares import FilePart, Shuffle, by_partition, by_topic, file_parts, read
from lag.verdict.columns import concatenate, in_order, no_rows
from tests.lag.history.rows import NOON, rows


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def read_rows(history: History, name: str, columns: Sequence[str]) -> list[pa.RecordBatch]:
    table = history.open(name)
    assert table is not None
    return [rows for part in file_parts(name, stored_files(table)) for rows in read(history.root, part, columns)]


def ends(batches: Iterable[pa.RecordBatch], names: Names) -> reading.EndRows:
    made = [reading.ends(rows_, names) for rows_ in batches]
    return in_order(concatenate(made), "place", "at_us")


def commits(batches: Iterable[pa.RecordBatch], names: Names) -> reading.CommitRows:
    made = [reading.commits(rows_, names) for rows_ in batches]
    found = concatenate(made) if made else no_rows(reading.CommitRows)
    return in_order(found, "place", "group", "at_us", "src_offset")


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def us(moment: datetime) -> int:
    return round(moment.timestamp() * 1e6)


KEYS = {"partition": by_partition, "topic": by_topic}


@pytest.mark.parametrize("whole", KEYS)
def test_every_row_is_dealt_to_one_share_with_the_words_that_it_needs(history: History, whole: str) -> None:
    made = [
        {"topic": f"t{n % 30}", "partition": n % 7, "log_end": n, "topic_id": None if n % 4 else bytes([n % 30]) * 16}
        for n in range(700)
    ]
    history.append("end_offsets", rows("end_offsets", *made[:300]))
    history.append("end_offsets", rows("end_offsets", *made[300:]))
    table = history.open("end_offsets")
    assert table is not None
    shuffle = Shuffle(
        history.root, {"end_offsets": END_COLUMNS}, lambda _, batch: batch["log_end"].to_numpy() != 5, KEYS[whole]
    )
    found = []
    for share, (name, data) in shuffle.shares_of(3, file_parts("end_offsets", stored_files(table))):
        assert name == "end_offsets"
        for batch in pa.ipc.open_stream(data):
            assert sorted(batch["topic"].dictionary.to_pylist()) == sorted(set(batch["topic"].to_pylist()))
            found += [
                (share, row["topic"], row["partition"], row["log_end"], row["topic_id"]) for row in batch.to_pylist()
            ]
    wanted = [(row["topic"], row["partition"], row["log_end"], row["topic_id"]) for row in made if row["log_end"] != 5]
    assert sorted(one[1:4] for one in found) == sorted(one[:3] for one in wanted)
    assert {one[3]: one[4] for one in found} == {one[2]: one[3] for one in wanted}
    owners: dict[Any, set[Any]] = {(one[1], one[2] if whole == "partition" else 0): set() for one in found}
    for share, topic, partition, *_ in found:
        owners[topic, partition if whole == "partition" else 0].add(share)
    assert {len(shares) for shares in owners.values()} == {1}
    assert {share for shares in owners.values() for share in shares} == {0, 1, 2}


def test_a_large_file_is_read_in_parts(tmp_path: Path) -> None:
    """Each has some of its row groups; together they have all, and one too many has none."""
    made = rows("end_offsets", *({"log_end": n} for n in range(50)))
    (tmp_path / "end_offsets").mkdir()
    pq.write_table(made, tmp_path / "end_offsets" / "a.parquet", row_group_size=8)
    for of in (1, 2, 3, 9):
        ends_of = [
            [end for batch in read(str(tmp_path), FilePart("end_offsets", "a.parquet", first, of), END_COLUMNS)
             for end in batch["log_end"].to_pylist()]
            for first in range(of)
        ]  # fmt: skip
        assert sorted(end for part in ends_of for end in part) == list(range(50))
    file = StoredFile("a.parquet", NOON.date(), 1, 5_000_000)
    assert file_parts("end_offsets", [file]) == [FilePart("end_offsets", "a.parquet", first, 3) for first in range(3)]


def test_a_part_has_all_rows_of_its_places_and_those_of_samples_and_commits_are_the_same() -> None:
    made = [{"topic": f"t{n % 7}", "partition": n % 50} for n in range(700)]
    names = Names()
    samples, found = Parts(reading.EndRows, "place", "at_us"), Parts(reading.CommitRows, "place")
    for batch in rows("end_offsets", *made).to_batches():
        samples.add(reading.ends(batch, names))
    for batch in rows("commits", *made, *made).to_batches():
        found.add(reading.commits(batch, names))
    there, mine = list(samples), list(found)
    assert [set(part.place) for part in there] == [set(part.place) for part in mine]
    assert sum(len(set(part.place)) for part in there) == 350
    assert sum(len(part.place) for part in there) == 700
    assert min(len(part.place) for part in there) > 0


def test_samples_come_in_the_order_of_their_place_and_time(history: History) -> None:
    made = [
        {"topic": t, "partition": p, "poll_ts": at(s), "log_end": s} for s in (3, 1, 2) for t in "vu" for p in (1, 0)
    ]
    history.append("end_offsets", rows("end_offsets", *made))
    names = Names()
    found = ends(read_rows(history, "end_offsets", END_COLUMNS), names)
    topic, partition = reading.unplaced(found.place)[1:]
    assert [names.topics.texts[number] for number in topic] == ["v"] * 6 + ["u"] * 6
    assert partition.tolist() == [0, 0, 0, 1, 1, 1] * 2
    assert found.log_end.tolist() == [1, 2, 3] * 4
    assert found.at_us.tolist() == [us(at(s)) for s in (1, 2, 3)] * 4


def test_what_is_not_known_is_minus_one(history: History) -> None:
    history.append("end_offsets", rows("end_offsets", {"topic_id": b"1" * 16, "log_start": None, "log_end": 7}, {}))
    found = ends(read_rows(history, "end_offsets", END_COLUMNS), Names())
    assert (found.log_start.tolist(), found.last_stable.tolist()) == ([-1, 0], [-1, -1])
    assert (found.log_end.tolist(), found.topic_id.tolist()) == ([7, -1], [0, -1])


def test_a_file_of_before_a_column_came_has_null_there(tmp_path: Path) -> None:
    whole = rows("end_offsets", {"topic_id": b"1" * 16, "log_end": 5})
    (tmp_path / "end_offsets").mkdir()
    pq.write_table(whole.drop_columns(["topic_id"]), tmp_path / "end_offsets" / "old.parquet")
    pq.write_table(whole, tmp_path / "end_offsets" / "new.parquet")
    batches = [read(str(tmp_path), FilePart("end_offsets", f"{name}.parquet"), END_COLUMNS) for name in ("old", "new")]
    found = ends(chain.from_iterable(batches), Names())
    assert (found.log_end.tolist(), found.topic_id.tolist()) == ([5, 5], [-1, 0])


def test_no_batches_are_no_rows() -> None:
    names = Names()
    found = commits([], names)
    assert len(found.place) == 0
    assert reading.last_commits(found, us(NOON), names).equals(LAST_COMMITS.empty_table())


def commit(group: str, seconds: float, src_offset: int, **more: Any) -> dict[str, Any]:
    return {"group_id": group, "src_ts": at(90), "commit_ts": at(seconds), "src_offset": src_offset} | more


def test_the_last_commit_is_that_of_the_latest_time_and_of_these_the_latest_record_unless_it_ends_the_series(
    history: History,
) -> None:
    """Its own time, or that of its record."""
    made = [
        commit("g", 5, 3, committed=30), commit("g", 5, 4, committed=20, topic_id=b"1" * 16), commit("g", 1, 9),
        commit("g", 10, 1, committed=99),
        commit("h", 9, 1, committed=7), commit("h", 0, 5, committed=None, op=1, commit_ts=None, src_ts=at(9.5)),
        commit("later", 10, 1),
    ]  # fmt: skip
    history.append("commits", rows("commits", *made))
    names = Names()
    found = commits(read_rows(history, "commits", COMMIT_COLUMNS), names)
    last = reading.last_commits(found, us(at(10)), names)
    assert last.schema == LAST_COMMITS
    reported = [
        (row["group_id"], row["at"], row["src_offset"], row["committed"], row["topic_id"]) for row in last.to_pylist()
    ]
    assert reported == [("g", at(5), 4, 20, b"1" * 16)]
    again = commits(last.to_batches(), names)
    assert reading.last_commits(again, us(at(10)), names).equals(last)


def test_a_negative_offset_in_a_file_of_an_earlier_version_is_no_commit(history: History) -> None:
    made = [commit("g", 1, 1, committed=30), commit("g", 5, 2, committed=-2), commit("h", 5, 3, committed=0)]
    history.append("commits", rows("commits", *made))
    names = Names()
    found = commits(read_rows(history, "commits", COMMIT_COLUMNS), names)
    assert found.offset.tolist() == [30, -1, 0]
    last = reading.last_commits(found, us(at(10)), names)
    assert [(row["group_id"], row["committed"]) for row in last.to_pylist()] == [("h", 0)]


def test_a_minute_is_the_same_by_every_commit_and_by_the_last_ones_that_are_remembered(history: History) -> None:
    """A series that ended is not remembered, so what begins again after it has nothing to go back from."""
    made = [
        commit("g", 5, 1, committed=400), commit("g", 6, 2, committed=None, op=1, commit_ts=None, src_ts=at(6)),
        commit("g", 65, 3, committed=10), commit("h", 5, 1, committed=400), commit("h", 65, 2, committed=10),
    ]  # fmt: skip
    history.append("commits", rows("commits", *made))
    history.append("end_offsets", rows("end_offsets", {"poll_ts": at(70), "log_end": 500}))
    names = Names()
    samples = ends(read_rows(history, "end_offsets", END_COLUMNS), names)
    every = commits(read_rows(history, "commits", COMMIT_COLUMNS), names)
    last = reading.last_commits(every, us(at(60)), names).to_batches()
    late = [
        batch.filter(pa.array(commit_times(batch) >= us(at(60))))
        for batch in read_rows(history, "commits", COMMIT_COLUMNS)
    ]
    nobody = Owned(np.zeros(0, np.int64), pa.array([], pa.string()), {})
    by_every, by_last = (
        lag_minutes(samples, made, nobody, names, us(at(60)), us(at(120)))
        for made in (every, commits([*last, *late], names))
    )
    assert by_every.equals(by_last)
    assert by_every.select(["group_id", "commits", "rewinds", "rewind_records"]).to_pylist() == [
        {"group_id": "g", "commits": 1, "rewinds": 0, "rewind_records": 0},
        {"group_id": "h", "commits": 1, "rewinds": 1, "rewind_records": 390},
    ]


def test_a_number_stands_for_the_same_text_in_every_batch() -> None:
    names = Names()
    first = names.groups.of(pa.array(["b", None, "a", "b"]))
    second = names.groups.of(pa.array(["a", "c", None]).dictionary_encode())
    assert (first.tolist(), second.tolist()) == ([0, -1, 1, 0], [1, 2, -1])
    assert names.groups.column(np.array([2, -1, 0]), pa.string()).to_pylist() == ["c", None, "b"]
