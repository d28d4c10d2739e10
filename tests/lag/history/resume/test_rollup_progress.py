"""The next run learns how far the roll-up has come, unless it is of other tables or damaged."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lag.history.resume.rollup_progress import LAST_COMMITS, PATH, RollupProgress, load_progress, save_progress
from lag.history.store import History
from tests.lag.history.rows import NOON


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path)
    for name in ("commits", "lag_1m"):
        history.create(name)
    return history


def made() -> RollupProgress:
    row = {"cluster": "c", "topic": "t", "partition": 1, "group_id": "g", "at": NOON, "src_offset": 7, "committed": 3}
    rows = [row | {"topic_id": bytes(16), "bootstrap": True}, row | {"committed": None, "bootstrap": False}]
    return RollupProgress(
        {"c": NOON, "d": NOON - timedelta(days=1)},
        NOON - timedelta(hours=2),
        LAST_COMMITS.empty_table().from_pylist(rows, LAST_COMMITS),
        frozenset({"commits/dt=2026-11-22/a.parquet", "end_offsets/dt=2026-11-22/b.parquet"}),
    )


def test_what_was_kept_comes_back(history: History) -> None:
    assert load_progress(history) is None
    for until in (NOON, NOON + timedelta(microseconds=1)):
        save_progress(history, replace(made(), until={"c": until}))
        found = load_progress(history)
        assert found is not None
        assert (found.until, found.known_until) == ({"c": until}, made().known_until)
        assert (found.commits.equals(made().commits), found.files) == (True, made().files)
        assert found.until["c"].tzinfo is UTC


@pytest.mark.parametrize("table", ["commits", "lag_1m"])
def test_it_counts_for_nothing_when_a_table_was_recreated(history: History, table: str) -> None:
    save_progress(history, made())
    shutil.rmtree(history.table_path(table))
    assert load_progress(history) is None
    history.create(table)
    assert load_progress(history) is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_it_counts_for_nothing_when_it_is_cut_off(history: History, share: float) -> None:
    save_progress(history, made())
    place = Path(history.root) / PATH
    data = place.read_bytes()
    place.write_bytes(data[: int(len(data) * share)])
    assert load_progress(history) is None


def test_junk_counts_for_nothing(history: History) -> None:
    save_progress(history, made())
    (Path(history.root) / PATH).write_bytes(datetime.now(UTC).isoformat().encode() * 100)
    assert load_progress(history) is None
