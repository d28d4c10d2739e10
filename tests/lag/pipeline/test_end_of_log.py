"""Until when all is in the tables: a look at the topic's ends counts once the stream has come there."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from lag.errors import ConnectError, HistoryError
from lag.history.resume.stream_progress import read_until
from lag.history.store import History
from lag.pipeline import end_of_log
from lag.pipeline.end_of_log import LogEnd, ReadMarks
from tests.lag.history.rows import NOON
from tests.support.known import the

LATER = NOON + timedelta(minutes=1)


def end(at: datetime, *ends: int) -> LogEnd:
    """Without an open transaction."""
    return LogEnd(at, ends, ends)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_of_log, "ASK_EVERY_S", 0.0)


def test_a_look_counts_when_every_partition_has_been_read_to_where_it_ended(history: History) -> None:
    marks = ReadMarks(history, "c1", end(NOON, *(5, 0, 3)), lambda: end(LATER, *(9, 0, 3)))
    for position in ((), (5, 0, 2), (4, 0, 30)):
        marks.follow(position)
        assert read_until(history) == {}
    marks.follow((5, 0, 3))
    assert read_until(history) == {"c1": NOON}
    marks.follow((8, 0, 3))
    assert read_until(history) == {"c1": NOON}
    marks.follow((9, 0, 4))
    assert read_until(history) == {"c1": LATER}


def test_a_topic_without_a_record_has_been_read(history: History) -> None:
    ReadMarks(history, "c1", end(NOON, *(0, 0)), lambda: end(LATER, *(0, 0))).follow(())
    assert read_until(history) == {"c1": NOON}


def test_unavailable_brokers_are_asked_again(history: History) -> None:
    answers = iter([ConnectError("away", "wait"), end(LATER, *(5,))])

    def ask() -> LogEnd:
        answer = next(answers)
        if isinstance(answer, ConnectError):
            raise answer
        return the(LogEnd, answer)

    marks = ReadMarks(history, "c1", end(NOON, *(5,)), ask)
    seen = []
    for _ in range(3):
        marks.follow((5,))
        seen.append(read_until(history)["c1"])
    assert seen == [NOON, NOON, LATER]


def test_a_look_that_finds_another_topic_ends_it_and_says_nothing_of_time(history: History) -> None:
    def ask() -> LogEnd:
        raise HistoryError("created again", "name a new history")

    marks = ReadMarks(history, "c1", end(NOON, *(5,)), ask)
    marks.follow((5,))
    with pytest.raises(HistoryError, match="created again"):
        marks.follow((5,))
    assert read_until(history) == {"c1": NOON}


def test_the_next_look_waits_a_while(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_of_log, "ASK_EVERY_S", 3600.0)
    marks = ReadMarks(history, "c1", end(NOON, *(5,)), lambda: end(LATER, *(5,)))
    for _ in range(3):
        marks.follow((5,))
    assert read_until(history) == {"c1": NOON}


def test_a_transaction_that_was_open_a_minute_ago_is_reported_and_what_is_behind_it_is_not_read(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr("lag.pipeline.end_of_log.time.monotonic", lambda: now_s)
    answers = [LogEnd(LATER, (9, 12), (9, 7)), LogEnd(LATER, (9, 12), (9, 12)), end(LATER, 9, 14)]
    marks = ReadMarks(history, "c1", LogEnd(NOON, (9, 10), (9, 7)), lambda: answers.pop(0))
    assert marks.follow((9, 7)) == ()
    now_s = end_of_log.HELD_S
    assert (marks.follow((9, 7)), marks.follow((9, 7)), read_until(history)) == ((1,), (), {})
    now_s = 2 * end_of_log.HELD_S
    assert (marks.follow((9, 12)), read_until(history)) == ((), {"c1": NOON})
