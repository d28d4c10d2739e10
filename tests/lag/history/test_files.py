"""Files of a table: what their columns are written as, and where a URL says that they are."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lag.history import files
from lag.history.files import TableFiles, file_system
from lag.history.schemas import DAY, TABLES, with_day
from tests.lag.history.rows import rows

STEPS = "DELTA_BINARY_PACKED"


def test_offsets_and_times_are_written_as_steps_and_come_back_as_they_were(tmp_path: Path) -> None:
    begin = datetime(2026, 11, 22, tzinfo=UTC)
    made = [{"src_offset": 7 * n, "src_ts": begin + timedelta(seconds=n), "committed": n * n} for n in range(1000)]
    table = with_day(rows("commits", *made), TABLES["commits"])
    writer = TableFiles(str(tmp_path), TABLES["commits"])
    writer.add(table)
    (written,) = writer.close()
    place = tmp_path / "commits" / written.path
    group = pq.ParquetFile(place).metadata.row_group(0)
    encoded = {group.column(at).path_in_schema: group.column(at).encodings for at in range(group.num_columns)}
    assert {name for name, kinds in encoded.items() if STEPS in kinds} == {
        "src_offset", "src_ts", "committed", "commit_ts", "expire_ts",
    }  # fmt: skip
    assert pq.ParquetFile(place).read().equals(table.drop_columns([DAY]))


@pytest.mark.parametrize(("url", "asked"), [("s3a://b/h", "s3://b/h"), ("s3://b/h", "s3://b/h"), ("gs://b", "gs://b")])
def test_the_name_that_hadoop_has_for_s3_is_understood(monkeypatch: pytest.MonkeyPatch, url: str, asked: str) -> None:
    class Known:
        @staticmethod
        def from_uri(name: str) -> Any:
            return None, name

    monkeypatch.setattr(files, "FileSystem", Known)
    assert file_system(url)[1] == asked
