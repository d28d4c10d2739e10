"""Polls become notices at real servers: one id to the end, also over a restart; who hangs delays nobody."""

import itertools
import json
import logging
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.notices.board import Board
from app.notices.due import Rules
from app.notices.forms import Webhook
from app.notices.messages import Undelivered
from app.notices.notice import Notice
from app.notices.notifier import Notifier
from app.notices.quiet import Maintenance
from app.notices.senders import send_http
from app.notices.store import load_state, save_state
from app.notices.targets import Notices, Target, load_notices
from app.notices.templates import Into, compiled
from app.notices.worker import TargetStatus, Worker
from lag.errors import ConfigError
from lag.verdict.catalogue import Severity
from lag.watched_file import Reading, WatchedFile
from tests.app.notices.made import GONE, OK, SECRET, T0, UNCOMMITTED, health, incident
from tests.lag.make import GroupSpec, cluster, end, judged
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
    reading = Reading(Notices(targets, folder / "state.json"))
    with Notifier(lambda: reading, ["prod"], clock or Clock()) as notifier:
        yield notifier


def events(server: Listener) -> list[tuple[str, str]]:
    return [(one["event"], one["group"]) for one in server.documents()]


def status(notifier: Notifier, name: str) -> TargetStatus:
    return next(each for each in notifier.statuses() if each.name == name)


def test_a_verdict_is_sent_once_and_so_is_its_end(tmp_path: Path) -> None:
    with http_server() as server, running(tmp_path, target("a", server.url)) as notifier:
        notifier.observe("prod", health(1, T0, bad=UNCOMMITTED, idle=GONE, good=OK))
        wait_until(lambda: len(server.got) == 1)
        notifier.observe("prod", health(2, T0 + 1, bad=UNCOMMITTED, idle=GONE, good=OK))
        notifier.observe("prod", health(3, T0 + 2, bad=OK, idle=GONE, good=OK))
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


# -- a file that changes while the server runs -------------------------------------------------------------------------


class Edited:
    """A notices file, and a notifier that reads it."""

    def __init__(self, path: Path) -> None:
        self._path, self._times, self._polls = path, itertools.count(10**9, 10**9), itertools.count(1)

    def write(self, *targets: tuple[str, str], more: str = "") -> None:
        """Webhooks of that name and URL."""
        listed = "".join(f"  - {{name: {name}, url: '{url}'}}\n" for name, url in targets)
        self._path.write_text(f"webhook:\n{listed}{more}")
        at_ns = next(self._times)
        os.utime(self._path, ns=(at_ns, at_ns))

    @contextmanager
    def read(self) -> Iterator[Notifier]:
        with Notifier(WatchedFile(self._path, load_notices).read, ["prod"], Clock()) as self.notifier:
            yield self.notifier

    def poll(self, **groups: GroupSpec) -> None:
        number = next(self._polls)
        self.notifier.observe("prod", health(number, T0 + number, **groups))


@pytest.fixture
def edited(tmp_path: Path) -> Edited:
    return Edited(tmp_path / "notices.yaml")


def test_a_target_that_is_added_is_sent_what_is_open_and_the_others_go_on(edited: Edited) -> None:
    with http_server() as old, http_server() as new:
        edited.write(("old", old.url))
        with edited.read() as notifier:
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "old").sent == 1)
            edited.write(("new", new.url), ("old", old.url))
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "new").sent == 1)
            edited.poll(bad=OK)
            wait_until(lambda: [each.sent for each in notifier.statuses()] == [2, 2])
    assert events(old) == events(new) == [("open", "bad"), ("close", "bad")]
    assert {one["id"] for one in old.documents()} == {one["id"] for one in new.documents()}


def test_a_target_that_is_removed_is_sent_nothing_and_one_that_returns_is_sent_the_end(edited: Edited) -> None:
    with http_server() as stays, http_server() as goes:
        edited.write(("stays", stays.url), ("goes", goes.url))
        with edited.read() as notifier:
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: [each.sent for each in notifier.statuses()] == [1, 1])
            edited.write(("stays", stays.url))
            edited.poll(bad=OK)
            wait_until(lambda: [each.sent for each in notifier.statuses()] == [2])
            assert events(goes) == [("open", "bad")]
            edited.write(("stays", stays.url), ("goes", goes.url))
            edited.poll(bad=OK)
            wait_until(lambda: status(notifier, "goes").sent == 1)
    assert events(goes) == [("open", "bad"), ("close", "bad")]
    assert events(stays) == [("open", "bad"), ("close", "bad")]


def test_a_corrected_address_is_used(edited: Edited) -> None:
    with http_server() as server:
        edited.write(("a", f"http://127.0.0.1:{closed_port()}"))
        with edited.read() as notifier:
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "a").failures)
            edited.write(("a", server.url))
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "a").sent == 1)
    assert events(server) == [("open", "bad")]


def test_a_broken_file_is_named_with_its_line_and_the_last_good_one_stays(
    edited: Edited, caplog: pytest.LogCaptureFixture
) -> None:
    with http_server() as server:
        edited.write(("a", server.url))
        with edited.read() as notifier:
            edited.write(("a", server.url), more="slck: []\n")
            edited.poll(bad=UNCOMMITTED)
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "a").sent == 1)
            assert "notices.yaml: line 3: slck" in str(notifier.file_problem)
            assert [record.levelname for record in caplog.records] == ["ERROR"]
            edited.write(("b", server.url))
            edited.poll(bad=UNCOMMITTED)
            assert notifier.file_problem is None
            assert [each.name for each in notifier.statuses()] == ["b"]


def test_another_state_file_takes_effect_at_the_next_start(edited: Edited) -> None:
    with http_server() as server:
        edited.write(("a", server.url))
        with edited.read() as notifier:
            edited.write(("b", server.url), more="state: other.json\n")
            edited.poll(bad=UNCOMMITTED)
            wait_until(lambda: status(notifier, "a").sent == 1)
            assert "`state`" in str(notifier.file_problem)


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


def test_what_ends_in_three_days_of_maintenance_is_ended_at_the_target_after_them(tmp_path: Path) -> None:
    its, clock, hour_ms = target("a", "http://x"), Clock(), 3600 * 1000
    until_ms = T0 + 72 * hour_ms
    notices = Notices((its,), tmp_path / "state.json", maintenance=(Maintenance(T0 + 1, until_ms),))
    made = Board(notices, ["prod"], clock, lambda: "i-1")
    made.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = made.due(its)
    assert found is not None
    made.begin(its, found[0])
    made.confirm(its, found[0])
    for number, hours in enumerate((1, 30, 71), start=2):
        clock.now_ms = T0 + hours * hour_ms
        made.observe("prod", health(number, clock.now_ms, bad=OK))
        assert made.due(its) is None
    made.save()
    clock.now_ms = until_ms
    ended = Board(notices, ["prod"], clock).due(its)
    assert ended is not None
    assert (ended[0].id, ended[0].closed_ms, ended[1]) == ("i-1", T0 + hour_ms, "close")


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


def test_an_end_follows_where_an_attempt_arrived_and_the_next_did_not(tmp_path: Path) -> None:
    answers = [Undelivered("no answer"), Undelivered("connection refused", never_arrived=True)]
    sent: list[str] = []

    def send(notice: Notice) -> None:
        sent.append(notice.event)
        if answers:
            raise answers.pop(0)

    its = Target("a", "webhook", Rules(), send)
    made = board(tmp_path, its)
    worker = Worker(its, made, Clock(), lambda: 0.0)
    made.observe("prod", health(1, T0, bad=UNCOMMITTED))
    for _ in range(2):
        worker._step()
    for number in (2, 3):
        made.observe("prod", health(number, T0 + number, bad=OK))
    worker._step()
    assert sent == ["open", "open", "close"]


def test_an_end_follows_where_an_attempt_before_a_crash_may_have_arrived(tmp_path: Path) -> None:
    refusals = [Undelivered("connection refused", never_arrived=True)]
    sent: list[tuple[str, str]] = []

    def send(notice: Notice) -> None:
        sent.append((notice.event, notice.incident.id))
        if refusals:
            raise refusals.pop()

    its = Target("a", "webhook", Rules(), send)
    killed = board(tmp_path, its)
    killed.observe("prod", health(1, T0, bad=UNCOMMITTED))
    found = killed.due(its)
    assert found is not None
    killed.begin(its, found[0])  # and here the process is killed
    made = board(tmp_path, its, "other")
    worker = Worker(its, made, Clock(), lambda: 0.0)
    made.observe("prod", health(1, T0 + 1, bad=UNCOMMITTED))
    worker._step()
    made.observe("prod", health(2, T0 + 2, bad=OK))
    worker._step()
    assert sent == [("open", "i-1"), ("close", "i-1")]


def test_an_incident_that_is_refused_again_and_again_holds_up_no_other(tmp_path: Path) -> None:
    taken: list[str] = []

    def send(notice: Notice) -> None:
        if notice.incident.group_id == "a":
            raise Undelivered("HTTP 500")
        taken.append(notice.incident.group_id)

    its = Target("a", "webhook", Rules(), send)
    made = board(tmp_path, its)
    worker = Worker(its, made, Clock(), lambda: 0.0)
    made.observe("prod", health(1, T0, a=UNCOMMITTED, b=UNCOMMITTED, c=UNCOMMITTED))
    for _ in range(5):
        worker._step()
    assert sorted(taken) == ["b", "c"]
    assert worker.status.error == "HTTP 500"


def test_a_change_of_the_file_ends_the_pause_before_a_retry(tmp_path: Path) -> None:
    made = board(tmp_path, target("a", "http://x"))
    pause = threading.Thread(target=made.wait, args=(60, False), daemon=True)
    pause.start()

    def ended() -> bool:
        made.change(Notices((), tmp_path / "state.json"))
        pause.join(0.05)
        return not pause.is_alive()

    wait_until(ended)


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
