"""The last rebalances of all groups from the history: the same as from all records, however few are read."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

import pytest

from lag.generations import stored_rebalances as module
from lag.generations.recent import Rebalance, RecentRebalances, recent_rebalances, with_stored
from lag.generations.recorded import GenerationRecorder, Origin, TimedEvent
from lag.generations.recorded.model import RecordedState
from lag.generations.stored_rebalances import stored_counts, stored_rebalances
from lag.history.resume.stream_progress import mark_read
from lag.history.store import History
from lag.records import BytesColumn, decode
from tests.app.test_same_moves import EVERY_MS, START_MS, life, record
from tests.lag.history.rows import NOON, rows

ASSIGNORS = {"g": "range", "h": "cooperative-sticky", "i": "sticky"}
LATER_MS = {"g": 0, "h": 1_000, "i": 2 * 24 * 3_600_000}
"""How much later a group's records are than those of `g`: the first two share two days, `i` comes after them."""
SINCE, UNTIL = NOON - timedelta(days=1), NOON + timedelta(days=3)

Log = Sequence[tuple[int, bytes, bytes]]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


@cache
def logs() -> Mapping[str, Log]:
    """Time, key and value of each record of each group."""
    return {
        group_id: [
            (START_MS + LATER_MS[group_id] + EVERY_MS * at, key(group_id), record(made))
            for at, made in enumerate(life(1, assignor))
        ]
        for group_id, assignor in ASSIGNORS.items()
    }


def key(group_id: str) -> bytes:
    return struct.pack(">hh", 2, len(group_id)) + group_id.encode()


def keep(history: History, logs: Mapping[str, Log], **more: object) -> None:
    """A row for each record; the group's partition is no matter."""
    made = [
        {"group_id": group_id, "src_offset": at, "ts": (at_ms - START_MS) / 1000, "key": k, "value": v} | more
        for group_id, log in logs.items()
        for at, (at_ms, k, v) in enumerate(log)
    ]
    history.append("group_events", rows("group_events", *made))


def states(logs: Mapping[str, Log]) -> Mapping[str, list[RecordedState]]:
    """The states of each group, from all its records."""
    recorder = GenerationRecorder(dict[UUID, str]().get, 100)
    for log in logs.values():
        decoded = decode(BytesColumn.of([k for _, k, _ in log]), BytesColumn.of([v for *_, v in log]))
        for event in decoded.events:
            recorder.take([TimedEvent(log[event.row][0], event)], whole=True)
    return recorder.all_states()


def stored(history: History) -> RecentRebalances:
    return stored_rebalances(history, "c1", {}, SINCE, UNTIL)


def test_the_history_has_the_rebalances_of_all_groups_newest_first(history: History) -> None:
    keep(history, logs())
    found, every = stored(history), recent_rebalances(states(logs()), {})
    assert found.rebalances == every.rebalances
    assert (len(found.rebalances) > 100, found.has_older, every.has_older) == (True, False, False)


@pytest.mark.parametrize("most", [3, 50, 60])
def test_the_newest_are_the_same_when_older_records_are_not_read(
    history: History, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(history, logs())
    monkeypatch.setattr(module, "MAX_RECORDS", most)
    monkeypatch.setattr(module, "LEAD", timedelta(seconds=30))
    found, every = stored(history), recent_rebalances(states(logs()), {})
    assert 0 < len(found.rebalances) <= most
    assert found.rebalances == every.rebalances[: len(found.rebalances)]
    assert found.has_older


def test_each_generation_or_epoch_of_a_time_counts_once(history: History) -> None:
    assert stored_counts(history, "c1", SINCE, UNTIL) == {}
    two_members = [("g", 2, number) for number in (1, 1, 2, 2)]
    epoch_and_target = [("h", record_type, number) for number in (5, 6, 7) for record_type in (3, 6)]
    made = [
        {"group_id": group_id, "src_offset": at, "ts": at, "key": b"k", "record_type": type_, "generation_or_epoch": n}
        for at, (group_id, type_, n) in enumerate([*two_members, *epoch_and_target])
    ]
    history.append("group_events", rows("group_events", *made))
    assert stored_counts(history, "c1", SINCE, UNTIL) == {"g": 2, "h": 3}
    assert stored_counts(history, "c1", NOON + timedelta(seconds=2), UNTIL) == {"g": 1, "h": 3}
    assert stored_counts(history, "other", SINCE, UNTIL) == {}


def test_of_another_cluster_or_an_empty_history_there_is_none(history: History) -> None:
    assert stored(history) == RecentRebalances()
    keep(history, logs(), cluster="other")
    assert stored(history) == RecentRebalances()


def test_every_rebalance_is_known_from_the_first_start_of_the_stream_to_how_far_it_has_read(history: History) -> None:
    begun = {"g": logs()["g"][:1]}
    keep(history, begun, bootstrap=True)
    assert (stored(history).known_since_ms, stored(history).known_until_ms) == (None, None)
    keep(history, {"h": logs()["h"]})
    mark_read(history, "c1", UNTIL)
    assert stored(history).known_since_ms == logs()["h"][0][0]
    assert stored(history).known_until_ms == round(UNTIL.timestamp() * 1000)


def seen(at_ms: int, number: int = 2, origin: Origin = Origin.RECORDED, before_ms: int = 0) -> Rebalance:
    made = recent_rebalances(states({"g": logs()["g"][:2]}), {}).rebalances[0]
    return replace(made, at_ms=at_ms, number=number, origin=origin, before_ms=before_ms)


def recent(*rebalances: Rebalance, **more: int | bool) -> RecentRebalances:
    return RecentRebalances(rebalances, **more)  # type: ignore[arg-type]


def test_a_rebalance_that_both_know_is_listed_once() -> None:
    live, old = recent(seen(30, 3), seen(20)), recent(seen(20), seen(10, 1))
    assert [one.at_ms for one in with_stored(live, old).rebalances] == [30, 20, 10]


def test_of_a_rebalance_that_polls_saw_the_recorded_one_is_listed() -> None:
    polled = seen(25, origin=Origin.INFERRED, before_ms=15)
    assert with_stored(recent(polled), recent(seen(20))).rebalances == (seen(20),)
    assert with_stored(recent(polled), recent(seen(10))).rebalances == (polled, seen(10))
    assert with_stored(recent(polled), recent(seen(20, 1))).rebalances == (polled, seen(20, 1))


def test_nothing_is_listed_from_before_a_rebalance_that_may_be_missing() -> None:
    live, old = recent(seen(30, 3), has_older=True), recent(seen(20), seen(10, 1))
    assert with_stored(live, old) == recent(seen(30, 3), has_older=True)
    live, old = recent(seen(30, 3), seen(5, 1)), recent(seen(20), has_older=True)
    assert [one.at_ms for one in with_stored(live, old).rebalances] == [30, 20]


@pytest.mark.parametrize(("read_ms", "since_ms"), [(100, 10), (99, 100)])
def test_the_history_counts_as_known_if_it_reaches_up_to_this_process(read_ms: int, since_ms: int) -> None:
    live, old = recent(known_since_ms=100), recent(known_since_ms=10, known_until_ms=read_ms)
    assert with_stored(live, old).known_since_ms == since_ms
