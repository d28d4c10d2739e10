"""Changes of verdicts: listed after an id, and sent as events that a client can resume."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.server.api import event_stream
from app.server.api.endpoints import changes as api
from app.server.api.openapi import PREFIX
from lag.polling.verdict_changes import VerdictChanges
from tests.app.server.api.conformity import ask, check, operation
from tests.app.server.api.reports import NOW_MS, installed, report, source_of
from tests.app.server.client import Request, request, requests

CHANGES = "/clusters/demo/changes"


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    read = report()
    kept = VerdictChanges()
    kept.observe(read.health)
    with installed(replace(source_of(demo=read), changes={"demo": kept})):
        yield


def test_changes_are_listed_oldest_first() -> None:
    answer = ask(CHANGES).json
    assert [(each["id"] - NOW_MS, each["group_id"], each["before"], each["after"]) for each in answer["changes"]] == [
        (1, "__internal", None, "no_members"),
        (2, "billing", None, "stopped"),
        (3, "newcomer", None, "never_committed"),
        (4, "reports", None, "no_members"),
    ]
    assert (answer["last_id"], answer["missed"]) == (NOW_MS + 4, 0)


@pytest.mark.parametrize(
    ("query", "ids", "last"),
    [
        (f"after={NOW_MS + 2}", [3, 4], 4),
        ("group=billing", [2], 2),
        ("limit=1", [1], 1),
        (f"after={NOW_MS + 4}", [], 4),
    ],
)
def test_only_what_is_asked_for_is_listed(query: str, ids: list[int], last: int) -> None:
    answer = ask(CHANGES, query).json
    assert [each["id"] - NOW_MS for each in answer["changes"]] == ids
    assert answer["last_id"] == NOW_MS + last


def events(query: str = "", until: str = "", **headers: str) -> list[dict[str, Any]]:
    """The events until that text; the client then goes away."""
    path = f"{PREFIX}{CHANGES}/stream"
    answer = request("GET", path, query, headers={k.replace("_", "-"): v for k, v in headers.items()}, until=until)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    blocks = [dict(line.split(": ", 1) for line in block.splitlines()) for block in answer.text.split("\n\n") if block]
    assert blocks[0] == {"retry": "5000"}
    for block in blocks[1:]:
        assert block["event"] == "verdict"
        document = json.loads(block["data"])
        check(document, operation("GET", path)["responses"]["200"]["content"]["text/event-stream"]["schema"])
        assert int(block["id"]) == document["id"]
    return [json.loads(block["data"]) for block in blocks[1:]]


def test_events_begin_after_the_id_and_only_of_the_group() -> None:
    assert [each["group_id"] for each in events(f"after={NOW_MS + 2}", "reports")] == ["newcomer", "reports"]
    assert [each["group_id"] for each in events("after=0&group=billing", "billing")] == ["billing"]


def test_changes_that_are_no_longer_kept_are_counted() -> None:
    read = report()
    kept = VerdictChanges(most=1)
    kept.observe(read.health)
    with installed(replace(source_of(demo=read), changes={"demo": kept})):
        listed = ask(CHANGES, f"after={NOW_MS + 1}").json
        sent = request("GET", f"{PREFIX}{CHANGES}/stream", f"after={NOW_MS + 1}", until="reports").text
    assert ([each["group_id"] for each in listed["changes"]], listed["missed"]) == (["reports"], 2)
    assert 'event: missed\ndata: {"missed":2}\n\nid: ' in sent


def test_a_client_that_comes_back_continues_after_its_last_event() -> None:
    found = events("after=0", "reports", Last_Event_ID=str(NOW_MS + 3))
    assert [each["group_id"] for each in found] == ["reports"]


def test_without_an_id_the_events_begin_now() -> None:
    assert events(until="retry") == []


def test_a_last_event_id_that_is_none_is_refused() -> None:
    answer = ask(f"{CHANGES}/stream", headers={"Last-Event-ID": "x" * 50})
    assert (answer.status, answer.json["errors"][0]["field"]) == (400, "header.Last-Event-ID")


def test_a_client_too_many_is_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_open", event_stream.MOST_STREAMS)
    answer = ask(f"{CHANGES}/stream")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_events_end_when_the_server_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(api, "is_stopping", lambda: next(answers))
    assert [each["group_id"] for each in events(f"after={NOW_MS + 3}", until="nothing of this")] == ["reports"]


def test_streams_that_ended_no_longer_count() -> None:
    assert event_stream._open == 0


def test_clients_that_come_at_the_same_time_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MOST_STREAMS", 3)
    found = requests([Request("GET", f"{PREFIX}{CHANGES}/stream", until="retry")] * 8)
    assert sorted(answer.status for answer in found) == [200] * 3 + [503] * 5


def test_only_the_headers_of_the_events_end_at_once() -> None:
    answer = request("HEAD", f"{PREFIX}{CHANGES}/stream")
    assert (answer.status, answer.headers["content-type"], answer.body) == (
        200,
        "text/event-stream; charset=utf-8",
        b"",
    )


def test_changes_of_an_unknown_cluster_are_not_found() -> None:
    assert (ask("/clusters/dem/changes").status, ask("/clusters/dem/changes/stream").status) == (404, 404)
