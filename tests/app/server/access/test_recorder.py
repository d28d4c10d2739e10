"""What of the access goes to the audit log, and that nobody waits for a file that another process has locked."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path

import pytest
from starlette.applications import Starlette

from app.server import source
from app.server.access import recorder
from app.server.access.connection import connection
from app.server.access.recorder import BURST, BURST_OF_ALL, EVERY_S, MOST_NAMED, AccessRecorder
from app.server.access.refusal import Refusal
from app.server.access.session import Session
from app.server.middleware.access import AccessMiddleware
from app.server.settings import Settings
from app.server.source import Source
from lag.audit import log as audit_log
from lag.audit.event import Outcome
from lag.audit.log import APPEND, AuditLog
from lag.errors import ConfigError
from lag.locked_file import locked_file
from tests.app.server.asgi_client import Asked, answer
from tests.support.event_loop import run_beside

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

    run_beside(all_of_them)
    assert steps == ["ann", "bob"]
    assert [event.actor for event in audit.newest_first()] == ["bob", "ann"]


def test_what_cannot_be_written_goes_to_the_servers_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    its = AccessRecorder(lambda: AuditLog(tmp_path))
    run_beside(lambda: its.login(Session("ann", "10.0.0.7")))
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


REFUSAL = Refusal(HTTPStatus.UNAUTHORIZED, "Log in.")
NOT_LISTED = "Further requests were refused and are not listed one by one: "


class Recorded:
    """A recorder whose timer is run by hand."""

    def __init__(self) -> None:
        self.log, self.timers = AuditLog(), list[tuple[float, Callable[[], None]]]()
        self.its = AccessRecorder(
            lambda: self.log, lambda: 7, lambda after_s, call: self.timers.append((after_s, call))
        )

    def refuse(self, address: str, times: int = 1) -> None:
        asked = connection(Asked("/metrics", client=(address, 1)).scope(), "/", ())
        for _ in range(times):
            self.its.refused(asked, REFUSAL)

    def fire(self) -> None:
        self.timers.pop()[1]()

    @property
    def details(self) -> list[str]:
        return [event.detail for event in self.log.newest_first()]


def test_requests_beyond_the_limit_of_an_address_are_counted() -> None:
    its = Recorded()
    its.refuse("192.0.2.7", BURST + 3)
    its.refuse("192.0.2.8")
    assert its.details == ["GET /metrics: 401 Log in."] * (BURST + 1)
    assert [after_s for after_s, _ in its.timers] == [EVERY_S]
    its.fire()
    newest = next(its.log.newest_first())
    assert (newest.at_ms, newest.action, newest.outcome, newest.address) == (7, "request", Outcome.REFUSED, "")
    assert newest.detail == f"{NOT_LISTED}3 from 192.0.2.7"
    its.refuse("192.0.2.7")
    its.fire()
    assert its.details[0] == f"{NOT_LISTED}1 from 192.0.2.7"
    assert its.timers == []


def test_all_addresses_of_one_ipv6_network_have_one_limit() -> None:
    its = Recorded()
    for number in range(BURST + 5):
        its.refuse(f"2001:db8::{number:x}")
    its.fire()
    assert its.details[0] == f"{NOT_LISTED}5 from 2001:db8::/64"
    assert len(its.details) == BURST + 1


def test_many_addresses_do_not_flood_the_log_and_none_is_lost_from_the_count() -> None:
    its = Recorded()
    for number in range(1_000):
        its.refuse(f"10.1.{number // 250}.{number % 250}")
    its.fire()
    assert len(its.details) == BURST_OF_ALL + 1
    others = 1_000 - BURST_OF_ALL - MOST_NAMED
    assert its.details[0].startswith(f"{NOT_LISTED}{others} from other addresses, 1 from 10.1.2.0, ")
    assert its.details[0].count("1 from ") == MOST_NAMED


def test_a_count_that_cannot_be_recorded_yet_is_recorded_with_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    its = Recorded()
    its.refuse("192.0.2.7", BURST + 3)
    with monkeypatch.context() as busy:
        busy.setattr(AuditLog, "append_soon", lambda *_: None)
        its.fire()
    its.refuse("192.0.2.7")
    its.fire()
    assert its.details[0] == f"{NOT_LISTED}4 from 192.0.2.7"
    assert its.timers == []
