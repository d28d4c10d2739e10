"""The tools on a real broker: over stdio and over HTTP they answer with the figures of the API."""

import json
import signal
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import confluent_kafka
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from lag.embedded.broker import EmbeddedKafka
from tests.app.cli.commandline import running
from tests.app.server.tools.clients import calls, document, run_apart
from tests.lag.pipeline.broker_side import commit, create_topic
from tests.support.forge import COMMAND
from tests.support.member import Member
from tests.support.waiting import wait_until

TOPIC, READERS, NOBODY = "tools-orders", "tools-readers", "tools-nobody"
PROPERTIES = "session.timeout.ms=1000\nheartbeat.interval.ms=300"
Answers = Mapping[str, Any]


@pytest.fixture
def groups(kafka: EmbeddedKafka) -> Iterator[str]:
    """A group with two members that is 12 records behind, and one without members that is 15 behind."""
    servers = kafka.bootstrap_servers
    create_topic(servers, TOPIC, 2)
    producer = confluent_kafka.Producer({"bootstrap.servers": servers})
    for number in range(20):
        producer.produce(TOPIC, b"x", partition=number % 2)
    producer.flush()
    commit(servers, NOBODY, {(TOPIC, 0): 2, (TOPIC, 1): 3})
    settings = {"enable.auto.commit": False, "partition.assignment.strategy": "range"}
    members = [Member(servers, READERS, [TOPIC], {**settings, "client.id": name}) for name in "ab"]
    try:
        wait_until(lambda: all(len(member.held) == 1 for member in members), within_s=60)
        for member in members:
            ((topic, partition),) = member.held
            member.commit(topic, partition, 4)
        yield servers
    finally:
        for member in members:
            member.leave()


def asked(scenario: Any) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """The calls; one member of the scenario leaves."""
    events = [{"at": "5s", "leave": scenario["members"][0]["id"]}]
    return (
        ("list_groups", {"text": TOPIC}),
        ("why", {"group": NOBODY}),
        ("lag", {"group": READERS}),
        ("generations", {"group": READERS}),
        ("what_if", {"scenario": {**scenario, "events": events}, "assignor": ["range", "sticky"]}),
        ("simulate", {"group": READERS, "events": events, "seed": 7}),
        ("advise", {"properties": PROPERTIES}),
    )


def of_api(url: str, cluster: str, scenario: Any) -> Answers:
    """What the API answers to the same questions."""
    events = [{"at": "5s", "leave": scenario["members"][0]["id"]}]
    group = f"/clusters/{cluster}/groups/{READERS}"
    changed = {**scenario, "events": events}
    return {
        "list_groups": api(url, f"/clusters/{cluster}/groups?text={TOPIC}"),
        "why": {"group": api(url, f"/clusters/{cluster}/groups/{NOBODY}")},
        "lag": api(url, f"{group}/partitions"),
        "generations": api(url, f"{group}/generations"),
        "what_if": api(url, "/what-if?assignor=range&assignor=sticky", changed),
        "simulate": api(url, "/simulate?seed=7", changed),
        "advise": api(url, "/advice", {"properties": PROPERTIES}),
    }


def api(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/api/v1{path}", data, {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
        return json.load(answer)


def over_http(url: str, scenario: Any) -> Answers:
    async def run() -> Answers:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as http:
            return await of_tools(streamable_http_client(f"{url}/mcp", http_client=http), scenario)

    return run_apart(run)


def over_stdio(servers: str, scenario: Any, policy: str) -> Answers:
    args = ["mcp", "--bootstrap-server", servers, "--interval", "1"]
    server = StdioServerParameters(command=COMMAND, args=args, env={"GROUPSCOPE_POLICY": policy})
    return run_apart(lambda: of_tools(server, scenario))


async def of_tools(server: Any, scenario: Any) -> Answers:
    """What the tools of the server answer."""
    calling = asked(scenario)
    async with Client(server) as client:
        answers = [document(answer) for answer in await calls(*calling)(client)]
    return {name: answer["result"] for (name, _), answer in zip(calling, answers, strict=True)}


def figures(answers: Answers) -> Mapping[str, Any]:
    """What does not change from poll to poll."""
    why, lag = answers["why"]["group"], answers["lag"]
    return {
        "groups": [(its["group_id"], its["state"], its["lag"]) for its in answers["list_groups"]["groups"]],
        "why": (why["verdict"], why["lag"], why["health"]["rule"], why["health"]["evidence"]),
        "lag": [(its["partition"], its["committed"], its["log_end"], its["member_id"]) for its in lag["partitions"]],
        "generations": [(its["number"], its["assignment"]) for its in answers["generations"]["generations"][:1]],
        "what_if": answers["what_if"],
        "simulate": [
            (name, its["summary"]["moved"], [(one["event"], one["assignment"]) for one in its["generations"]])
            for name, its in answers["simulate"]["protocols"].items()
        ],
        "advise": answers["advise"],
    }


@pytest.mark.broker
@pytest.mark.timeout(600)
def test_figures_over_stdio_and_http_are_those_of_the_api(groups: str, tmp_path: Path) -> None:
    args = ["serve", "--json", "--port", "0", "--interval", "1", "--bootstrap-server", groups]
    policy = tmp_path / "policy.yaml"
    policy.write_text("assumed_interval_s: 0\n")  # the group without members has committed a moment ago
    with running(tmp_path, *args, env={"GROUPSCOPE_MCP": "on", "GROUPSCOPE_POLICY": str(policy)}) as server:
        url = server.first_line()["dashboard"]
        (cluster,) = [each["cluster"] for each in wait_until(lambda: api(url, "/clusters")["clusters"])]
        path = f"/clusters/{cluster}/groups/{READERS}"
        wait_until(lambda: api(url, path)["lag"] == 12, within_s=60)
        wait_until(lambda: api(url, f"{path}/generations")["origin"] == "recorded", within_s=60)
        scenario = api(url, f"{path}/scenario")["scenario"]
        found = figures(of_api(url, cluster, scenario))
        assert found["groups"] == [(NOBODY, "Empty", 15), (READERS, "Stable", 12)]
        assert found["why"][:2] == ("no_members", 15)
        assert [row[:3] for row in found["lag"]] == [(0, 4, 10), (1, 4, 10)]
        assert figures(over_http(url, scenario)) == found
        assert figures(over_stdio(groups, scenario, str(policy))) == found
        assert server.ends(signal.SIGTERM) == 0
