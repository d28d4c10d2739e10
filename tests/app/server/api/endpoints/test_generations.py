"""The generations of a live group, newest first; the group as the start of a what-if."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

import assignors
from app.documents.whatif import generation_document
from app.server.api.endpoints import generations
from assignors.scenario import examples, load_scenario
from lag.generations.group_generations import SWITCHED_OFF
from lag.generations.recorded import Origin, RecordedGeneration, Recording
from lag.model import undecoded
from tests.app import feeds
from tests.app.server.api.conformity import ask, post
from tests.app.server.api.reports import NOW_MS, installed, report, source_of

BILLING = "/clusters/demo/groups/billing"
UNDECODED = undecoded("newcomer", ["the assignment of member m1: version -1"])
MADE = assignors.fold(load_scenario(examples()["checkout-scales-out"]))


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    kept = [RecordedGeneration(one, NOW_MS - 1_000, None if at else NOW_MS, skipped=at) for at, one in enumerate(MADE)]
    seen = {
        "billing": Recording(Origin.RECORDED, kept),
        "search": Recording(Origin.INFERRED, kept[:1], SWITCHED_OFF),
        "newcomer": Recording(Origin.RECORDED, [replace(kept[0], problems=(UNDECODED,)), kept[1]]),
    }
    with installed(feeds.source(demo=feeds.HandFeed(report(), seen=seen))):
        yield


def test_generations_have_the_form_of_the_assign_command() -> None:
    answer = ask(f"{BILLING}/generations").json
    assert (answer["origin"], answer["problem"]) == ("recorded", None)
    assert (answer["total"], answer["next"]) == (len(MADE), None)
    printed = [json.loads(json.dumps(generation_document(one))) for one in reversed(MADE)]
    for at, (found, expected) in enumerate(zip(answer["generations"], printed, strict=True)):
        number = len(MADE) - 1 - at
        assert found == {
            **expected,
            "at_ms": MADE[number].at_ms,
            "began_ms": NOW_MS - 1_000,
            "settled_ms": None if number else NOW_MS,
            "skipped": number,
        }


def test_a_generation_that_could_not_be_decoded_in_part_is_the_problem_of_its_page() -> None:
    assert ask("/clusters/demo/groups/newcomer/generations", "limit=1").json["problem"] is None
    answer = ask("/clusters/demo/groups/newcomer/generations", "limit=1&offset=1").json
    assert answer["problem"] == {
        "kind": "undecoded",
        "scope": "group",
        "subject": "newcomer",
        "cause": "the assignment of member m1: version -1",
        "hint": "Their client library writes it differently than Kafka's consumers: look at its version",
        "affected": None,
    }


def test_pages_go_back_in_time() -> None:
    first = ask(f"{BILLING}/generations", "limit=2").json
    second = ask(f"{BILLING}/generations", f"limit=200&offset={first['next']}").json
    assert [each["number"] for each in (*first["generations"], *second["generations"])] == [
        one.number for one in reversed(MADE)
    ]
    assert second["next"] is None


def test_a_page_of_a_large_group_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "MOST_ENTRIES", 1)
    answer = ask(f"{BILLING}/generations").json
    assert (len(answer["generations"]), answer["next"], answer["total"]) == (1, 1, len(MADE))


def test_inferred_generations_say_why() -> None:
    answer = ask("/clusters/demo/groups/search/generations").json
    assert (answer["origin"], answer["problem"]["kind"]) == ("inferred", "off")


def test_a_group_without_generations_has_none() -> None:
    assert ask("/clusters/demo/groups/reports/generations").json["generations"] == []


@pytest.mark.process
def test_a_group_is_the_start_of_a_what_if() -> None:
    answer = ask(f"{BILLING}/scenario")
    scenario = answer.json["scenario"]
    assert [member["owned"] for member in scenario["members"]] == [{"orders": [0]}, {"orders": [1]}]
    assert scenario["lag"] == {"orders": 4_900}
    scenario["events"] = [{"at": "30s", "leave": "m1"}]
    made = post("/what-if", json.dumps(scenario).encode()).json["assignors"]["range"]["generations"]
    assert made[-1]["assignment"] == {"m0": [["orders", 0], ["orders", 1]]}


def test_a_group_that_no_what_if_can_start_from_is_a_conflict() -> None:
    read = report()
    busy = tuple(replace(group, state="PreparingRebalance") for group in read.snapshot.groups)
    with installed(source_of(demo=replace(read, snapshot=replace(read.snapshot, groups=busy)))):
        answers = [ask(f"{BILLING}/scenario", headers=headers) for headers in ({}, {"If-None-Match": "*"})]
    for answer in answers:
        assert (answer.status, answer.json["detail"][:24]) == (409, "billing is rebalancing; ")
