"""The tools on a hand-made cluster: exact answers in the forms of the HTTP API, and errors that name the argument."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from app.server.api.endpoints import advice, whatif
from app.server.api.worker import tasks
from app.server.api.worker.computation import computed
from app.server.source import Source
from app.server.tools import protocol
from app.server.tools.catalog import TOOLS
from app.server.tools.tool import Tool
from assignors.scenario.syntax import MOST_BYTES
from lag.errors import ConnectError
from lag.verdict.health import PartitionHealth, PartitionHealths
from tests.app import feeds
from tests.app.server.api import conformity
from tests.app.server.api.reports import NOW_MS, installed, report
from tests.app.server.tools import hand_made
from tests.app.server.tools.clients import SERVER, ask, document, over_http, refused, run_apart
from tests.support.random_examples import random_examples

GROUPS = "/clusters/demo/groups"
JOINS = {"at": "5s", "join": {"id": "m2", "topics": ["orders"]}}
SMALL = {
    "schema_version": 1,
    "name": "two",
    "assignor": "range",
    "topics": [{"name": "t", "partitions": 2}],
    "members": [{"id": "a", "topics": ["t"]}],
    "events": [{"at": "5s", "join": {"id": "b", "topics": ["t"]}}],
}


@pytest.fixture(scope="module")
def made() -> Source:
    return hand_made.source()


@pytest.fixture(autouse=True)
def served(made: Source) -> Iterator[Source]:
    with installed(made):
        yield made


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_listed_and_only_read(mode: str) -> None:
    async def listed(client: Client) -> Any:
        return (await client.list_tools()).tools

    found = over_http(listed, mode)
    assert [tool.name for tool in found] == [
        "list_groups",
        "why",
        "lag",
        "generations",
        "what_if",
        "simulate",
        "advise",
    ]
    assert all(tool.annotations.read_only_hint for tool in found)
    for tool in found:
        assert tool.input_schema["additionalProperties"] is False
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("name", "arguments", "path", "query", "page"),
    [
        ("list_groups", {}, GROUPS, "", "/?cluster=demo"),
        ("list_groups", {"cluster": "demo", "verdict": ["no_members"]}, GROUPS, "verdict=no_members", "/?cluster=demo"),
        ("list_groups", {"sort": "urgency", "limit": 2}, GROUPS, "sort=urgency&limit=2", "/?cluster=demo"),
        ("lag", {"group": "billing"}, f"{GROUPS}/billing/partitions", "", "/group?cluster=demo&group=billing"),
        (
            "lag",
            {"group": "reports", "topic": "gone"},
            f"{GROUPS}/reports/partitions",
            "topic=gone",
            "/group?cluster=demo&group=reports",
        ),
        (
            "generations",
            {"group": "billing", "limit": 1},
            f"{GROUPS}/billing/generations",
            "limit=1",
            "/generations?cluster=demo&group=billing",
        ),
    ],
)
def test_an_answer_is_that_of_the_api_with_a_link(
    name: str, arguments: dict[str, Any], path: str, query: str, page: str
) -> None:
    assert ask(name, **arguments) == {"page": SERVER + page, "notes": [], "result": conformity.ask(path, query).json}


def test_the_whole_answer_to_why() -> None:
    partition = conformity.ask(f"{GROUPS}/reports/partitions").json["partitions"]
    (group,) = conformity.ask(GROUPS, "text=reports").json["groups"]
    assert ask("why", group="reports") == {
        "page": f"{SERVER}/group?cluster=demo&group=reports",
        "notes": [],
        "result": {
            "cluster": "demo",
            "number": 40,
            "at_ms": NOW_MS,
            "group": group,
            "hint": None,
            "unhealthy_partitions": 2,
            "partitions": [partition[1], partition[0]],
        },
    }
    assert group["health"]["evidence"].startswith("the group is Empty and 9,000 records behind")


def test_why_answers_the_most_urgent_partitions_and_counts_all() -> None:
    found = ask("why", group="reports", limit=1)["result"]
    assert [(row["topic"], row["health"]["verdict"]) for row in found["partitions"]] == [("orders", "no_members")]
    assert found["unhealthy_partitions"] == 2


def test_why_makes_only_the_partitions_that_it_answers(made: Source) -> None:
    read, counted = report(), list[int]()

    def partitions(number: int) -> PartitionHealths:
        found = read.health.group_partitions(number)

        def make(at: int) -> PartitionHealth:
            counted.append(at)
            return found[at]

        return PartitionHealths(found.status, make)

    watched = replace(read, health=replace(read.health, group_partitions=partitions))
    with installed(replace(made, feeds={"demo": feeds.HandFeed(watched)})):
        assert ask("why", group="reports", limit=1)["result"]["unhealthy_partitions"] == 2
    assert counted == [1]


def test_a_group_with_too_few_polls_has_no_verdict_and_no_hint(made: Source) -> None:
    with installed(replace(made, feeds={"demo": feeds.HandFeed(report(polls=2))})):
        found = ask("why", group="billing")["result"]
    assert (found["group"]["verdict"], found["hint"]) == (None, None)


@pytest.mark.process
def test_a_live_group_with_events_is_a_what_if() -> None:
    answer = ask("what_if", group="billing", events=[JOINS], assignor=["roundrobin"])
    live = conformity.ask(f"{GROUPS}/billing/scenario").json
    made = answer["result"]["assignors"]["roundrobin"]["generations"]
    assert [(each["event"], each["assignment"]) for each in made] == [
        ("initial state", {"m0": [["orders", 0]], "m1": [["orders", 1]]}),
        ("m2 joins", {"m0": [["orders", 0]], "m1": [["orders", 1]], "m2": []}),
    ]
    assert answer["notes"] == live["notes"] != []
    assert answer["page"] == f"{SERVER}/whatif?cluster=demo&group=billing"


@pytest.mark.process
@pytest.mark.parametrize("scenario", [SMALL, json.dumps(SMALL)])
def test_a_scenario_that_is_given_is_the_api_s_what_if(scenario: Any) -> None:
    expected = conformity.post("/what-if", json.dumps(SMALL).encode(), "assignor=all").json
    assert ask("what_if", scenario=scenario, assignor=["all"]) == {
        "page": f"{SERVER}/whatif",
        "notes": [],
        "result": expected,
    }


@pytest.mark.process
def test_a_simulation_is_that_of_the_api() -> None:
    expected = conformity.post("/simulate", json.dumps(SMALL).encode(), "protocol=consumer&seed=3").json
    assert ask("simulate", scenario=SMALL, protocol=["consumer"], seed=3)["result"] == expected


@pytest.mark.process
def test_advice_names_settings_and_never_repeats_values() -> None:
    properties = "session.timeout.ms=1000\nsasl.jaas.config=s3cret\ns3cret line"
    answer = ask("advise", properties=properties)
    first = answer["result"]["findings"][0]
    assert (first["severity"], first["setting"], answer["page"]) == (
        "error",
        "heartbeat.interval.ms",
        f"{SERVER}/advice",
    )
    assert "s3cret" not in json.dumps(answer)
    assert "s3cret" not in json.dumps(refused("advise", properties={"sasl.jaas.config": "s3cret"}))


@pytest.mark.parametrize(
    ("name", "arguments", "field"),
    [
        ("list_groups", {"limit": 0}, "arguments.limit"),
        ("list_groups", {"verdict": ["bad"]}, "arguments.verdict.0"),
        ("list_groups", {"stat": "Empty"}, "arguments.stat"),
        ("why", {}, "arguments.group"),
        ("lag", {"group": 7}, "arguments.group"),
        ("generations", {"group": "billing", "offset": -1}, "arguments.offset"),
        ("what_if", {}, "arguments.scenario"),
        ("what_if", {"scenario": SMALL, "group": "billing"}, "arguments.scenario"),
        ("what_if", {"scenario": SMALL, "events": [JOINS]}, "arguments.events"),
        ("what_if", {"scenario": SMALL, "assignor": ["os:system"]}, "arguments.assignor.0"),
        ("what_if", {"scenario": {**SMALL, "nam": 1}}, "arguments.scenario.nam"),
        ("what_if", {"scenario": " " * (MOST_BYTES + 1)}, "arguments.scenario"),
        ("what_if", {"group": "billing", "events": [{"at": "x"}]}, "arguments.events[0].at"),
        ("simulate", {"scenario": SMALL, "seed": -1}, "arguments.seed"),
        ("advise", {"properties": "", "workload": {"batch_ms": 0}}, "arguments.workload.batch_ms"),
        ("advise", {"properties": "a=\\u12"}, "arguments.properties"),
    ],
)
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, Any], field: str) -> None:
    problem = refused(name, **arguments)
    assert (problem["status"], problem["errors"][0]["field"]) == (400, field)


@pytest.mark.parametrize(
    ("arguments", "detail"),
    [
        ({"group": "biling"}, "There is no group 'biling'. Did you mean 'billing'?"),
        ({"group": "billing", "cluster": "dem"}, "There is no cluster 'dem'. Did you mean 'demo'?"),
        ({"group": "billing", "topic": "order"}, "There is no topic 'order'. Did you mean 'orders'?"),
    ],
)
def test_what_is_not_there_is_named(arguments: dict[str, Any], detail: str) -> None:
    problem = refused("lag", **arguments)
    assert (problem["status"], problem["detail"]) == (404, detail)


def test_of_several_clusters_one_must_be_named(made: Source) -> None:
    with installed(replace(made, feeds={**made.feeds, "second": feeds.HandFeed()})):
        problem = refused("list_groups")
        assert ask("list_groups", cluster="demo")["result"]["total"] == 5
        assert refused("list_groups", cluster="second")["detail"] == "second has not been read yet."
    assert problem["detail"] == "arguments.cluster: Required. The clusters are demo, second"


def test_a_tool_that_is_not_there_is_named() -> None:
    async def talk(client: Client) -> None:
        with pytest.raises(MCPError, match=r"There is no tool 'whi'\. Did you mean 'why'\?"):
            await client.call_tool("whi", {})

    over_http(talk)


def test_a_name_that_is_no_unicode_is_answered(made: Source) -> None:
    read = report()
    groups = (replace(read.snapshot.groups[0], group_id="odd\udc80"), *read.snapshot.groups[1:])
    odd = replace(read, snapshot=replace(read.snapshot, groups=groups))
    with installed(replace(made, feeds={"demo": feeds.HandFeed(odd)})):
        assert "odd?" in [group["group_id"] for group in ask("list_groups", internal=True)["result"]["groups"]]


def test_an_answer_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_ANSWER_BYTES", 1_000)
    problem = refused("list_groups")
    assert (problem["status"], problem["detail"][:17]) == (413, "The answer has 3,")


@pytest.mark.process
@pytest.mark.usefixtures("workers")
def test_a_what_if_has_a_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatif, "computed", partial(computed, deadline_s=0.01))
    problem = refused("what_if", scenario=SMALL)
    assert (problem["status"], problem["detail"][:31]) == (504, "There was no result after 0.01 ")


def test_a_bug_is_answered_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_self: object) -> object:
        raise RuntimeError("s3cret")

    monkeypatch.setattr(feeds.HandFeed, "latest", broken)
    assert refused("list_groups")["detail"] == "Internal error. See the server's log."


class LateFeed(feeds.HandFeed):
    """Has its report, or the error of the first poll, at the third look."""

    looks = 0

    def latest(self) -> Any:
        self.looks += 1
        return self.report if self.looks > 2 else None


def first_call(feed: feeds.HandFeed) -> Any:
    """The answer to the first call of a server that waits for the first poll."""

    async def talk() -> Any:
        async with Client(protocol.tool_server(None, first_poll_s=30.0)) as client:
            return document(await client.call_tool("list_groups", {}))

    with installed(feeds.source(demo=feed)):
        return run_apart(talk)


def test_the_first_call_waits_for_the_first_poll() -> None:
    answer = first_call(LateFeed(report()))
    assert (answer["page"], answer["result"]["total"]) == (None, 5)


def test_the_first_call_says_why_the_cluster_cannot_be_read() -> None:
    problem = first_call(feeds.HandFeed(error=ConnectError("b1:9092 refuses the connection")))
    assert (problem["status"], problem["detail"]) == (503, "demo has not been read yet: b1:9092 refuses the connection")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["billing", "demo", "all"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Tool[Any], dict[str, Any]]:
    """A tool with some arguments, of which some may be right."""
    tool = draw(st.sampled_from(TOOLS))
    names = st.sampled_from(sorted(tool.arguments.model_fields)) | st.text(max_size=5)
    return tool, draw(st.dictionaries(names, ANYTHING | st.just(SMALL), max_size=4))


@random_examples(150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked())
def test_whatever_is_asked_is_answered_or_refused_with_a_reason(
    monkeypatch: pytest.MonkeyPatch, case: tuple[Tool[Any], dict[str, Any]]
) -> None:
    for module in (whatif, advice):
        monkeypatch.setattr(module, "computed", in_process)
    tool, arguments = case

    async def talk() -> CallToolResult:
        async with Client(protocol.tool_server(SERVER)) as client:
            return await client.call_tool(tool.name, arguments)

    answer = run_apart(talk)
    if answer.is_error:
        problem = document(answer)
        assert problem["status"] in (400, 404, 413)
        assert all(error["field"].startswith("arguments") for error in problem["errors"])
    else:
        Draft202012Validator(tool.output_schema).validate(document(answer))


def in_process(task: str, body: bytes, options: Any) -> bytes:
    """What a worker process answers, without the process."""
    return tasks.answer({"task": task, "options": json.loads(json.dumps(options)), "deadline_s": 30.0}, body)
