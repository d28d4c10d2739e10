"""The audit log: every event once, in order, readable by its owner alone."""

import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.audit import log as audit_log
from lag.audit.event import LAST_MS, MOST_TEXT, AuditEvent, Outcome, event_of
from lag.audit.log import APPEND, MOST_KEPT, MOST_WAITING, AuditLog
from lag.errors import ConfigError
from lag.locked_file import locked_file


def event(at_ms: int, detail: str = "") -> AuditEvent:
    return AuditEvent(at_ms, "reset", Outcome.OK, "ann", "10.0.0.7", "prod", "billing", "p-1", detail)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def test_events_are_read_newest_first_also_by_another_log(path: Path) -> None:
    log = AuditLog(path)
    for at_ms in range(5):
        log.append(event(at_ms))
    assert [one.at_ms for one in islice(AuditLog(path).newest_first(), 3)] == [4, 3, 2]
    assert list(AuditLog(path).newest_first())[-1] == event(0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@given(st.builds(AuditEvent, st.integers(0, LAST_MS), st.text(), st.sampled_from(Outcome), st.none() | st.text()))
def test_an_event_survives_its_line(its: AuditEvent) -> None:
    assert "\n" not in its.line()
    assert event_of(its.line()) == its


def test_texts_are_cut_off() -> None:
    cut = event_of(event(1, "x" * 10_000).line())
    assert cut is not None
    assert cut.detail == "x" * MOST_TEXT


@pytest.mark.parametrize(
    "line",
    [
        "",
        "{",
        "[]",
        "null",
        '{"at_ms": 1}',
        '{"at_ms": 1, "action": "a", "outcome": "no"}',
        '{"at_ms": "2026-11-26T10:00:00Z", "action": "a", "outcome": "ok"}',
        '{"at_ms": 1e400, "action": "a", "outcome": "ok"}',
        '{"at_ms": 253402300800000, "action": "a", "outcome": "ok"}',
        '{"at_ms": 1, "action": 5, "outcome": "ok"}',
        "[" * 200_000,
        '{"at_ms": 1, "action": "a", "outcome": "ok", "detail": ["x"]}',
    ],
)
def test_an_invalid_line_is_skipped(path: Path, line: str) -> None:
    log = AuditLog(path)
    log.append(event(1))
    with path.open("a") as file:
        file.write(f"{line}\n")
    log.append(event(2))
    assert [one.at_ms for one in log.newest_first()] == [2, 1]


def test_an_event_that_does_not_fit_on_the_disk_is_refused_and_spoils_no_other(path: Path) -> None:
    log = AuditLog(path)
    log.append(event(1))
    with room_for(path.stat().st_size + 60), pytest.raises(ConfigError, match="No space left on device"):
        log.append(event(2))
    log.append(event(3))
    assert [one.at_ms for one in log.newest_first()] == [3, 1]


@contextmanager
def room_for(file_bytes: int) -> Iterator[None]:
    """A write beyond that size is cut off there, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_line_that_a_crash_cut_off_takes_no_other_with_it(path: Path) -> None:
    log = AuditLog(path)
    log.append(event(1))
    with path.open("a") as file:
        file.write(event(2).line()[:40])
    log.append(event(3))
    assert [one.at_ms for one in log.newest_first()] == [3, 1]


def test_an_event_is_read_once_while_its_file_is_rotated(path: Path) -> None:
    size = len(event(1).line()) + 1
    log = AuditLog(path, most_bytes=3 * size)
    for at_ms in (1, 2, 3):
        log.append(event(at_ms))
    read = log.newest_first()
    first = next(read)
    log.append(event(4))
    assert [one.at_ms for one in (first, *read)] == [3, 2, 1, 4]


def test_full_files_are_kept_beside_it_and_the_oldest_are_deleted(path: Path) -> None:
    size = len(event(10).line()) + 1
    log = AuditLog(path, most_bytes=3 * size, older_files=2)
    for at_ms in range(10, 30):
        log.append(event(at_ms))
    assert sorted(one.name for one in path.parent.iterdir()) == ["audit.jsonl.1", "audit.jsonl.2"]
    assert [one.at_ms for one in log.newest_first()] == [29, 28, 27, 26, 25, 24, 23, 22]
    assert {stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()} == {0o600}


WRITER = """
import sys
from pathlib import Path
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
log = AuditLog(Path(sys.argv[1]), most_bytes=2000, older_files=100)
for number in range(100):
    log.append(AuditEvent(number, sys.argv[2], Outcome.OK))
"""


@pytest.mark.process
def test_no_event_is_lost_when_several_processes_append(path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("a", "b")]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(AuditLog(path, most_bytes=2000, older_files=100).append, map(event, range(100))))
    assert [writer.wait() for writer in writers] == [0, 0]
    found = list(AuditLog(path, older_files=100).newest_first())
    for action in ("a", "b", "reset"):
        assert sorted(one.at_ms for one in found if one.action == action) == list(range(100))


def test_without_a_file_the_last_events_are_kept() -> None:
    log = AuditLog()
    for at_ms in range(MOST_KEPT + 5):
        log.append(event(at_ms))
    found = list(log.newest_first())
    assert (len(found), found[0].at_ms) == (MOST_KEPT, MOST_KEPT + 4)


def test_a_file_that_cannot_be_written_is_named_with_the_fix(tmp_path: Path) -> None:
    for use in (AuditLog(tmp_path).check, lambda: AuditLog(tmp_path).append(event(1))):
        with pytest.raises(ConfigError, match=r"cannot be used: Is a directory\. Name another file with --audit"):
            use()


def test_events_wait_for_a_locked_file_and_are_written_in_order(path: Path) -> None:
    log = AuditLog(path)
    with locked_file(path, APPEND):
        written = [log.append_soon(event(at_ms)) for at_ms in range(MOST_WAITING)]
        assert log.append_soon(event(-1)) is None
        assert not any(one is None or one.done() for one in written)
        assert path.read_text() == ""
    log.close()
    assert all(one is not None and one.exception(20) is None for one in written)
    assert [one.at_ms for one in log.newest_first()] == list(range(MOST_WAITING))[::-1]
    again = log.append_soon(event(MOST_WAITING))
    assert again is not None
    assert (again.result(20), next(log.newest_first()).at_ms) == (None, MOST_WAITING)


def test_what_is_not_written_when_the_log_is_closed_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "CLOSE_WITHIN_S", 0.05)
    log = AuditLog(path)
    with locked_file(path, APPEND):
        written = [log.append_soon(event(1)), log.append_soon(event(2))]
        log.close()
        for one in written:
            assert one is not None
            assert str(one.exception(0)) == f"The audit log {path} is locked by another process"


def test_a_check_does_not_wait_for_ever_for_a_locked_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "CHECK_WITHIN_S", 0.0)
    with locked_file(path, APPEND), pytest.raises(ConfigError, match=f"^The audit log {path} is locked by another"):
        AuditLog(path).check()


def test_a_file_that_cannot_be_written_is_named_to_whoever_waits(tmp_path: Path) -> None:
    for log in (AuditLog(tmp_path), AuditLog()):
        written = log.append_soon(event(1))
        assert written is not None
        assert ("cannot be used: Is a directory" in str(written.exception(20))) == (log.path is not None)
