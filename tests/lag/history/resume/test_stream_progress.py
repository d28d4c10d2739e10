"""How far streams have come: kept whole, one cluster beside the other; what cannot be read is reported."""

from datetime import timedelta
from pathlib import Path

import pytest

from lag.errors import HistoryError
from lag.history.resume.stream_progress import NEVER, PATH, mark_read, read_until
from lag.history.store import History
from tests.lag.history.rows import NOON


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def test_where_no_stream_ever_ran_nothing_is_held_back(history: History) -> None:
    assert read_until(history) == {}


def test_each_cluster_has_its_newest_time(history: History) -> None:
    mark_read(history, "c1", NEVER)
    mark_read(history, "c2", NOON)
    mark_read(history, "c1", NOON + timedelta(seconds=1.5))
    assert read_until(history) == {"c1": NOON + timedelta(seconds=1.5), "c2": NOON}
    assert [file.name for file in (Path(history.root) / PATH).parent.iterdir()] == ["read_until.json"]


@pytest.mark.parametrize("text", ["", "[]", '{"c1": 5}', '{"c1": "noon"}'])
def test_a_damaged_file_names_its_hint(history: History, text: str) -> None:
    mark_read(history, "c1", NOON)
    (Path(history.root) / PATH).write_text(text)
    with pytest.raises(HistoryError, match=r"read_until.json is damaged\. Delete it; the stream writes it again"):
        read_until(history)
