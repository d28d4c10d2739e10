"""What a worker does with its share of a batch: damaged and unknown records stop nothing, nothing is left out."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import Transaction

from lag.history.schemas import TIME
from lag.history.store import History
from lag.pipeline.ingest import STREAMED, Job, ingest
from lag.pipeline.worker_results import counts_of, files_of
from tests.lag.history.test_rows import OUR_KEY
from tests.lag.records.test_worked_examples import GROUP, GROUP_KEY, KEY, V3, V4

RECORDS: list[tuple[bytes | None, bytes | None]] = [
    (KEY, V3), (KEY, b"\x00\x09"), (b"\x00\x63", b"x"), (GROUP_KEY, GROUP), (OUR_KEY, V3), (b"\x00", None), (KEY, V4),
]  # fmt: skip


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def batch(records: list[tuple[bytes | None, bytes | None]], partition: int = 3) -> pa.RecordBatch:
    """As Spark hands it over: a slice of more."""
    keys, values = zip((b"before", b"this"), *records, strict=True)
    columns = {
        "key": pa.array(keys, pa.binary()),
        "value": pa.array(values, pa.binary()),
        "partition": pa.array([partition] * len(keys), pa.int32()),
        "offset": pa.array(np.arange(len(keys)) + 9, pa.int64()),
        "timestamp": pa.array([1_000_000] * len(keys), TIME),
    }
    return pa.RecordBatch.from_pydict(columns).slice(1)


def taken_in(history: History, tables: tuple[str, ...], *batches: pa.RecordBatch) -> dict[str, int]:
    """Ingest and commit; the counts that were reported."""
    job = Job(history.root, "c1", (0, 0, 0, 12), tables)
    made = pa.Table.from_batches(ingest(job, iter(batches)))
    for name in tables:
        history.commit(name, files_of(made, name), Transaction("run", 0))
    return counts_of(made)


def test_every_record_is_a_row_or_is_counted(history: History) -> None:
    counts = taken_in(history, STREAMED, batch(RECORDS))
    assert counts == {"records": 7, "ours": 1, "unknown 99": 1}
    commits = history.query("SELECT src_partition, src_offset, bootstrap FROM commits ORDER BY src_offset", "commits")
    assert [tuple(row.values()) for row in commits.to_pylist()] == [(3, 10, True), (3, 16, False)]
    (event,) = history.query("SELECT src_offset, group_id, member_id FROM group_events", "group_events").to_pylist()
    assert event == {"src_offset": 13, "group_id": "billing", "member_id": "m-1"}
    errors = history.query("SELECT src_offset, reason, key FROM decode_errors ORDER BY src_offset", "decode_errors")
    assert [tuple(row.values()) for row in errors.to_pylist()] == [
        (11, "value: version 9, where 0 to 4 are known", KEY),
        (15, "key: 1 bytes, where its type needs 2", b"\x00"),
    ]


def test_only_tables_that_still_lack_the_batch_are_written(history: History) -> None:
    taken_in(history, ("group_events",), batch(RECORDS))
    assert [name for name in STREAMED if history.exists(name)] == ["group_events"]


def test_many_batches_become_one_file_a_table(history: History) -> None:
    taken_in(history, STREAMED, *(batch([(KEY, V3)] * 5, partition) for partition in range(4)))
    table = history.open("commits")
    assert table is not None
    assert (len(table.file_uris()), len(history.query("SELECT 1 FROM commits", "commits"))) == (1, 20)


def test_nothing_to_read_writes_nothing(history: History) -> None:
    made = pa.Table.from_batches(ingest(Job(history.root, "c1", (), STREAMED), iter([batch([])])))
    assert len(made) == 0
