"""Advice on properties: the findings of the command; a value is never repeated."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.documents.advice import advice_document
from app.properties_advice import Kind, advise_text
from app.server.api.problem import ApiError
from app.server.api.worker import tasks
from assignors.advice import Workload
from tests.app.server.api.conformity import post
from tests.app.server.api.reports import installed, source_of
from tests.app.server.client import Answer

SECRET = "hunter2"
TEXT = f"group.id=billing\nheartbeat.interval.ms=45000\nsasl.jaas.config={SECRET}\n{SECRET}\nmax.poll.record=1\n"


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    with installed(source_of()):
        yield


def ask(**body: Any) -> Answer:
    return post("/advice", json.dumps(body).encode())


@pytest.mark.process
def test_findings_are_those_of_the_command() -> None:
    answer = ask(properties=TEXT, workload={"batch_ms": 400_000})
    advised = advise_text(TEXT, Kind.CONSUMER, Workload(batch_ms=400_000))
    assert answer.json == json.loads(json.dumps(advice_document(advised)))
    found = {each["setting"]: (each["severity"], each["line"]) for each in answer.json["findings"]}
    assert found["heartbeat.interval.ms"] == ("error", 2)
    assert found["max.poll.record"] == ("warning", 5)
    assert found["max.poll.interval.ms"][1] is None
    assert answer.json["lines_without_a_setting"] == [4]
    assert SECRET not in answer.text


@pytest.mark.process
def test_a_text_without_a_setting_is_refused() -> None:
    answer = ask(properties=SECRET, kind="broker")
    assert (answer.status, answer.json["errors"][0]["field"]) == (400, "body.properties")
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["body.properties"]),
        ({"properties": 7, "kind": "consumers"}, ["body.kind", "body.properties"]),
        (
            {"properties": "a=b", "workload": {"batch_ms": 0, "batches": 1}},
            ["body.workload.batch_ms", "body.workload.batches"],
        ),
        ({"properties": "x" * 100_001}, ["body.properties"]),
        ({"properties": "a=b", "workload": {"record_p99_ms": float("nan")}}, ["body.workload.record_p99_ms"]),
        ({"properties": "a=b", "workload": {"record_p99_ms": float("inf")}}, ["body.workload.record_p99_ms"]),
        ([], ["body"]),
        ("text", ["body"]),
    ],
)
def test_wrong_fields_are_named(body: Any, fields: list[str]) -> None:
    answer = post("/advice", json.dumps(body).encode())
    assert answer.status == 400
    assert [each["field"] for each in answer.json["errors"]][: len(fields)] == fields


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"properties": 1e999}', b"[" * 100_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    answer = post("/advice", body)
    assert (answer.status, answer.json["errors"][0]["field"][:4]) == (400, "body")


@pytest.mark.process
def test_more_settings_than_one_file_has_are_refused() -> None:
    answer = ask(properties="\n".join(f"a.b{number}=1" for number in range(2_001)))
    assert (answer.status, answer.json["errors"][0]["field"]) == (400, "body.properties")
    assert "more than 2,000 settings" in answer.json["detail"]


def test_a_body_that_is_too_large_is_refused() -> None:
    assert post("/advice", b" " * 400_001).status == 413


def test_the_worker_reads_any_text() -> None:
    options = {"kind": "consumer", "workload": {}}
    for text in (b"\xff\xfe", b"\x00=\x00", "größe=東京".encode(), b"=" * 500):
        with pytest.raises(ApiError, match=r"body\.properties"):
            tasks.answer({"task": tasks.ADVISE, "options": options, "deadline_s": 9.0}, text)
