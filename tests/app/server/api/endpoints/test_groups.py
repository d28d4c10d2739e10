"""Groups of a hand-made cluster: exact answers, filters, pages, and answers that are not sent twice."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest

from app.documents.snapshot import snapshot_document
from lag.partition_lag import totals
from lag.polling.report import Report
from lag.verdict import judge
from lag.verdict.health import PartitionHealth
from lag.verdict.rules.row_verdicts import RowVerdicts
from tests.app import feeds, synthetic
from tests.app.server.api.conformity import ask
from tests.app.server.api.reports import NOW_MS, ODD, ids, installed, report, source_of
from tests.app.server.client import Answer

GROUPS = "/clusters/demo/groups"


@pytest.fixture(scope="module")
def read() -> Report:
    return report()


@pytest.fixture(autouse=True)
def _served(read: Report) -> Iterator[None]:
    with installed(source_of(demo=read, second=None)):
        yield


def test_a_group_has_the_form_of_the_snapshot_command(read: Report) -> None:
    shown = list(zip(read.snapshot.groups, totals(read.snapshot), strict=True))
    printed = {each["group_id"]: each for each in snapshot_document(read.health, shown)["groups"]}
    for group_id, document in printed.items():
        found = ask(f"{GROUPS}/{quote(group_id, safe='')}").json
        health = found.pop("health")
        assert found == {**document, "members": [_lists(member) for member in document["members"]]}
        assert set(health["unhealthy"]) <= {"stopped", "never_committed", "no_members", "topic_deleted"}


def _lists(member: object) -> object:
    """JSON has no tuples."""
    if isinstance(member, dict):
        return {key: _lists(value) for key, value in member.items()}
    return [_lists(each) for each in member] if isinstance(member, list | tuple) else member


def test_the_whole_answer_of_one_group() -> None:
    assert ask(f"{GROUPS}/reports").json == {
        "group_id": "reports",
        "type": "classic",
        "state": "Empty",
        "coordinator": 1,
        "assignor": "range",
        "epoch": None,
        "assignment_epoch": None,
        "complete": True,
        "problems": [],
        "lag": 9_000,
        "lag_known": 1,
        "lag_partitions": 2,
        "lost": 0,
        "verdict": "no_members",
        "onset": {"at_ms": NOW_MS, "is_exact": False, "source": "window"},
        "members": [],
        "partitions": [
            {
                "topic": "gone",
                "partition": 0,
                "committed": 7,
                "log_start": None,
                "log_end": None,
                "last_stable": None,
                "lag": None,
                "lost": None,
                "problem": "topic_deleted",
                "member_id": None,
            },
            {
                "topic": "orders",
                "partition": 0,
                "committed": 900,
                "log_start": 0,
                "log_end": 9_900,
                "last_stable": 9_900,
                "lag": 9_000,
                "lost": 0,
                "problem": None,
                "member_id": None,
            },
        ],
        "health": {
            "rule": "records wait, and the group has no members",
            "evidence": "the group is Empty and 9,000 records behind (known for 1 of 2 partitions); "
            "largest: 9,000 records wait on orders-0, and the group has no members",
            "consumed_per_s": 0.0,
            "produced_per_s": 10.0,
            "time_lag": {
                "seconds": None,
                "error_bound_s": None,
                "at_least_s": 390.0,
                "reason": "the record is older than the first poll, 6 min 30 s ago",
            },
            "drains": False,
            "drain_s": None,
            "unhealthy": {"no_members": 1, "topic_deleted": 1},
            "time_to_loss": {"seconds": None, "at_most_s": None, "reason": "retention_unknown"},
        },
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["billing", "newcomer", "reports", "search", ODD]),
        ("internal=true", ["__internal", "billing", "newcomer", "reports", "search", ODD]),
        ("text=BILL", ["billing"]),
        ("text=click", ["newcomer", "search", ODD]),
        ("state=empty", ["reports"]),
        ("state=Empty&state=stable&type=consumer", ["search"]),
        ("verdict=stopped&verdict=no_members", ["billing", "reports"]),
        ("lag_at_least=9000", ["billing", "reports"]),
        ("lag_at_least=9001", ["billing"]),
        ("topic=gone", ["reports"]),
        ("topic=orders&verdict=ok", []),
        ("sort=urgency", ["billing", "newcomer", "reports", "search", ODD]),
        ("sort=urgency&verdict=no_members&internal=true", ["reports", "__internal"]),
    ],
)
def test_filters_are_those_of_the_overview(query: str, expected: list[str]) -> None:
    answer = ask(GROUPS, query).json
    assert ids(answer["groups"]) == expected
    assert (answer["total"], answer["next"]) == (len(expected), None)


def test_a_group_that_could_not_be_described_is_found_by_its_unknown_state(read: Report) -> None:
    groups = (replace(read.snapshot.groups[0], group_id="hidden", state=""), *read.snapshot.groups[1:])
    with installed(source_of(demo=replace(read, snapshot=replace(read.snapshot, groups=groups)))):
        assert ids(ask(GROUPS, "state=unknown").json["groups"]) == ["hidden"]


def test_pages_follow_each_other() -> None:
    first = ask(GROUPS, "limit=3").json
    second = ask(GROUPS, f"limit=3&offset={first['next']}").json
    assert ids(first["groups"]) + ids(second["groups"]) == ["billing", "newcomer", "reports", "search", ODD]
    assert (first["total"], first["next"], second["next"]) == (5, 3, None)
    assert ask(GROUPS, "offset=5").json["groups"] == []


def test_a_group_with_too_few_polls_has_no_verdict() -> None:
    with installed(source_of(demo=report(polls=2))):
        found = {each["group_id"]: each["verdict"] for each in ask(GROUPS).json["groups"]}
    assert found["billing"] is None
    assert found["reports"] == "no_members"


def test_partitions_are_those_of_the_topic_in_pages() -> None:
    of_billing = f"{GROUPS}/billing/partitions"
    found = ask(of_billing, "limit=1&offset=1").json
    assert [(row["topic"], row["partition"], row["lag"]) for row in found["partitions"]] == [("orders", 1, 4_900)]
    assert (found["total"], found["next"]) == (2, None)
    assert ask(of_billing, "topic=clicks").json["partitions"] == []
    (row,) = ask(f"{GROUPS}/reports/partitions", "topic=gone").json["partitions"]
    assert (row["problem"], row["health"]["verdict"]) == ("topic_deleted", "topic_deleted")


def test_only_the_partitions_of_the_page_are_made(read: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = list[int](), judge._Groups._partition

    def counted(groups: judge._Groups, rows: RowVerdicts, at: int, table_row: int, number: int) -> PartitionHealth:
        made.append(at)
        return make(groups, rows, at, table_row, number)

    monkeypatch.setattr(judge._Groups, "_partition", counted)
    assert len(ask(f"{GROUPS}/billing/partitions", "limit=1&offset=1").json["partitions"]) == 1
    assert made == [1]


def test_an_answer_is_not_sent_again_until_there_is_a_new_snapshot(read: Report) -> None:
    first = ask(GROUPS)
    tag = first.headers["etag"]
    assert tag == f'W/"demo.40.{NOW_MS}"'
    for given in (tag, f'"other", {tag}', tag.removeprefix("W/"), f'"other"\n{tag}', "*"):
        assert ask(GROUPS, headers={"If-None-Match": given}).status == 304
    with installed(source_of(demo=report(polls=41))):
        assert ask(GROUPS, headers={"If-None-Match": tag}).status == 200
    assert ask(f"{GROUPS}/biling", headers={"If-None-Match": tag}).status == 404


def test_an_answer_without_a_snapshot_is_not_sent_again_while_it_is_the_same() -> None:
    tag = ask("/clusters").headers["etag"]
    assert tag.startswith('W/"')
    assert ask("/clusters", headers={"If-None-Match": tag}).status == 304
    with installed(source_of(demo=None)):
        assert ask("/clusters", headers={"If-None-Match": tag}).status == 200


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/clusters/dem/groups", "There is no cluster 'dem'. Did you mean 'demo'?"),
        ("/clusters/dem", "There is no cluster 'dem'. Did you mean 'demo'?"),
        (f"{GROUPS}/biling", "There is no group 'biling'. Did you mean 'billing'?"),
        (f"{GROUPS}/{'x' * 300}/partitions", f"There is no group '{'x' * 59}…'."),
    ],
)
def test_what_is_not_there_is_named(path: str, detail: str) -> None:
    answer = ask(path)
    assert (answer.status, answer.json["detail"]) == (404, detail)


@pytest.mark.parametrize("path", [GROUPS, f"{GROUPS}/billing/partitions"])
def test_a_topic_that_is_not_there_is_named(path: str) -> None:
    for headers in ({}, {"If-None-Match": "*"}):
        answer = ask(path, "topic=order", headers)
        assert (answer.status, answer.json["detail"]) == (404, "There is no topic 'order'. Did you mean 'orders'?")


def test_a_cluster_that_was_not_read_yet_is_unavailable() -> None:
    answer: Answer = ask("/clusters/second/groups")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert answer.json["detail"] == "second has not been read yet."


def test_clusters_say_how_they_are_polled() -> None:
    first, second = ask("/clusters").json["clusters"]
    assert (first["cluster"], first["snapshot"]["groups"], first["snapshot"]["topics"]) == ("demo", 6, 2)
    assert (second["cluster"], second["snapshot"], second["polling"]["interval_s"]) == ("second", None, 10.0)
    assert ask("/clusters/demo").json == first


def test_the_synthetic_cluster_of_the_pages_answers_programs_too() -> None:
    with installed(feeds.source(demo=feeds.HandFeed(feeds.report()))):
        found = ask(GROUPS, "sort=urgency&internal=true").json["groups"]
        for each in found:
            path = f"{GROUPS}/{quote(each['group_id'], safe='')}"
            assert ask(path).json["verdict"] == each["verdict"]
            assert ask(f"{path}/partitions").json["total"] == each["lag_partitions"]
    assert len(found) == len(synthetic.specs())
