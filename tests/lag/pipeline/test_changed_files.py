"""Which recorded files may have rows of late: that bounds how far back a run of the roll-up goes."""

from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lag.history.store import History
from lag.pipeline.changed_files import TIMES, recent
from tests.lag.history.rows import NOON, rows

MINUTE = timedelta(minutes=1)


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path / "history")
    for name in TIMES:
        history.create(name)
    return history


def firsts(found: dict[str, datetime]) -> dict[str, list[float]]:
    """Of each table, in minutes after NOON."""
    made = defaultdict(list)
    for file, first in found.items():
        made[file.partition("/")[0]].append((first - NOON) / MINUTE)
    return {name: sorted(times) for name, times in made.items()}


def test_every_recorded_table_counts_from_its_earliest_row_on(history: History) -> None:
    for name, (time, *_) in TIMES.items():
        reported = {"type": "classic", "state": "Stable", "complete": True} if name == "group_snapshots" else {}
        reported |= {"members": 1, "lag_known": 0, "lag_partitions": 0} if reported else {}
        for since, until in ((-90, -61), (-70, 5), (10, 20)):
            made = [reported | {time: NOON + at * MINUTE} for at in (since, until)]
            history.append(name, rows(name, *made))
    found = firsts(recent(history, NOON - timedelta(hours=1)))
    assert found == {name: [-60.0, 10.0] for name in TIMES} | {"commits": [-60.0, 0.0, 0.0]}


def test_a_commit_is_of_its_own_time_and_of_its_record(history: History) -> None:
    """A tombstone has no time of its own; one that came late is found by the time that it says."""
    history.append("commits", rows("commits", {"commit_ts": None, "src_ts": NOON + 5 * MINUTE}))
    history.append("commits", rows("commits", {"commit_ts": NOON - 20 * MINUTE, "src_ts": NOON + 6 * MINUTE}))
    history.append("commits", rows("commits", {"commit_ts": NOON - 80 * MINUTE, "src_ts": NOON + 7 * MINUTE}))
    assert firsts(recent(history, NOON - timedelta(hours=1))) == {"commits": [-60.0, -20.0, 7.0]}


def test_what_compaction_writes_counts_as_new(history: History) -> None:
    for at in range(3):
        history.append("end_offsets", rows("end_offsets", {"poll_ts": NOON + at * MINUTE}))
    before = recent(history, NOON)
    DeltaTable(history.table_path("end_offsets")).optimize.compact()
    after = recent(history, NOON)
    assert (firsts(before), firsts(after)) == ({"end_offsets": [0.0, 1.0, 2.0]}, {"end_offsets": [0.0]})
    assert not before.keys() & after.keys()
