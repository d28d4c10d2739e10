"""The Audit page: the newest events, filters, and nothing for others than admins."""

from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pytest

from app.server import source
from app.server.settings import Settings
from app.views.audit import parts
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.audit.stored import AuditCopy
from lag.history.store import History
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import page_text, table, title


def with_events() -> source.Source:
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    for event in (
        AuditEvent(1_795_258_000_000, "login", Outcome.OK, "ann@example.com", "10.0.0.7"),
        AuditEvent(1_795_258_001_000, "request", Outcome.REFUSED, None, "10.0.0.8", detail="GET /: 421 not its Host"),
        AuditEvent(1_795_258_002_000, "reset", Outcome.OK, "ann@example.com", "10.0.0.7", "demo", "billing", "p-1"),
    ):
        its.audit.append(event)
    return its


def test_the_newest_events_come_first(open_page: Open) -> None:
    page = open_page("audit", with_events())
    assert title(page) == "3 events, 1 refused"
    rows = table(page, "Events")
    assert list(rows["action"]) == ["reset", "request", "login"]
    assert list(rows["actor"])[1:] == [None, "ann@example.com"]
    assert rows["plan"].iloc[0] == "p-1"
    assert "`--audit FILE` keeps them" in page_text(page)


def test_events_are_filtered_by_action_and_outcome(open_page: Open) -> None:
    page = open_page("audit", with_events(), action="login")
    assert list(table(page, "Events")["action"]) == ["login"]
    page = open_page("audit", with_events(), outcome="refused")
    assert list(table(page, "Events")["action"]) == ["request"]


def test_an_empty_log_says_so(open_page: Open) -> None:
    assert (
        title(open_page("audit", feeds.source(demo=feeds.HandFeed(feeds.report()))))
        == "There are no events in the audit log yet"
    )


def test_columns_in_which_nothing_stands_are_left_out(open_page: Open) -> None:
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    its.audit.append(AuditEvent(1_795_258_000_000, "reset", Outcome.OK, None, "", "demo", "billing", detail="Changes"))
    page = open_page("audit", its)
    assert list(table(page, "Events").columns) == ["at", "action", "outcome", "group", "detail", "cluster"]
    assert "This server has no login" in page_text(page)


def test_events_of_the_history_are_listed_with_those_not_copied_yet(open_page: Open, tmp_path: Path) -> None:
    log, history = AuditLog(tmp_path / "audit.jsonl"), History(tmp_path / "history")
    log.append(AuditEvent(1_795_258_000_000, "login", Outcome.OK, "ann"))
    log.append(AuditEvent(1_795_258_001_000, "reset", Outcome.OK, "ann"))
    AuditCopy(log, history).copy()
    (tmp_path / "audit.jsonl").unlink()  # as rotation does in time
    log.append(AuditEvent(1_795_258_002_000, "roles", Outcome.OK))
    page = open_page("audit", with_history(log, history))
    assert list(table(page, "Events")["action"]) == ["roles", "reset", "login"]
    assert "audit.jsonl` and in the history for 730 days." in page_text(page)
    page = open_page("audit", with_history(log, history), before="9999999999999")
    assert len(table(page, "Events")) == 3


def test_events_before_a_time_in_seconds_are_not_none_but_a_question(open_page: Open) -> None:
    page = open_page("audit", with_events(), before="1795258000")
    assert len(table(page, "Events")) == 3
    assert "`before=1795258000` is not a time in milliseconds since 1970. Is 1795258000 in seconds?" in page_text(page)


def test_older_events_are_listed_page_by_page(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST", 2)
    page = open_page("audit", with_events())
    assert list(table(page, "Events")["action"]) == ["reset", "request"]
    page = page.button(key="older_events").click().run()
    assert page.query_params["before"] == "1795258000001"
    assert list(table(page, "Events")["action"]) == ["login"]
    page = page.button(key="newest_events").click().run()
    assert list(table(page, "Events")["action"]) == ["reset", "request"]


def test_no_event_is_passed_over_between_two_pages(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two have the same time, and the newest is about a cluster that the visitor does not see."""
    monkeypatch.setattr(parts, "MOST", 2)
    its, first_ms = feeds.source(demo=feeds.HandFeed(feeds.report())), 1_795_258_000_000
    for action, after_ms in (("login", 0), ("roles", 1), ("reset", 1)):
        its.audit.append(AuditEvent(first_ms + after_ms, action, Outcome.OK))
    its.audit.append(AuditEvent(first_ms + 2, "token", Outcome.OK, cluster="other"))
    page = open_page("audit", its)
    listed = [*table(page, "Events")["action"]]
    for _ in range(2):
        page = page.button(key="older_events").click().run()
        listed.extend(table(page, "Events")["action"])
    assert set(listed) == {"login", "roles", "reset"}
    assert "older_events" not in {button.key for button in page.button}


def test_older_events_are_offered_where_newer_ones_are_stored_twice(
    open_page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "MOST", 2)
    log, history = AuditLog(tmp_path / "audit.jsonl"), History(tmp_path / "history")
    for action, after_ms in (("login", 0), ("roles", 1), ("reset", 2)):
        log.append(AuditEvent(1_795_258_000_000 + after_ms, action, Outcome.OK))
    assert log.path is not None
    again = AuditLog(Path(copyfile(log.path, tmp_path / "again.jsonl")))
    assert [AuditCopy(each, history).copy() for each in (log, again)] == [3, 3]
    page = open_page("audit", with_history(AuditLog(), history))
    page = page.button(key="older_events").click().run()
    assert list(table(page, "Events")["action"]) == ["login"]


def test_a_history_that_cannot_be_read_hides_no_event_of_the_log(open_page: Open, tmp_path: Path) -> None:
    log, blocked = AuditLog(tmp_path / "audit.jsonl"), tmp_path / "audit_events"
    log.append(AuditEvent(1_795_258_000_000, "login", Outcome.OK, "ann"))
    (blocked / "_delta_log").mkdir(parents=True)
    (blocked / "_delta_log" / "00000000000000000000.json").write_text("{")
    page = open_page("audit", with_history(log, History(tmp_path)))
    assert list(table(page, "Events")["action"]) == ["login"]
    assert "Events from the history are missing" in page_text(page)


def with_history(log: AuditLog, history: History) -> source.Source:
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    return replace(its, audit=log, settings=Settings(history=history.root))
