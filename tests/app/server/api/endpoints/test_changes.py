"""Changes of verdicts: listed after an id, and sent as events that a client can resume."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from app.server.access.visible import VisibleChanges
from app.server.api import event_stream
from app.server.api.endpoints import changes as api
from app.server.api.openapi import PREFIX
from lag.polling.verdict_changes import MOST_CHANGES, VerdictChanges
from tests.app.server.api.conformity import ask, check, operation
from tests.app.server.api.reports import NOW_MS, installed, report, source_of
from tests.app.server.client import Request, request, requests
from tests.app.server.tools.clients import run_apart
from tests.lag.make import GroupSpec, cluster, end, group, judged

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
        (-3, "__internal", None, "no_members"),
        (-2, "billing", None, "stopped"),
        (-1, "newcomer", None, "never_committed"),
        (0, "reports", None, "no_members"),
    ]
    assert (answer["last_id"], answer["missed"]) == (NOW_MS, 0)


@pytest.mark.parametrize(
    ("query", "ids", "last"),
    [
        (f"after={NOW_MS - 2}", [-1, 0], 0),
        ("group=billing", [-2], -2),
        ("limit=1", [-3], -3),
        (f"after={NOW_MS}", [], 0),
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
    assert [each["group_id"] for each in events(f"after={NOW_MS - 2}", "reports")] == ["newcomer", "reports"]
    assert [each["group_id"] for each in events("after=0&group=billing", "billing")] == ["billing"]


def test_changes_that_are_no_longer_kept_are_counted() -> None:
    read = report()
    kept = VerdictChanges(most=2)
    kept.observe(read.health)
    with installed(replace(source_of(demo=read), changes={"demo": kept})):
        listed = ask(CHANGES, f"after={NOW_MS - 2}").json
        sent = request("GET", f"{PREFIX}{CHANGES}/stream", f"after={NOW_MS - 2}", until="reports").text
    assert ([each["group_id"] for each in listed["changes"]], listed["missed"]) == (["newcomer", "reports"], 2)
    assert 'event: missed\ndata: {"missed":2}\n\nid: ' in sent


def test_a_client_that_comes_back_continues_after_its_last_event() -> None:
    found = events("after=0", "reports", Last_Event_ID=str(NOW_MS - 1))
    assert [each["group_id"] for each in found] == ["reports"]


def test_a_client_from_before_the_clock_was_set_back_gets_all_that_is_kept() -> None:
    ahead = NOW_MS + 300_000
    listed = ask(CHANGES, f"after={ahead}").json
    assert ([each["id"] - NOW_MS for each in listed["changes"]], listed["last_id"]) == ([-3, -2, -1, 0], NOW_MS)
    assert ask(CHANGES, f"after={ahead}&group=none").json["last_id"] == NOW_MS - MOST_CHANGES
    assert [each["id"] - NOW_MS for each in events(until="reports", Last_Event_ID=str(ahead))] == [-3, -2, -1, 0]


def sent_by(kept: VerdictChanges, after: int, group_id: str | None, *polls: Callable[[], None]) -> list[dict[str, Any]]:
    """The data of the events of a client that looks after each of these polls."""
    left = iter(polls)

    def goes_on() -> bool:
        poll = next(left, None)
        if poll is not None:
            poll()
        return poll is not None

    async def read() -> list[bytes]:
        return [each async for each in api._events(kept, after, group_id, goes_on)]

    lines = b"".join(run_apart(read)).decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_a_client_that_comes_before_the_first_poll_gets_all_that_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LOOK_EVERY_S", 0.0)
    kept = VerdictChanges()
    sent = sent_by(kept, NOW_MS + 300_000, None, lambda: None, lambda: kept.observe(report().health))
    assert [each["group_id"] for each in sent] == ["__internal", "billing", "newcomer", "reports"]


ENDS = {"orders-0": end(1_000)}
OK, WAITS = group({"orders-0": 1_000}), group({"orders-0": 900}, members=0, state="Empty")


def observe(kept: VerdictChanges, number: int, **groups: GroupSpec) -> None:
    kept.observe(judged([cluster(groups, ENDS, number, NOW_MS + number * 10_000)]))


@pytest.mark.parametrize("sees", ["all", "mine"])
def test_a_client_that_reads_all_the_time_misses_nothing_whatever_other_groups_do(
    monkeypatch: pytest.MonkeyPatch, sees: str
) -> None:
    monkeypatch.setattr(api, "LOOK_EVERY_S", 0.0)
    kept = VerdictChanges(most=3)
    changes, group_id = (kept, "mine") if sees == "all" else (VisibleChanges(kept, "mine".__eq__), None)
    observe(kept, 1, mine=WAITS, other=WAITS)
    observe(kept, 2, mine=OK, other=WAITS)
    others = [partial(observe, kept, number, mine=OK, other=(OK, WAITS)[number % 2]) for number in range(3, 10)]
    sent = sent_by(changes, changes.last_id(), group_id, *others, partial(observe, kept, 10, mine=WAITS, other=WAITS))
    assert [(each["group_id"], each["before"], each["after"]) for each in sent] == [("mine", "ok", "no_members")]


def test_a_client_hears_of_a_missed_change_though_none_of_its_group_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LOOK_EVERY_S", 0.0)
    kept = VerdictChanges(most=2)
    observe(kept, 1, a=OK, b=OK, c=OK)
    first = partial(observe, kept, 2, a=WAITS, b=WAITS, c=WAITS)
    assert sent_by(kept, 0, "a", first, lambda: None) == [{"missed": 1}]


def test_changes_of_other_groups_are_not_counted_in_a_list_of_one() -> None:
    read = report()
    kept = VerdictChanges(most=1)
    kept.observe(read.health)
    with installed(replace(source_of(demo=read), changes={"demo": kept})):
        missed = [ask(CHANGES, f"after=0&group={name}").json["missed"] for name in ("billing", "reports", "none")]
    assert missed == [1, 0, 0]


class PolledAfterwards:
    """A lock; when it is first released, another thread polls at once."""

    def __init__(self, poll: Callable[[], None]) -> None:
        self._polls, self._lock = [poll], threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        if self._polls:
            self._polls.pop()()


def test_a_change_that_is_listed_is_not_counted_as_missed_though_a_poll_comes_meanwhile() -> None:
    kept = VerdictChanges(most=2)
    observe(kept, 1, a=OK, b=OK)
    observe(kept, 2, a=WAITS, b=WAITS)
    kept._lock = PolledAfterwards(partial(observe, kept, 3, a=OK, b=OK))  # type: ignore[assignment]
    with installed(replace(source_of(demo=report()), changes={"demo": kept})):
        listed = ask(CHANGES, "after=0").json
    assert ([each["group_id"] for each in listed["changes"]], listed["missed"]) == (["a", "b"], 0)


def test_without_an_id_the_events_begin_now() -> None:
    assert events(until="retry") == []


def test_an_invalid_last_event_id_is_refused() -> None:
    answer = ask(f"{CHANGES}/stream", headers={"Last-Event-ID": "x" * 50})
    assert (answer.status, answer.json["errors"][0]["field"]) == (400, "header.Last-Event-ID")


def test_a_client_too_many_is_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "_open", event_stream.MOST_STREAMS)
    answer = ask(f"{CHANGES}/stream")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_events_end_when_the_server_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(api, "is_stopping", lambda: next(answers))
    assert [each["group_id"] for each in events(f"after={NOW_MS - 1}", until="nothing of this")] == ["reports"]


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


def test_the_headers_of_the_events_name_no_length() -> None:
    only = request("HEAD", f"{PREFIX}{CHANGES}/stream").headers
    assert "content-length" not in only
    assert only == request("GET", f"{PREFIX}{CHANGES}/stream", until="retry").headers


def test_changes_of_an_unknown_cluster_are_not_found() -> None:
    assert (ask("/clusters/dem/changes").status, ask("/clusters/dem/changes/stream").status) == (404, 404)
