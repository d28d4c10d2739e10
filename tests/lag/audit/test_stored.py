"""The audit log in the history: every event once, whatever failed in between."""

from pathlib import Path
from shutil import copyfile

import pytest

from lag.audit.event import MOST_TEXT, AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.audit.recorder import AuditRecorder
from lag.audit.stored import LATE_MS, AuditCopy, stored_events
from lag.errors import HistoryError
from lag.history.store import History
from tests.support.waiting import wait_until

AT_MS = 1_795_600_800_000
END_MS = AT_MS * 2


def event(after_ms: int, detail: str = "") -> AuditEvent:
    return AuditEvent(AT_MS + after_ms, "reset", Outcome.OK, "ann", "10.0.0.7", "prod", "billing", "p-1", detail)


@pytest.fixture
def log(tmp_path: Path) -> AuditLog:
    return AuditLog(tmp_path / "audit.jsonl")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def times(history: History) -> list[int]:
    return [one.at_ms - AT_MS for one in stored_events(history, END_MS, 1_000)]


def test_an_event_is_the_same_in_the_history(log: AuditLog, history: History) -> None:
    bare, whole = AuditEvent(AT_MS, "login", Outcome.REFUSED), event(1, "Offset 7 -> 3")
    log.append(bare)
    log.append(whole)
    assert AuditCopy(log, history).copy() == 2
    assert stored_events(history, END_MS, 10) == [whole, bare]
    assert stored_events(history, AT_MS + 1, 10) == [bare]
    assert stored_events(history, END_MS, 1) == [whole]
    rows = history.query("SELECT event_id, log, dt FROM audit_events ORDER BY at", "audit_events").to_pylist()
    assert [row["event_id"] for row in rows] == [bare.event_id, whole.event_id]
    assert {row["log"] for row in rows} == {log.place}


def test_each_event_is_copied_once_also_after_a_restart(log: AuditLog, history: History) -> None:
    copy = AuditCopy(log, history)
    log.append(event(0))
    assert (copy.copy(), copy.copy()) == (1, 0)
    log.append(event(0))
    log.append(event(5))
    assert AuditCopy(log, history).copy() == 2
    assert (copy.copy(), AuditCopy(log, history).copy()) == (0, 0)  # two servers with the same log
    assert times(history) == [5, 0, 0]


def test_an_event_of_a_process_whose_clock_is_behind_is_copied(log: AuditLog, history: History) -> None:
    copy = AuditCopy(log, history)
    log.append(event(LATE_MS))
    copy.copy()
    AuditLog(log.path).append(event(0))
    assert (copy.copy(), times(history)) == (1, [LATE_MS, 0])


def test_one_event_of_a_clock_far_ahead_holds_up_no_later_one(log: AuditLog, history: History) -> None:
    year_ms = 365 * LATE_MS
    copy = AuditCopy(log, history, lambda: AT_MS)
    for after_ms in (0, year_ms, 10, 20):
        log.append(event(after_ms))
        assert copy.copy() == 1
    assert AuditCopy(log, history, lambda: AT_MS).copy() == 0
    assert times(history) == [year_ms, 20, 10, 0]


def test_nothing_is_copied_twice_when_the_clock_was_set_back(log: AuditLog, history: History) -> None:
    log.append(event(0))
    assert AuditCopy(log, history, lambda: AT_MS).copy() == 1
    log.append(event(1))
    assert AuditCopy(log, history, lambda: AT_MS - 10 * LATE_MS).copy() == 1
    assert times(history) == [1, 0]


def test_events_that_could_not_be_written_are_copied_later(log: AuditLog, tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("no folder")
    history = History(tmp_path / "blocked")
    copy = AuditCopy(log, history)
    log.append(event(0))
    with pytest.raises(HistoryError):
        copy.copy()
    log.append(event(1))
    (tmp_path / "blocked").unlink()
    assert (copy.copy(), times(history)) == (2, [1, 0])


def test_events_in_older_files_are_copied(tmp_path: Path, history: History) -> None:
    log = AuditLog(tmp_path / "audit.jsonl", most_bytes=3 * len(event(10).line()), older_files=3)
    for number in range(10):
        log.append(event(number))
    kept = [one.at_ms - AT_MS for one in log.newest_first()]
    assert len(list(tmp_path.iterdir())) > 2
    assert (AuditCopy(log, history).copy(), times(history)) == (len(kept), kept)


def test_events_of_an_earlier_version_have_an_id_of_their_line(log: AuditLog, history: History) -> None:
    assert log.path is not None
    log.path.write_text('{"at_ms":1795600800000,"action":"login","outcome":"ok"}\n')
    assert (AuditCopy(log, history).copy(), AuditCopy(log, history).copy()) == (1, 0)


def test_two_logs_in_one_history_do_not_hide_each_others_events(tmp_path: Path, history: History) -> None:
    first, second = AuditLog(tmp_path / "first.jsonl"), AuditLog(tmp_path / "second.jsonl")
    second.append(event(0))
    first.append(event(10 * LATE_MS))
    assert [AuditCopy(log, history).copy() for log in (first, second)] == [1, 1]


def test_events_that_are_there_twice_leave_room_for_older_ones(tmp_path: Path, log: AuditLog, history: History) -> None:
    assert log.path is not None
    for after_ms in range(3):
        log.append(event(after_ms))
    again = AuditLog(Path(copyfile(log.path, tmp_path / "again.jsonl")))
    assert [AuditCopy(each, history).copy() for each in (log, again)] == [3, 3]
    assert [one.at_ms - AT_MS for one in stored_events(history, END_MS, 2)] == [2, 1]
    assert times(history) == [2, 1, 0]


def test_long_texts_are_cut_off_also_without_a_file(history: History) -> None:
    log = AuditLog()
    log.append(event(0, "x" * 10_000))
    assert AuditCopy(log, history).copy() == 1
    assert stored_events(history, END_MS, 1)[0].detail == "x" * MOST_TEXT


def test_a_text_that_is_not_unicode_is_copied_with_question_marks(log: AuditLog, history: History) -> None:
    log.append(event(0, "group g\udcff"))
    assert AuditCopy(log, history).copy() == 1
    assert [one.detail for one in log.newest_first()] == ["group g?"]
    assert [one.detail for one in stored_events(history, END_MS, 10)] == ["group g?"]


def test_the_recorder_copies_while_it_is_open_and_at_its_end(log: AuditLog, history: History) -> None:
    with AuditRecorder(log, history, every_s=0.05):
        log.append(event(0))
        wait_until(lambda: times(history) == [0])
    with AuditRecorder(log, history, every_s=3_600):
        log.append(event(1))
    assert times(history) == [1, 0]


def test_the_recorder_names_a_problem_until_it_is_over(log: AuditLog, tmp_path: Path) -> None:
    (tmp_path / "history").write_text("no folder")
    history = History(tmp_path / "history")
    log.append(event(0))
    with AuditRecorder(log, history, every_s=0.05) as recorder:
        wait_until(lambda: recorder.problem is not None)
        assert str(tmp_path / "history") in (recorder.problem or "")
        (tmp_path / "history").unlink()
        wait_until(lambda: recorder.problem is None)
    assert times(history) == [0]


def test_the_recorder_goes_on_after_an_unexpected_error(
    log: AuditLog, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.append(event(0))
    with monkeypatch.context() as broken, AuditRecorder(log, history, every_s=0.05) as recorder:
        broken.setattr(AuditCopy, "copy", lambda _: 1 / 0)
        wait_until(lambda: recorder.problem is not None)
        assert (recorder.problem or "").endswith("internal error (ZeroDivisionError)")
        broken.undo()
        wait_until(lambda: times(history) == [0])
        wait_until(lambda: recorder.problem is None)
