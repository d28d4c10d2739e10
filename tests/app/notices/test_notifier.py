"""Polls become notices at real servers: one id to the end, also over a restart; who hangs delays nobody."""

import itertools
import json
import logging
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.notices.board import Board
from app.notices.due import Rules
from app.notices.forms import Webhook
from app.notices.notice import Notice
from app.notices.notifier import Notifier
from app.notices.senders import send_http
from app.notices.severity import Severity
from app.notices.store import load_state, save_state
from app.notices.targets import Notices, Target
from app.notices.templates import Into, compiled
from app.notices.worker import TargetStatus
from lag.errors import ConfigError
from tests.app.notices.made import OK, SECRET, T0, UNCOMMITTED, WAITS, health, incident
from tests.lag.make import cluster, end, judged
from tests.support.notice_targets import Listener, closed_port, http_server
from tests.support.waiting import wait_until

TIMEOUT_S = 30.0


class Clock:
    """Stands still until it is set."""

    now_ms = T0

    def __call__(self) -> int:
        return self.now_ms


def target(name: str, url: str, **rules: object) -> Target:
    address = compiled(f"{url}/{SECRET}", [], into=Into.URL)
    form = Webhook(address, address)
    return Target(name, "webhook", Rules(**rules), lambda notice: send_http(form.request(notice), TIMEOUT_S))  # type: ignore[arg-type]


@contextmanager
def running(folder: Path, *targets: Target, clock: Clock | None = None) -> Iterator[Notifier]:
    with Notifier(Notices(targets, folder / "state.json"), ["prod"], clock or Clock()) as notifier:
        yield notifier


def events(server: Listener) -> list[tuple[str, str]]:
    return [(one["event"], one["group"]) for one in server.documents()]


def status(notifier: Notifier, name: str) -> TargetStatus:
    return next(each for each in notifier.statuses() if each.name == name)


def test_a_verdict_is_sent_once_and_so_is_its_end(tmp_path: Path) -> None:
    with http_server() as server, running(tmp_path, target("a", server.url)) as notifier:
        notifier.observe("prod", health(1, T0, bad=UNCOMMITTED, idle=WAITS, good=OK))
        wait_until(lambda: len(server.got) == 1)
        notifier.observe("prod", health(2, T0 + 1, bad=UNCOMMITTED, idle=WAITS, good=OK))
        notifier.observe("prod", health(3, T0 + 2, bad=OK, idle=WAITS, good=OK))
        wait_until(lambda: len(server.got) == 2)
        assert events(server) == [("open", "bad"), ("close", "bad")]
        wait_until(lambda: status(notifier, "a").sent == 2)
        assert status(notifier, "a").error is None
    begin, end = server.documents()
    assert begin["id"] == end["id"]
    assert (begin["verdict"], end["closed_ms"]) == ("never_committed", T0 + 2)


def test_a_restart_keeps_the_id_and_sends_nothing_twice(tmp_path: Path) -> None:
    with http_server() as server:
        for number in (1, 2):
            with running(tmp_path, target("a", server.url)) as notifier:
                notifier.observe("prod", health(number, T0 + number, bad=UNCOMMITTED))
                wait_until(lambda: len(server.got) == 1)
        with running(tmp_path, target("a", server.url)) as notifier:
            notifier.observe("prod", health(3, T0 + 3, bad=OK))
            wait_until(lambda: len(server.got) == 2)
    begin, end = server.documents()
    assert events(server) == [("open", "bad"), ("close", "bad")]
    assert (begin["id"], begin["started_ms"]) == (end["id"], end["started_ms"])


def test_of_two_servers_on_one_state_file_one_sends_and_the_other_takes_over(tmp_path: Path) -> None:
    with ExitStack() as ends, http_server() as server, ExitStack() as ends_first:
        first = ends_first.enter_context(running(tmp_path, target("a", server.url)))
        standby = ends.enter_context(running(tmp_path, target("a", server.url)))
        assert (first.is_standby, standby.is_standby) == (False, True)
        for notifier in (standby, first):
            notifier.observe("prod", health(1, T0, bad=UNCOMMITTED))
        wait_until(lambda: status(first, "a").sent == 1)
        assert standby.statuses() == []
        ends_first.close()
        standby.observe("prod", health(2, T0 + 1, bad=OK))
        wait_until(lambda: status(standby, "a").sent == 1)
        assert not standby.is_standby
    begin, end = server.documents()
    assert (begin["event"], end["event"], begin["id"]) == ("open", "close", end["id"])


def test_it_is_repeated_on_the_clock(tmp_path: Path) -> None:
    clock, rules = Clock(), {"repeat_ms": {Severity.WARNING: 60_000}}
    with http_server() as server, running(tmp_path, target("a", server.url, **rules), clock=clock) as notifier:
        notifier.observe("prod", health(1, T0, bad=UNCOMMITTED))
        wait_until(lambda: status(notifier, "a").sent == 1)
        clock.now_ms += 60_000
        notifier.observe("prod", health(2, T0 + 60_000, bad=UNCOMMITTED))
        wait_until(lambda: len(server.got) == 2)
    assert events(server) == [("open", "bad"), ("repeat", "bad")]


@pytest.mark.parametrize("answer", ["hang", "garbage", 500, "nobody"])
def test_a_target_that_fails_delays_no_other(tmp_path: Path, answer: int | str) -> None:
    with http_server(answer) as bad, http_server() as good:
        url = f"http://127.0.0.1:{closed_port()}" if answer == "nobody" else bad.url
        with running(tmp_path, target("bad", url), target("good", good.url)) as notifier:
            notifier.observe("prod", health(1, T0, a=UNCOMMITTED, b=UNCOMMITTED))
            wait_until(lambda: len(good.got) == 2)
            failing = wait_until(
                lambda: one if (one := status(notifier, "bad")).error or one.sending_since_ms else None
            )
            assert failing is not None
            assert (failing.sent, bool(failing.error)) == (0, answer != "hang")
            assert status(notifier, "good").failures == 0


def test_a_target_that_comes_back_is_sent_what_is_true_then(tmp_path: Path) -> None:
    with http_server(503) as server, running(tmp_path, target("a", server.url)) as notifier:
        notifier.observe("prod", health(1, T0, a=UNCOMMITTED))
        wait_until(lambda: status(notifier, "a").error == "HTTP 503")
        server.answer = 200
        wait_until(lambda: status(notifier, "a").sent == 1)
        assert status(notifier, "a").error is None
    assert set(events(server)) == {("open", "a")}
    assert len({one["id"] for one in server.documents()}) == 1


def test_a_notice_that_is_refused_does_not_hold_up_the_next(tmp_path: Path) -> None:
    with http_server(400) as server, running(tmp_path, target("a", server.url)) as notifier:
        notifier.observe("prod", health(1, T0, a=UNCOMMITTED, b=UNCOMMITTED))
        wait_until(lambda: status(notifier, "a").refused == 2)
    assert sorted(events(server)) == [("open", "a"), ("open", "b")]


def test_no_secret_is_logged_or_shown(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fails(notice: Notice) -> None:
        raise RuntimeError(SECRET)

    caplog.set_level(logging.DEBUG, "app.notices")
    broken = Target("broken", "webhook", Rules(), fails)
    with running(tmp_path, broken, target("nobody", f"http://127.0.0.1:{closed_port()}")) as notifier:
        notifier.observe("prod", health(1, T0, a=UNCOMMITTED))
        wait_until(lambda: all(each.error for each in notifier.statuses()))
        assert SECRET not in repr(notifier.statuses()) + caplog.text
        assert status(notifier, "broken").error == "internal error (RuntimeError)"
        assert "target nobody: connection refused" in caplog.text
    assert SECRET not in (tmp_path / "state.json").read_text()


# -- the board, without threads ----------------------------------------------------------------------------------------


def board(folder: Path, its: Target, ids: str = "i") -> Board:
    numbers = itertools.count(1)
    return Board(Notices((its,), folder / "state.json"), ["prod"], Clock(), lambda: f"{ids}-{next(numbers)}")


def test_the_id_is_stored_before_the_first_notice_is_sent(tmp_path: Path) -> None:
    its = target("a", "http://x")
    first = board(tmp_path, its)
    first.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = first.due(its)
    assert found is not None
    first.begin(its, found[0])  # and here the process is killed
    again = board(tmp_path, its, "other")
    again.observe("prod", health(1, T0 + 1, bad=UNCOMMITTED))
    assert [one.id for one in again.incidents.values()] == ["i-1"]
    assert again.due(its) is not None


def test_a_notice_has_the_evidence_of_the_last_poll(tmp_path: Path) -> None:
    its = target("a", "http://x")
    made = board(tmp_path, its)
    for number, records in enumerate((1_000, 2_000), start=1):
        made.observe("prod", judged([cluster({"bad": UNCOMMITTED}, {"orders-0": end(records)}, number, T0 + number)]))
    found = made.due(its)
    assert found is not None
    assert "2,000" in found[0].evidence


def test_what_ends_while_its_begin_is_sent_is_ended_at_the_target(tmp_path: Path) -> None:
    its = target("a", "http://x")
    made = board(tmp_path, its)
    made.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = made.due(its)
    assert found is not None
    made.begin(its, found[0])
    for number in (2, 3):
        made.observe("prod", health(number, T0 + number, bad=OK))
    made.confirm(its, found[0])
    ended = made.due(its)
    assert ended is not None
    assert (ended[0].id, ended[1]) == ("i-1", "close")


def test_what_never_arrived_is_not_ended_at_the_target(tmp_path: Path) -> None:
    its = target("a", "http://x")
    made = board(tmp_path, its)
    made.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = made.due(its)
    assert found is not None
    made.begin(its, found[0])
    made.withdraw(its, found[0])
    made.observe("prod", health(2, T0 + 2, bad=OK))
    assert made.due(its) is None


# -- the state file ----------------------------------------------------------------------------------------------------


def test_only_the_owner_can_read_the_state(tmp_path: Path) -> None:
    kept = {"i-1": incident(deliveries={}), "i-2": incident(id="i-2", closed_ms=T0 + 5)}
    save_state(tmp_path / "s.json", kept)
    assert stat.S_IMODE((tmp_path / "s.json").stat().st_mode) == 0o600
    assert load_state(tmp_path / "s.json") == kept
    assert [path.name for path in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 1, "incidents": [{}]}', '{"schema": 2}', "\xff"])
def test_a_state_that_is_broken_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"state\.json"):
        board(tmp_path, target("a", "http://x"))


def test_a_state_that_cannot_be_written_is_refused_at_the_start_and_shown_later(tmp_path: Path) -> None:
    its = target("a", "http://x")
    made = board(tmp_path, its)
    (tmp_path / "state.json").unlink()
    (tmp_path / "state.json").mkdir()
    made.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = made.due(its)
    assert found is not None
    made.begin(its, found[0])
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]
    assert "cannot be written" in str(made.problem)
    with pytest.raises(ConfigError, match="cannot be"):
        board(tmp_path, its)


def test_the_state_of_the_file_is_json_with_a_schema(tmp_path: Path) -> None:
    save_state(tmp_path / "s.json", {})
    assert json.loads((tmp_path / "s.json").read_bytes()) == {"schema": 1, "incidents": []}
