"""Generations out of the history: once each, between two times, and joined to what the live tail knows."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest

from assignors.model import TopicPartition
from lag.generations.recorded import GenerationRecorder, RecordedGeneration
from lag.generations.recorded.history import join, stored_generations
from lag.history.store import History
from tests.lag.generations.recorded.events import classic
from tests.lag.history.rows import NOON, rows
from tests.lag.records.test_worked_examples import GROUP, GROUP_KEY

AGES = {"since": NOON - timedelta(days=1), "until": NOON + timedelta(days=1)}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def generation(number: int) -> bytes:
    """The worked example with another generation; before it stands the protocol type."""
    head, _, rest = GROUP.partition(b"consumer")
    return head + b"consumer" + number.to_bytes(4, "big") + rest[4:]


def keep(history: History, *numbers: int, at: int = 0, **more: object) -> None:
    """A record for each generation, one second after the other; a second row of each has no bytes."""
    for number in numbers:
        same = {"group_id": "billing", "src_offset": number, "ts": NOON + timedelta(seconds=at + number)}
        first = same | {"key": GROUP_KEY, "value": generation(number)}
        history.append("group_events", rows("group_events", same, first | more))


def reported(history: History, **more: object) -> list[int]:
    asked = {"cluster": "c1", "group_id": "billing", "names": {}} | AGES | more
    return [one.generation.number for one in stored_generations(history, **asked)]  # type: ignore[arg-type]


def test_each_record_is_a_generation_once_and_in_order(history: History) -> None:
    keep(history, 9, 8, 11)
    found = stored_generations(history, "c1", "billing", {}, **AGES)
    assert [(one.generation.number, one.generation.at_ms) for one in found] == [
        (number, round((NOON + timedelta(seconds=number)).timestamp() * 1000)) for number in (8, 9, 11)
    ]
    assert found[-1].generation.after.by_member["m-1"] == (TopicPartition("orders", 0), TopicPartition("orders", 3))
    assert found[-1].skipped == 1


def test_only_those_between_the_times(history: History) -> None:
    keep(history, 8, 9, 10, 11)
    assert reported(history, since=NOON + timedelta(seconds=9), until=NOON + timedelta(seconds=11)) == [9, 10]


def test_nothing_of_another_group_or_cluster_is_shown(history: History) -> None:
    keep(history, 8, 9)
    assert (reported(history, group_id="other"), reported(history, cluster="c2")) == ([], [])


def test_a_history_from_before_records_were_kept_gives_what_it_has(history: History) -> None:
    keep(history, 7, key=None, value=None)
    keep(history, 8, 9)
    assert reported(history) == [8, 9]


def test_an_empty_history_shows_nothing(history: History) -> None:
    assert reported(history) == []


def course(*numbers: int) -> list[RecordedGeneration]:
    recorder = GenerationRecorder(dict[UUID, str]().get)
    recorder.take([classic(1000 * n, n, {"a": range(n)}) for n in numbers], whole=True)
    return recorder.recorded("g")


def test_the_older_part_ends_where_the_newer_begins() -> None:
    older, newer = course(3, 4, 5, 6), course(5, 6, 7)
    assert [one.generation.number for one in join(older, newer)] == [3, 4, 5, 6, 7]
    assert join(older, newer)[3] is newer[1]


def test_what_only_one_of_them_knows_is_listed() -> None:
    one = course(3, 4)
    assert (join(one, []), join([], one), join(course(8, 9), one)) == (one, one, one)
