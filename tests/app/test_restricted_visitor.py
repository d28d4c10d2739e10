"""A visitor of some groups reads no name of another one, wherever they look: pages, API, tools, metrics, downloads.

All that may not be seen has HIDDEN in its name: another group with its members, hosts and clients, a topic that only it
has committed and that was deleted, and another cluster with all that it has.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

import pytest
from starlette.applications import Starlette

from app.pages import PAGES
from app.server import source
from app.server.access.access import Access
from app.server.access.visible import VisibleControls
from app.server.access.visitor import Grant, Role, Visitor, answering
from app.server.api.openapi import PREFIX
from app.server.api.routes import ENDPOINTS
from app.server.routes import ROUTES
from app.server.source import Source
from app.views.audit.parts import NOT_SHOWN
from lag.audit.event import AuditEvent, Outcome
from lag.embedded.workload import DemoMember, Readiness, Running, describe
from lag.errors import ConfigError, EmbeddedError
from lag.generations.live_group import TargetPartitions
from lag.model import GroupType, Member, Problem, Scope
from lag.polling.report import Report
from lag.polling.verdict_changes import VerdictChanges
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing
from tests.app import feeds
from tests.app.conftest import Open
from tests.app.demo import HandControls
from tests.app.reading import page_text, table, title
from tests.app.server.asgi_client import Asked, answer
from tests.app.server.client import Answer
from tests.app.server.tools.clients import calls, over_http
from tests.lag.make import cluster, deleted, end, group, tp

HIDDEN = "zqx"
NOW_MS = 1_795_258_817_000
SEEN = "billing"
VIEWER = Grant(Role.VIEWER, ("prod",), (SEEN,))


def member(name: str, topic: str) -> Member:
    return Member(
        f"m-{name}", f"c-{name}", f"10.0.0.9 {name}", f"i-{name}", assigned=(tp(f"{topic}-0"),), topics=(topic,)
    )


def report(of: str = "") -> Report:
    """Two groups that are not well, of which one is hidden; `of` is part of every name."""
    ring = SampleRing()
    ends = {f"orders{of}-0": end(9_000), f"orders{of}-1": end(9_000), f"gone-{HIDDEN}-0": deleted()}
    denied = Problem("offsets_unread", Scope.GROUP, f"search-{HIDDEN}", f"search-{HIDDEN} is not authorised")
    for poll in range(20):
        groups = {
            f"{SEEN}{of}": group({f"orders{of}-0": 5_000}, [member(f"seen{of}", f"orders{of}")]),
            f"search-{HIDDEN}": group(
                {f"orders{of}-0": 100 * poll, f"orders{of}-1": 7, f"gone-{HIDDEN}-0": 7},
                [member(HIDDEN, f"orders{of}")],
                type=GroupType.CONSUMER,
            ),
            f"empty-{HIDDEN}": group({f"orders{of}-0": 7}, members=0, state="Empty"),
        }
        read = cluster(groups, ends, poll + 1, NOW_MS + (poll - 19) * 10_000, problems=(denied,))
        window = ring.append(read)
    return Report(read, judge(read, window), window, ConfigError(f"policy.yaml line 3: search-{HIDDEN}"))


@pytest.fixture(scope="module")
def whole() -> Source:
    """A server with two clusters, a demo, an audit log, and a login."""
    prod, other = report(), report(f"-{HIDDEN}")
    kept = {name: VerdictChanges() for name in ("prod", f"east-{HIDDEN}")}
    kept["prod"].observe(prod.health)
    kept[f"east-{HIDDEN}"].observe(other.health)
    feed = feeds.HandFeed(prod, targets={f"m-{HIDDEN}": cast(TargetPartitions, {})})
    its = feeds.source(**{"prod": feed, f"east-{HIDDEN}": feeds.HandFeed(other)})
    log_of = f"The roles file is invalid: groups: search-{HIDDEN}"
    for event in (
        AuditEvent(NOW_MS, "login", Outcome.OK, "ann"),
        AuditEvent(NOW_MS, "request", Outcome.REFUSED, detail=f"GET /api/v1/clusters/prod/groups/search-{HIDDEN}: 401"),
        AuditEvent(NOW_MS, "roles", Outcome.REFUSED, detail=log_of),
        AuditEvent(NOW_MS, "reset", Outcome.OK, "ann", "", "prod", SEEN, "p-1", "Changes 1 of 2 partitions"),
        AuditEvent(NOW_MS, "reset", Outcome.FAILED, "ann", "", "prod", SEEN, "p-2", f"as those of search-{HIDDEN}"),
        AuditEvent(NOW_MS, "undo", Outcome.FAILED, "ann", "", "prod", SEEN, f"east-{HIDDEN}.json"),
        AuditEvent(NOW_MS, "reset", Outcome.OK, "ann", "", "prod", f"search-{HIDDEN}", "p-3", "Changes all"),
        AuditEvent(NOW_MS, "reset", Outcome.OK, "ann", "", f"east-{HIDDEN}", SEEN, "p-4", "Changes all"),
    ):
        its.audit.append(event)
    settings = its.settings.model_copy(update={"mcp": True})
    return replace(its, settings=settings, access=Access(settings), changes=kept, demo=cast(Any, HandControls()))


@pytest.fixture(autouse=True)
def _installed(whole: Source) -> Iterator[None]:
    source.install(whole)
    yield
    source.uninstall()


@pytest.fixture
def as_visitor(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Who has the pages from now on."""

    def logged_in(*grants: Grant) -> None:
        monkeypatch.setattr(source, "_visitor_of_page", lambda: Visitor("vera", "10.0.0.7", grants))

    return logged_in


def ask(path: str, query: str = "", grant: Grant = VIEWER, **headers: str) -> Answer:
    with answering(Visitor("vera", "10.0.0.7", (grant,))):
        return answer(Starlette(routes=ROUTES), Asked(path, query=query, headers=headers))


GETS = [
    endpoint.path.replace("{cluster}", "prod").replace("{group}", SEEN)
    for endpoint in ENDPOINTS
    if endpoint.method == "GET"
]


@pytest.mark.parametrize("path", [path for path in GETS if not path.endswith("/stream")])
def test_no_answer_of_the_api_names_what_is_hidden(path: str) -> None:
    given = ask(f"{PREFIX}{path}")
    assert given.status in (200, 404)
    assert HIDDEN not in given.text
    assert "secret" not in given.text


NEAR = (f"search-{HIDDEN[:-1]}", f"empty-{HIDDEN[:-1]}")
"""Names that differ in one letter from hidden ones."""


@pytest.mark.parametrize("name", NEAR)
@pytest.mark.parametrize("path", [path for path in GETS if SEEN in path])
def test_no_hidden_group_is_suggested(path: str, name: str) -> None:
    given = ask(f"{PREFIX}{path}".replace(SEEN, name))
    assert given.status == 404
    assert HIDDEN not in given.text


@pytest.mark.parametrize("place", ["", "/groups", "/changes", f"/groups/{SEEN}"])
def test_no_hidden_cluster_is_suggested_and_asking_for_it_says_no_more(place: str) -> None:
    near, hidden, missing = (
        ask(f"{PREFIX}/clusters/{name}{place}") for name in ("east-zq", f"east-{HIDDEN}", "west-abc")
    )
    assert (near.status, HIDDEN in near.text) == (404, False)
    assert hidden.text.replace(f"east-{HIDDEN}", "west-abc") == missing.text


@pytest.mark.parametrize("query", ["topic=gone-zqx", "topic=gone-zqx&partition=0", "sort=urgency", "contains=zqx"])
def test_no_filter_finds_what_is_hidden(query: str) -> None:
    for path in ("/clusters/prod/groups", f"/clusters/prod/groups/{SEEN}/partitions"):
        given = ask(f"{PREFIX}{path}", query)
        missing = ask(f"{PREFIX}{path}", query.replace(HIDDEN, "abc"))
        assert given.text.replace(HIDDEN, "abc") == missing.text


@pytest.mark.parametrize(
    "path", ["/metrics", "/v3/kafka", "/v3/kafka/prod/consumer", "/v3/kafka/prod/topic", "/api/ready"]
)
def test_no_metric_and_no_answer_for_burrow_names_what_is_hidden(path: str) -> None:
    given = ask(path, "names=all&granularity=partition" if path == "/metrics" else "")
    assert given.status in (200, 503)
    assert HIDDEN not in given.text
    assert path != "/metrics" or f'"{SEEN}"' in given.text


def test_metrics_and_snapshots_count_only_what_is_seen() -> None:
    """Two servers, of which one has the seen group alone, give the same."""
    text = ask("/metrics", "names=own").text
    assert 'groupscope_groups{cluster="prod",verdict="no_members"} 0' in text
    assert 'groupscope_snapshot_complete{cluster="prod"} 1' in text
    assert "groupscope_problems{" not in text
    assert ask(f"{PREFIX}/clusters/prod/groups").json["total"] == 1


def test_changes_are_the_same_whatever_hidden_groups_do(whole: Source) -> None:
    alone = VerdictChanges()
    seen = source.of_visitor(Visitor("vera", "", (VIEWER,)))
    alone.observe(seen.feeds["prod"].latest().health)  # type: ignore[union-attr]
    with_others = ask(f"{PREFIX}/clusters/prod/changes").text
    source.install(replace(whole, changes={"prod": alone}))
    assert json.loads(with_others)["changes"] != []
    assert with_others == ask(f"{PREFIX}/clusters/prod/changes").text
    assert len({one.group_id for one in whole.changes["prod"].after(0).changes}) > 1


TOOLS = (
    ("list_groups", {}),
    ("why", {"group": SEEN}),
    ("lag", {"group": SEEN}),
    ("generations", {"group": SEEN}),
    ("what_if", {"group": SEEN}),
    ("simulate", {"group": SEEN}),
    *((tool, {"group": name}) for tool in ("why", "lag", "generations", "what_if") for name in NEAR),
    ("list_groups", {"cluster": "east-zq"}),
)


@pytest.mark.parametrize(("tool", "arguments"), TOOLS)
def test_no_tool_names_what_is_hidden(tool: str, arguments: Mapping[str, Any], as_visitor: Any) -> None:
    as_visitor(VIEWER)
    (given,) = over_http(calls((tool, arguments)))
    text = given.model_dump_json()
    assert HIDDEN not in text.replace(json.dumps(arguments), "")


@pytest.mark.parametrize(
    "query", [{}, {"group": SEEN}, {"group": NEAR[0]}, {"cluster": "east-zq"}, {"topic": "orders"}]
)
@pytest.mark.parametrize("page", [info.name for info in PAGES])
def test_no_page_names_what_is_hidden(open_page: Open, whole: Source, as_visitor: Any, page: str, query: Any) -> None:
    for role in (Role.VIEWER, Role.ADMIN):
        as_visitor(replace(VIEWER, role=role))
        shown = open_page(page, whole, **query)
        assert not shown.exception
        assert HIDDEN not in everything(shown)


def test_who_sees_every_group_finds_these_names_in_all_these_places(
    open_page: Open, whole: Source, as_visitor: Any
) -> None:
    """Otherwise the tests above would find nothing anywhere."""
    as_visitor(Grant(Role.ADMIN))
    for page in ("overview", "about", "audit", "topics", "group", "reset"):
        assert f"search-{HIDDEN}" in everything(open_page(page, whole, cluster="prod"))
    for path in ("/clusters", "/clusters/prod", "/clusters/prod/groups", "/clusters/prod/changes"):
        assert HIDDEN in ask(f"{PREFIX}{path}", grant=Grant(Role.VIEWER)).text
    (listed,) = over_http(calls(("list_groups", {"cluster": "prod"})))
    assert HIDDEN in listed.model_dump_json()


def everything(shown: Any) -> str:
    """All that the page sent to the browser; tables, which are binary, as text."""
    tables = [element.value.to_csv() for element in shown.dataframe]
    return "\n".join([page_text(shown), *tables, *map(sent, blocks(shown._tree))])


def blocks(node: Any) -> Iterator[Any]:
    yield node
    for child in getattr(node, "children", {}).values():
        yield from blocks(child)


def sent(node: Any) -> str:
    return str(getattr(node, "proto", ""))


def test_an_admin_of_some_groups_reads_no_text_of_the_audit_log_that_may_name_others(
    open_page: Open, whole: Source, as_visitor: Any
) -> None:
    as_visitor(replace(VIEWER, role=Role.ADMIN))
    rows = table(open_page("audit", whole), "Events")
    assert sorted(zip(rows["action"], rows["detail"], strict=True)) == [
        ("login", ""),
        ("request", NOT_SHOWN),
        ("reset", "Changes 1 of 2 partitions"),
        ("reset", NOT_SHOWN),
        ("roles", NOT_SHOWN),
        ("undo", NOT_SHOWN),
    ]
    assert rows["plan"].dropna().tolist() == ["p-1"]
    as_visitor(Grant(Role.ADMIN))
    rows = table(open_page("audit", whole), "Events")
    assert len(rows) == 8
    assert NOT_SHOWN not in rows["detail"].tolist()


# -- the demo ----------------------------------------------------------------------------------------------------------


def test_the_demo_has_the_groups_that_the_visitor_may_operate(open_page: Open, whole: Source, as_visitor: Any) -> None:
    as_visitor(Grant(Role.OPERATOR, groups=("order-*",)), Grant(Role.VIEWER, groups=("payment-settlement",)))
    page = open_page("demo", whole, cluster="prod")
    assert page.selectbox(key="demo_group").options == ["order-fulfilment"]
    seen = [case.group_id for case in describe() if case.group_id.startswith(("order-", "payment-settlement"))]
    assert table(page, "Cases of the demo")["group"].tolist() == seen
    assert f"0 of {len(seen)} demo groups have the expected verdict" in title(page)
    as_visitor(Grant(Role.OPERATOR))
    assert len(table(open_page("demo", whole), "Cases of the demo")) == len(describe())


class Several(HandControls):
    """Two groups with a member each, of which one has not joined."""

    def readiness(self) -> Readiness:
        return Readiness(False, ("a-b-1", "c-1"), f"c-1 of {HIDDEN} failed")

    def running(self) -> Running:
        return Running(
            ("a-b", "c"), (DemoMember("a-b-1", "a-b", 1, "running"), DemoMember("c-1", "c", 2, "frozen")), (), ()
        )


def test_the_demo_acts_on_no_group_that_the_visitor_may_not_operate() -> None:
    controls = Several()
    its = VisibleControls(cast(Any, controls), "a-b".__eq__)
    assert its.readiness() == Readiness(False, ("a-b-1",), "See the log of the server.")
    assert (its.running().groups, [each.name for each in its.running().members]) == (("a-b",), ["a-b-1"])
    for of_member in (its.kill_member, its.freeze_member, its.thaw_member):
        of_member("a-b-1")
        with pytest.raises(EmbeddedError):
            of_member("c-1")
    for of_group in (its.add_member, its.stop_consuming, its.resume_consuming):
        of_group("a-b")
        with pytest.raises(EmbeddedError):
            of_group("c")
    assert {name for _, name in controls.asked} == {"a-b", "a-b-1"}
