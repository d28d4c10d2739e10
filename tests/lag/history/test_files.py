"""Files of a table: what their columns are written as, and where a URL says that they are."""

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import Transaction

from lag.history import files
from lag.history.files import TableWriter, file_system
from lag.history.maintenance import maintain, table_sizes
from lag.history.schemas import DAY, TABLES, with_day
from lag.history.store import History
from tests.lag.history.past import past
from tests.lag.history.rows import rows

STEPS = "DELTA_BINARY_PACKED"


def test_offsets_and_times_are_written_as_steps_and_come_back_as_they_were(tmp_path: Path) -> None:
    begin = datetime(2026, 11, 22, tzinfo=UTC)
    made = [{"src_offset": 7 * n, "src_ts": begin + timedelta(seconds=n), "committed": n * n} for n in range(1000)]
    table = with_day(rows("commits", *made), TABLES["commits"])
    writer = TableWriter(str(tmp_path), TABLES["commits"])
    writer.add(table)
    (written,) = writer.close()
    place = tmp_path / "commits" / written.path
    group = pq.ParquetFile(place).metadata.row_group(0)
    encoded = {group.column(at).path_in_schema: group.column(at).encodings for at in range(group.num_columns)}
    assert {name for name, kinds in encoded.items() if STEPS in kinds} == {
        "src_offset", "src_ts", "committed", "commit_ts", "expire_ts",
    }  # fmt: skip
    assert pq.ParquetFile(place).read().equals(table.drop_columns([DAY]))


def test_the_log_says_nothing_of_bounds_that_json_has_no_word_for(tmp_path: Path) -> None:
    """A lag that is never caught up is infinite; whoever reads strict JSON would refuse the whole table."""
    history, endless = History(tmp_path), {"eta_s": math.inf, "time_to_loss_s": -math.inf, "lag_avg": math.nan}
    made = with_day(past("lag_1m", {"at": 0, **endless}, {"at": 1, "eta_s": 3.0, "lag_avg": 2.0}), TABLES["lag_1m"])
    writer = TableWriter(str(tmp_path), TABLES["lag_1m"])
    writer.add(made)
    history.commit("lag_1m", writer.close(), Transaction("app", 0))
    (stats,) = [json.loads(line["add"]["stats"], parse_constant=refused) for line in log(tmp_path / "lag_1m")]
    bounds = {name: (stats["minValues"].get(name), stats["maxValues"].get(name)) for name in endless}
    assert bounds == {"eta_s": (3.0, None), "time_to_loss_s": (None, None), "lag_avg": (2.0, 2.0)}
    assert stats["numRecords"] == 2
    for eta_s in (math.inf, 3.0):
        found = history.query(f"SELECT eta_s FROM lag_1m WHERE eta_s >= {'3' if eta_s == 3 else '1e300'}", "lag_1m")
        assert eta_s in found["eta_s"].to_pylist()


def test_a_day_with_infinite_values_is_written_sorted_and_counted(tmp_path: Path) -> None:
    history, begin = History(tmp_path), datetime(2026, 11, 22, 12, tzinfo=UTC)
    for minute, eta_s in enumerate((math.inf, 3.0)):
        history.append("lag_1m", past("lag_1m", {"at": minute, "eta_s": eta_s}))
    maintain(history, "lag_1m", begin + timedelta(days=1))
    for line in log(tmp_path / "lag_1m"):
        json.loads(line["add"]["stats"], parse_constant=refused)
    assert [(one.table, one.rows) for one in table_sizes(history)] == [("lag_1m", 2)]
    found = history.query("SELECT eta_s FROM lag_1m ORDER BY minute", "lag_1m")
    assert found["eta_s"].to_pylist() == [math.inf, 3.0]


def log(table: Path) -> list[dict[str, Any]]:
    """What the Delta log says of files that were added, each line strict JSON."""
    lines = [line for file in sorted(table.glob("_delta_log/*.json")) for line in file.read_text().splitlines()]
    return [stated for line in lines if "add" in (stated := json.loads(line, parse_constant=refused))]


def refused(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@pytest.mark.parametrize(("url", "asked"), [("s3a://b/h", "s3://b/h"), ("s3://b/h", "s3://b/h"), ("gs://b", "gs://b")])
def test_the_name_that_hadoop_has_for_s3_is_understood(monkeypatch: pytest.MonkeyPatch, url: str, asked: str) -> None:
    class Known:
        @staticmethod
        def from_uri(name: str) -> Any:
            return None, name

    monkeypatch.setattr(files, "FileSystem", Known)
    assert file_system(url)[1] == asked
