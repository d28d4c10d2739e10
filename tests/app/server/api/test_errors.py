"""Bad input is refused with the field named, as a problem (RFC 9457)."""

import gzip
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.server.api.endpoints import groups
from app.server.api.openapi import PREFIX
from tests.app import feeds
from tests.app.server.api.conformity import ask
from tests.app.server.api.reports import installed, report, source_of
from tests.app.server.client import Request, request, requests
from tests.support.random_examples import random_examples

GROUPS = "/clusters/demo/groups"


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    with installed(source_of(demo=report())):
        yield


@pytest.mark.parametrize("value", ["1e999", "-1", "", "NaN", "inf", "0", "1001", "9" * 5_000, "1 2", "null", "0x10"])
def test_a_limit_that_is_no_number_in_range_is_refused(value: str) -> None:
    answer = ask(GROUPS, f"limit={quote(value)}")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert [error["field"] for error in answer.json["errors"]] == ["query.limit"]
    assert len(answer.text) < 500


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("limits=1", ["query.limits"]),
        ("limit=1&limit=2", ["query.limit"]),
        ("verdict=ok&verdict=sad", ["query.verdict.1"]),
        ("type=Consumer", ["query.type.0"]),
        ("internal=perhaps", ["query.internal"]),
        ("lag_at_least=9223372036854775808", ["query.lag_at_least"]),
        (f"text={'x' * 256}", ["query.text"]),
        ("offset=-1&limit=0", ["query.offset", "query.limit"]),
        ("limit=1&offset=2&limit=2&offset=2", ["query.limit", "query.offset"]),
        ("state=x&" * 2_000, ["query.state"]),
        ("&".join(f"x{number}=1" for number in range(100)), [f"query.x{number}" for number in range(20)]),
    ],
)
def test_every_wrong_field_is_named(query: str, fields: list[str]) -> None:
    answer = ask(GROUPS, query)
    assert (answer.status, answer.json["title"]) == (400, "Bad Request")
    assert [error["field"] for error in answer.json["errors"]] == fields


def test_a_query_that_is_too_long_is_not_parsed() -> None:
    answer = ask(GROUPS, "a=&" * 10_000)
    assert (answer.status, answer.json["detail"]) == (414, "The query has more than 16,384 bytes.")


class Releasing(feeds.HandFeed):
    """Lets the worker go on when a snapshot is asked for."""

    def latest(self) -> Any:
        RELEASED.set()
        return super().latest()


RELEASED = threading.Event()


def test_requests_that_wait_for_a_worker_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "app.server.api.endpoints.whatif.computed", lambda *_: b"true" if RELEASED.wait(5) else b"false"
    )
    post = Request("POST", f"{PREFIX}/what-if", body=b"{}", headers={"Content-Type": "application/json"})
    with installed(feeds.source(demo=Releasing(report()))):
        *posts, get = requests([*[post] * 20, Request("GET", f"{PREFIX}/clusters")])
    assert get.status == 200
    assert Counter(answer.status for answer in posts) == {200: 16, 503: 4}
    assert {answer.text for answer in posts if answer.status == 200} == {"true"}


def test_an_unknown_address_and_a_wrong_method_are_problems() -> None:
    for method, path, status in (("GET", "/nothing", 404), ("POST", "/clusters", 405), ("DELETE", GROUPS, 405)):
        answer = request(method, PREFIX + path)
        assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
        assert answer.json["status"] == status
    assert set(request("POST", f"{PREFIX}/clusters").headers["allow"].split(", ")) == {"GET", "HEAD"}


@pytest.mark.parametrize("path", ["/api/", "/api/v1", "/api/v2/clusters", "/api/clusters"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_address_beside_the_api_is_a_problem_and_no_page(path: str, method: str) -> None:
    answer = request(method, path)
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert f"{PREFIX}/openapi.json" in answer.json["detail"]


@pytest.mark.parametrize("path", ["/what-if", "/simulate", "/advice"])
def test_a_compressed_body_is_refused_by_the_name_of_its_encoding(path: str) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = request("POST", PREFIX + path, body=gzip.compress(b"{}"), headers=headers)
    assert (answer.status, answer.headers["content-type"]) == (415, "application/problem+json")
    assert answer.json["detail"] == "The Content-Encoding is gzip. Send the body without one."


def test_a_bug_is_a_problem_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "selected", lambda *_: [10_000])
    answer = ask(GROUPS)
    assert (answer.status, answer.json["detail"]) == (500, "Internal error. See the server's log.")
    assert "IndexError" not in answer.text


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
@random_examples(150, deadline=2_000)
def test_any_path_and_query_is_answered_or_refused(group: str, name: str, value: str) -> None:
    path = f"{GROUPS}/{quote(group, safe='', errors='surrogatepass')}/partitions"
    answer = request("GET", PREFIX + path, f"{quote(name, errors='replace')}={quote(value, errors='replace')}")
    assert answer.status in (200, 400, 404)
    assert answer.json
