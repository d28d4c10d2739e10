"""The Audit page: the newest events, filters, and nothing for others than admins."""

from app.server import source
from lag.audit.event import AuditEvent, Outcome
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.reading import said, table, title


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
    assert "`--audit FILE` keeps all" in said(page)


def test_events_are_filtered_by_action_and_outcome(open_page: Open) -> None:
    page = open_page("audit", with_events(), action="login")
    assert list(table(page, "Events")["action"]) == ["login"]
    page = open_page("audit", with_events(), outcome="refused")
    assert list(table(page, "Events")["action"]) == ["request"]


def test_an_empty_log_says_so(open_page: Open) -> None:
    assert (
        title(open_page("audit", feeds.source(demo=feeds.HandFeed(feeds.report()))))
        == "Nothing is in the audit log yet"
    )


def test_columns_in_which_nothing_stands_are_left_out(open_page: Open) -> None:
    its = feeds.source(demo=feeds.HandFeed(feeds.report()))
    its.audit.append(AuditEvent(1_795_258_000_000, "reset", Outcome.OK, None, "", "demo", "billing", detail="Changes"))
    page = open_page("audit", its)
    assert list(table(page, "Events").columns) == ["at", "action", "outcome", "group", "detail", "cluster"]
    assert "This server has no login" in said(page)
