"""What of the access goes to the audit log, and that nobody waits for a file that another process has locked."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.applications import Starlette

from app.server import source
from app.server.access import recorder
from app.server.access.recorder import BURST, AccessRecorder
from app.server.access.session import Session
from app.server.middleware.access import AccessMiddleware
from app.server.settings import Settings
from app.server.source import Source
from lag.audit import log as audit_log
from lag.audit.log import APPEND, AuditLog
from lag.errors import ConfigError
from lag.locked_file import locked_file
from tests.app.server.asgi_client import Asked, answer

STRANGE = {"Origin": "http://evil.example"}


@pytest.fixture
def audit(tmp_path: Path) -> Iterator[AuditLog]:
    log = AuditLog(tmp_path / "audit.jsonl")
    log.check()
    yield log
    source.uninstall()


def details(log: AuditLog) -> list[str]:
    log.close()
    return [event.detail for event in log.newest_first()]


def refused(log: AuditLog, addresses: list[str]) -> list[int]:
    """The statuses of requests from a page of another server, from these addresses."""
    source.install(replace(Source(Settings(), {}), audit=log))
    app = AccessMiddleware(Starlette(), lambda: "")
    return [answer(app, Asked("/", headers=STRANGE, client=(address, 1))).status for address in addresses]


def test_a_request_that_is_refused_does_not_wait_for_the_audit_log(audit: AuditLog) -> None:
    assert audit.path is not None
    with locked_file(audit.path, APPEND):
        assert refused(audit, ["10.0.0.1"] * 3) == [403] * 3
        assert audit.path.read_text() == ""
    assert len(details(audit)) == 3


def test_of_one_address_few_are_recorded(audit: AuditLog) -> None:
    assert set(refused(audit, ["10.0.0.1"] * (BURST + 5))) == {403}
    assert len(details(audit)) == BURST


def test_a_request_that_cannot_be_recorded_is_told_to_come_again_and_goes_to_the_servers_log(
    audit: AuditLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_log, "MOST_WAITING", 2)
    assert audit.path is not None
    with locked_file(audit.path, APPEND):
        assert refused(audit, ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) == [403, 403, 503]
    assert len(details(audit)) == 2
    (line,) = caplog.messages
    assert line.startswith("Not recorded: {")
    assert '"address":"10.0.0.2"' in line


def test_a_login_is_recorded_before_it_is_answered_and_others_do_not_wait(
    audit: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "MOST_WAITING", 1)
    its, steps = AccessRecorder(lambda: audit), list[str]()

    async def log_in(name: str) -> None:
        await its.login(Session(name, "10.0.0.7"))
        steps.append(name)

    async def all_of_them() -> None:
        assert audit.path is not None
        with locked_file(audit.path, APPEND):
            logins = [asyncio.create_task(log_in(name)) for name in ("ann", "bob")]
            await asyncio.sleep(2 * recorder.LOOK_EVERY_S)  # the loop goes on while both wait
            assert steps == []
        await asyncio.gather(*logins)

    asyncio.run(all_of_them())
    assert steps == ["ann", "bob"]
    assert [event.actor for event in audit.newest_first()] == ["bob", "ann"]


def test_what_cannot_be_written_goes_to_the_servers_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    its = AccessRecorder(lambda: AuditLog(tmp_path))
    asyncio.run(its.login(Session("ann", "10.0.0.7")))
    (line,) = caplog.messages
    assert "cannot be used: Is a directory" in line
    assert '"actor":"ann"' in line


@pytest.mark.parametrize(
    ("problem", "detail"),
    [
        (None, "The roles file was reloaded"),
        (ConfigError("line 3"), "The roles file is invalid; the last valid version remains in effect: line 3"),
    ],
)
def test_a_file_that_was_read_again_is_recorded(audit: AuditLog, problem: ConfigError | None, detail: str) -> None:
    AccessRecorder(lambda: audit).file_read("roles", problem)
    assert details(audit) == [detail]


def test_a_file_that_was_read_again_while_too_many_events_wait_goes_to_the_servers_log(
    audit: AuditLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(audit_log, "MOST_WAITING", 0)
    AccessRecorder(lambda: audit).file_read("roles", None)
    assert "The roles file was reloaded" in caplog.text
    assert caplog.records[0].levelno == logging.ERROR
