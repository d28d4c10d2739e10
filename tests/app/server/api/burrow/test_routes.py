"""Burrow's endpoints answer as Burrow does: bodies to the letter, messages, and which 404 is an error."""

import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from app.server.api.burrow.routes import burrow_routes
from app.server.api.burrow.statuses import Commit, PartitionStatus
from lag.polling.report import Report
from tests.app.server.api.reports import NOW_MS, ODD, POLL_MS, installed, report, source_of
from tests.app.server.client import get, request

CONSUMER = "/v3/kafka/demo/consumer"


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    with installed(source_of(demo=report(), second=None)):
        yield


def ask(path: str, status: int = 200) -> dict[str, Any]:
    answer = get(path)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/json")
    found: dict[str, Any] = answer.json
    assert found.pop("request") == {"url": path, "host": socket.gethostname()}
    return found


def commit(offset: int, polls_ago: int, lag: int | None) -> dict[str, Any]:
    at_ms = NOW_MS - polls_ago * POLL_MS
    return {"offset": offset, "timestamp": at_ms, "observedAt": at_ms, "lag": lag}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v3/kafka", {"message": "cluster list returned", "clusters": ["demo", "second"]}),
        ("/v3/kafka/demo/topic", {"message": "topic list returned", "topics": ["clicks", "orders"]}),
        ("/v3/kafka/second/topic", {"message": "topic list returned", "topics": []}),
        ("/v3/kafka/demo/topic/orders", {"message": "topic offsets returned", "offsets": [9_900, 9_900]}),
        (
            "/v3/kafka/demo/topic/orders/consumers",
            {"message": "consumers of topic returned", "consumers": ["billing", "reports"]},
        ),
        ("/v3/kafka/demo/topic/gone/consumers", {"message": "consumers of topic returned", "consumers": []}),
        ("/v3/kafka/demo/topic/nothing/consumers", {"message": "consumers of topic returned", "consumers": []}),
        (
            CONSUMER,
            {"message": "consumer list returned", "consumers": ["__internal", "billing", "reports", "search", ODD]},
        ),
        (
            "/v3/kafka/demo",
            {
                "message": "cluster module detail returned",
                "module": {
                    "class-name": "kafka",
                    "servers": ["demo:9092"],
                    "client-profile": {"name": "", "client-id": "", "kafka-version": "", "tls": None, "sasl": None},
                    "topic-refresh": 10,
                    "offset-refresh": 10,
                },
            },
        ),
    ],
)
def test_lists_and_details(path: str, expected: dict[str, Any]) -> None:
    assert ask(path) == {"error": False, **expected}


def test_the_consumer_detail_has_ten_slots_a_partition() -> None:
    topics = ask(f"{CONSUMER}/billing")["topics"]
    assert topics["orders"][1] == {
        "offsets": [None] * 9 + [commit(5_000, 39, 1_000)],
        "owner": "10.0.0.1",
        "client_id": "c-m1",
        "current-lag": 4_900,
    }
    (moving,) = ask(f"{CONSUMER}/search")["topics"]["clicks"]
    assert moving["offsets"] == [commit(4_000 + 100 * at, 9 - at, 0) for at in range(10)]


def test_a_partition_that_the_group_never_had_is_empty() -> None:
    found = ask(f"{CONSUMER}/reports")["topics"]
    assert found["orders"][1] == {"offsets": [], "owner": "", "client_id": "", "current-lag": 0}
    assert list(found) == ["orders"]  # the other topic was deleted


def test_status_lists_partitions_above_ok_and_lag_lists_all() -> None:
    partition = {
        "topic": "orders",
        "partition": 0,
        "owner": "10.0.0.1",
        "client_id": "c-m0",
        "status": "STOP",
        "start": commit(5_000, 39, 1_000),
        "end": commit(5_000, 39, 1_000),
        "current_lag": 4_900,
        "complete": 0.1,
    }
    found = ask(f"{CONSUMER}/billing/status")
    assert found == {
        "error": False,
        "message": "consumer status returned",
        "status": {
            "cluster": "demo",
            "group": "billing",
            "status": "ERR",
            "complete": 0.0,
            "partitions": [partition, {**partition, "partition": 1, "client_id": "c-m1"}],
            "partition_count": 2,
            "maxlag": partition,
            "totallag": 9_800,
        },
    }
    status, lag = (ask(f"{CONSUMER}/search/{kind}")["status"] for kind in ("status", "lag"))
    assert (status["status"], status["complete"], status["partitions"]) == ("OK", 1.0, [])
    assert [(each["status"], each["complete"]) for each in lag["partitions"]] == [("OK", 1.0)]


@pytest.mark.parametrize("path", [f"{CONSUMER}/nobody", f"{CONSUMER}/newcomer", "/v3/kafka/nowhere/consumer/billing"])
@pytest.mark.parametrize("kind", ["status", "lag"])
def test_an_unknown_group_is_404_and_yet_no_error(path: str, kind: str) -> None:
    _, _, _, cluster, _, group = path.split("/")
    assert ask(f"{path}/{kind}", 404) == {
        "error": False,
        "message": "consumer status returned",
        "status": {
            "cluster": cluster,
            "group": group,
            "status": "NOTFOUND",
            "complete": 1.0,
            "partitions": [],
            "partition_count": 0,
            "maxlag": None,
            "totallag": 0,
        },
    }


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/v3/kafka/nowhere", "cluster module not found"),
        ("/v3/kafka/nowhere/topic", "cluster not found"),
        ("/v3/kafka/nowhere/topic/orders", "cluster or topic not found"),
        ("/v3/kafka/demo/topic/nothing", "cluster or topic not found"),
        ("/v3/kafka/nowhere/topic/orders/consumers", "cluster not found"),
        ("/v3/kafka/nowhere/consumer", "cluster not found"),
        ("/v3/kafka/nowhere/consumer/billing", "cluster or consumer not found"),
        (f"{CONSUMER}/nobody", "cluster or consumer not found"),
        (f"{CONSUMER}/newcomer", "cluster or consumer not found"),
    ],
)
def test_what_is_not_found_is_an_error_with_burrows_message(path: str, message: str) -> None:
    assert ask(path, 404) == {"error": True, "message": message}


def test_statuses_come_from_the_function_that_is_given() -> None:
    def judged(_report: Report, _number: int) -> list[PartitionStatus]:
        commits = [Commit(at, NOW_MS, None) for at in range(10)]
        return [PartitionStatus("WARN", commits[:3], 7), PartitionStatus("OK", commits, 2**60)]

    routes = list(burrow_routes(judged))
    found = request("GET", f"{CONSUMER}/billing/lag", routes=routes).json["status"]
    assert (found["status"], found["complete"], found["totallag"]) == ("WARN", 0.5, 2**60 + 7)
    assert [each["complete"] for each in found["partitions"]] == [0.3, 1.0]
    assert found["maxlag"]["partition"] == 1


def test_a_bug_is_an_error_without_a_traceback() -> None:
    answer = request("GET", f"{CONSUMER}/billing/lag", routes=list(burrow_routes(lambda *_: [])))
    assert (answer.status, answer.json["error"], answer.json["message"]) == (500, True, "internal error")


def test_a_name_with_a_slash_is_found() -> None:
    answer = get(f"{CONSUMER}/{quote(ODD, safe='')}/status").json
    assert (answer["status"]["group"], answer["request"]["url"]) == (ODD, f"{CONSUMER}/{ODD}/status")


def test_admin_answers_as_text() -> None:
    assert (get("/burrow/admin").text, get("/burrow/admin").status) == ("GOOD", 200)
    assert (get("/burrow/admin/ready").text, get("/burrow/admin/ready").status) == ("STARTING", 503)


def test_a_slash_at_the_end_is_a_redirect_as_in_burrow() -> None:
    answer = get(f"{CONSUMER}/team%2Fapp/")
    assert (answer.status, answer.headers["location"]) == (301, f"{CONSUMER}/team%2Fapp")
    assert get(f"{CONSUMER}/team%2Fapp/", "a=1").headers["location"] == f"{CONSUMER}/team%2Fapp?a=1"


def test_an_unknown_address_is_burrows_own_404() -> None:
    answer = get("/v3/kafka/demo/nothing/at/all")
    assert (answer.status, answer.text) == (404, '{"error":true,"message":"invalid request type","result":{}}\n')
