"""What is left of a report, and of everything made of it, for somebody who may see some groups."""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from app.documents.snapshot import partitions_document
from app.server import source
from app.server.access.access import Access
from app.server.access.visible import VisibleChanges, visible_report
from app.server.access.visitor import Grant, Role, Visitor, answering
from app.server.api.endpoints.groups import group_health, judged_summary, left_of
from app.server.routes import ROUTES
from app.server.settings import Settings
from lag.errors import ConfigError
from lag.lazy_sequence import LazySequence
from lag.model import UNAUTHORIZED, Problem, Scope
from lag.offsets import PartitionProblem, problem_code
from lag.polling.report import Report
from lag.polling.verdict_changes import VerdictChanges
from lag.verdict.health import Openings
from lag.verdict.status import Status
from tests.app import feeds, synthetic
from tests.app.server.api.reports import groups, report
from tests.app.server.asgi_client import Asked, answer
from tests.app.server.client import Answer
from tests.support.known import known

WHOLE = report()
NAMES = sorted(groups(0))


def documents(its: Report, group_id: str) -> Any:
    """All that the API says about a group."""
    number = its.snapshot.by_group[group_id]
    rows = its.snapshot.offsets.rows(number)
    return [
        judged_summary(its, number, left_of(its, number)),
        group_health(its.snapshot, its.health.groups[number], left_of(its, number)),
        partitions_document(its.snapshot, rows),
        [each.finding for each in its.health.partitions(its.snapshot.groups[number])],
        its.snapshot.groups[number].partitions[:],
        [column[rows].tolist() for column in its.window.committed],
        its.window.rows(rows).log_end.tolist(),
    ]


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_the_groups_that_may_be_seen_are_as_before_and_the_others_are_gone(seen: Sequence[str]) -> None:
    visible = visible_report(WHOLE, seen.__contains__)
    assert [group.group_id for group in visible.snapshot.groups] == sorted(seen)
    assert len(visible.snapshot.offsets) == int(visible.snapshot.offsets.bounds[-1]) == len(visible.window.end)
    assert len(visible.health.groups) == len(visible.health.columns.status) == len(seen)
    for name in seen:
        assert repr(documents(visible, name)) == repr(documents(WHOLE, name))
    for name in set(NAMES) - set(seen):
        assert visible.snapshot.group(name) is None
        assert visible.health.group(name) is None


def whole_report() -> Report:
    """A report in which every field has a value of its own: none is the default that it would have without one."""
    rows, groups = len(WHOLE.snapshot.offsets), len(WHOLE.snapshot.groups)
    polls = range(len(WHOLE.window.times_ms))
    held = tuple((np.arange(rows) + poll) % 3 == 0 for poll in polls)
    openings = Openings(frozenset(range(0, groups, 2)), dict.fromkeys(range(1, groups, 2), Status.STOPPED))
    remainders = np.arange(rows, dtype=np.uint8)
    problem = Problem("timeout", Scope.BROKER, "2", "no answer")
    snapshot = replace(WHOLE.snapshot, problems=(problem,), offsets_leaders=(1, None), complete=False)
    health = replace(WHOLE.health, snapshot=snapshot, openings=openings, remainders=remainders)
    return Report(snapshot, health, replace(WHOLE.window, held=held), ConfigError("line 3: groups: 'search-*'"))


WITHHELD = {"health.needs_marker_check", "health.onsets", "policy_problem"}
"""What only the next poll needs of the verdicts, and what may name a group."""


def columns_of(its: Any, path: str = "") -> dict[str, Any]:
    """Every field of the report, by its path; tables are taken apart."""
    found: dict[str, Any] = {}
    for name in getattr(its, "_fields", None) or [field.name for field in fields(its)]:
        value = getattr(its, name)
        is_table = is_dataclass(value) or hasattr(value, "_fields")
        if f"{path}{name}" not in WITHHELD:
            found |= columns_of(value, f"{path}{name}.") if is_table else {f"{path}{name}": value}
    return found


def text_of(value: Any, call: int) -> str:
    """For comparison; `group_partitions` is what it returns for a number."""
    if callable(value):
        value = [repr(one) for one in value(call)]
    return repr(list(value) if isinstance(value, LazySequence) else value)


def test_who_sees_every_group_has_every_column_as_it_is() -> None:
    """Fails where a column was added to a table and forgotten in `visible`."""
    whole = whole_report()
    seen = columns_of(visible_report(whole, lambda _group_id: True))
    for path, value in columns_of(whole).items():
        assert text_of(seen[path], 1) == text_of(value, 1), path


def test_each_field_of_the_report_of_that_test_differs_from_its_default() -> None:
    whole = whole_report()
    for table in (whole, whole.snapshot, whole.snapshot.offsets, whole.health, whole.window):
        for field in fields(table):
            if field.init and field.name not in ("needs_marker_check", "onsets"):
                default = field.default_factory() if field.default_factory is not MISSING else field.default
                assert repr(getattr(table, field.name)) != repr(default), field.name


@given(st.lists(st.sampled_from(NAMES), unique=True))
def test_every_column_has_the_rows_of_the_groups_that_may_be_seen(seen: Sequence[str]) -> None:
    whole = whole_report()
    visible = visible_report(whole, seen.__contains__)
    assert visible.health.openings is not None
    for name in seen:
        number, before = visible.snapshot.by_group[name], whole.snapshot.by_group[name]
        rows, old = visible.snapshot.offsets.rows(number), whole.snapshot.offsets.rows(before)
        assert repr(columns_of(visible.window.rows(rows))) == repr(columns_of(whole.window.rows(old)))
        assert known(visible.health.remainders)[rows].tolist() == known(whole.health.remainders)[old].tolist()
        openings, all_openings = visible.health.openings, known(whole.health.openings)
        assert (number in openings.opened) == (before in all_openings.opened)
        assert openings.hidden.get(number) == all_openings.hidden.get(before)
    assert len(visible.window.held[0]) == len(visible.snapshot.offsets)
    assert sorted({*visible.health.openings.opened, *visible.health.openings.hidden}) == list(range(len(seen)))
    assert "search" not in str(visible.policy_problem)


def test_a_poll_is_complete_for_who_sees_all_that_could_be_read() -> None:
    groups = WHOLE.snapshot.groups
    denied = replace(groups[0], complete=False, problems=(Problem("gone", Scope.GROUP, groups[0].group_id, "…"),))
    snapshot = replace(WHOLE.snapshot, groups=(denied, *groups[1:]), problems=denied.problems, complete=False)
    ends = replace(snapshot.offsets.ends, problem=np.zeros_like(snapshot.offsets.ends.problem))
    snapshot = replace(snapshot, offsets=replace(snapshot.offsets, ends=ends))
    made = replace(WHOLE, snapshot=snapshot)
    assert not visible_report(made, denied.group_id.__eq__).snapshot.complete
    assert visible_report(made, denied.group_id.__ne__).snapshot.complete
    broken = replace(snapshot, problems=(*denied.problems, Problem("timeout", Scope.BROKER, "2", "no answer")))
    assert not visible_report(replace(made, snapshot=broken), denied.group_id.__ne__).snapshot.complete


def test_topics_that_only_the_commits_of_hidden_groups_name_are_gone() -> None:
    visible = visible_report(WHOLE, "billing".__eq__)
    ends = visible.snapshot.offsets.ends
    assert (WHOLE.snapshot.offsets.ends.topics, ends.topics) == (("clicks", "gone", "orders"), ("clicks", "orders"))
    assert [str(ends.tp(row)) for row in range(len(ends))] == ["clicks-0", "orders-0", "orders-1"]
    assert not ends.has("gone", 0)
    assert {len(ends.log_end), *map(len, visible.window.log_end), *map(len, visible.window.log_start)} == {3}
    assert visible_report(WHOLE, "reports".__eq__).snapshot.offsets.ends.has("gone", 0)


def test_of_topics_that_may_not_be_described_those_of_hidden_groups_are_not_named() -> None:
    table = WHOLE.snapshot.offsets
    code = problem_code(PartitionProblem.UNAUTHORIZED)
    offsets = replace(table, problem=np.full_like(table.problem, code))
    denied = Problem(UNAUTHORIZED, Scope.TOPIC, "gone, orders", "not authorised", affected=2)
    made = replace(WHOLE, snapshot=replace(WHOLE.snapshot, offsets=offsets, problems=(denied,)))
    (problem,) = visible_report(made, "billing".__eq__).snapshot.problems
    assert (problem.subject, problem.affected) == ("orders", 1)


def test_problems_name_only_groups_that_may_be_seen() -> None:
    specs = synthetic.specs()
    snapshot = synthetic.snapshot(specs)
    denied = [group.group_id for group in snapshot.groups if group.problems]
    assert denied
    made = Report(snapshot, synthetic.health(specs, snapshot), synthetic.window(specs, snapshot))
    hidden = visible_report(made, lambda group_id: group_id not in denied)
    assert not any(name in str(problem) for problem in hidden.snapshot.problems for name in denied)
    one = visible_report(made, lambda group_id: group_id == denied[0])
    assert denied[0] in " ".join(map(str, one.snapshot.problems))


def test_changes_of_other_groups_are_not_there() -> None:
    changes = VerdictChanges()
    changes.observe(WHOLE.health)
    names = {one.group_id for one in changes.after(0).changes}
    assert len(names) > 1
    seen = sorted(names)[0]
    visible = VisibleChanges(changes, seen.__eq__)
    assert {one.group_id for one in visible.after(0).changes} == {seen}
    assert visible.after(0).of(sorted(names)[1].__eq__).changes == []
    assert visible.after(2**53).after == changes.after(2**53).after > 0


def test_only_changes_of_groups_that_may_be_seen_are_missed() -> None:
    changes = VerdictChanges(most=1)
    changes.observe(WHOLE.health)
    *dropped, kept = sorted(changes.after(0).missed) + [one.group_id for one in changes.after(0).changes]
    assert len(dropped) > 1
    for name in dropped:
        assert VisibleChanges(changes, name.__eq__).after(0).missed == [name]
        assert VisibleChanges(changes, name.__eq__).after(0).of(kept.__eq__).missed == []
    assert VisibleChanges(changes, kept.__eq__).after(0).missed == []


# -- through the server ------------------------------------------------------------------------------------------------


def get(path: str, query: str = "") -> Answer:
    """The answer to whoever `answering` says: in this thread."""
    return answer(Starlette(routes=ROUTES), Asked(path, query=query))


SEEN, HIDDEN = "billing", "search"
OF_BILLING = Visitor("bob", "127.0.0.1", (Grant(Role.VIEWER, ("prod",), ("bill*",)),))


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    settings = Settings(tokens=None)
    changes = VerdictChanges()
    changes.observe(WHOLE.health)
    its = feeds.source(prod=feeds.HandFeed(WHOLE), other=feeds.HandFeed(report()))
    source.install(replace(its, access=Access(settings), changes={"prod": changes}))
    yield
    source.uninstall()


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/clusters",
        "/api/v1/clusters/prod",
        "/api/v1/clusters/prod/groups",
        "/api/v1/clusters/prod/groups/billing",
        "/api/v1/clusters/prod/changes",
        "/metrics",
        "/v3/kafka",
        "/v3/kafka/prod/consumer",
        "/v3/kafka/prod/topic/clicks/consumers",
    ],
)
def test_no_answer_names_a_group_or_cluster_that_may_not_be_seen(path: str) -> None:
    with answering(OF_BILLING):
        given = get(path, "names=all" if path == "/metrics" else "")
    text = given.text
    assert given.status == 200
    hidden = [name for name in (*NAMES, "other") if name != SEEN]
    assert [name for name in hidden if f'"{name}"' in text] == []


@pytest.mark.parametrize("place", ["", "/partitions", "/generations", "/scenario"])
def test_a_group_that_may_not_be_seen_is_as_one_that_does_not_exist(place: str) -> None:
    with answering(OF_BILLING):
        hidden, missing = (get(f"/api/v1/clusters/prod/groups/{name}{place}") for name in (HIDDEN, "no-such"))
        cluster, none = (get(f"/api/v1/clusters/{name}/groups") for name in ("other", "nowhere"))
        old = get(f"/v3/kafka/prod/consumer/{HIDDEN}"), get("/v3/kafka/prod/consumer/no-such")
    assert (hidden.status, hidden.text.replace(HIDDEN, "no-such")) == (missing.status, missing.text)
    assert (cluster.status, cluster.text.replace("other", "nowhere")) == (none.status, none.text)
    assert old[0].status == old[1].status


def test_users_who_see_every_group_get_the_same_answers_as_without_login() -> None:
    with answering(Visitor("ann", grants=(Grant(Role.VIEWER),))):
        text = get("/metrics", "names=all").text
        listed = get("/api/v1/clusters/prod/groups", "internal=true").json["total"]
    assert HIDDEN in text
    assert listed == len(NAMES)


def test_an_unknown_client_gets_nothing() -> None:
    assert source.current().feeds == {}
    assert get("/api/v1/clusters").json == {"clusters": []}


def test_the_tag_of_an_answer_is_another_one_for_other_grants() -> None:
    tags = []
    for grant in (Grant(Role.VIEWER), *OF_BILLING.grants):
        with answering(Visitor("x", grants=(grant,))):
            tags.append(get("/api/v1/clusters/prod/groups").headers["etag"])
    assert tags[0] != tags[1]


def test_each_report_is_filtered_once_for_all_visitors_with_the_same_grants() -> None:
    made = []
    for name in ("bob", "eve"):
        with answering(replace(OF_BILLING, name=name)):
            made.append(source.current().feeds["prod"].latest())
    assert made[0] is made[1]
    assert made[0] is not None
    assert np.array_equal(made[0].snapshot.offsets.bounds, [0, 2])
