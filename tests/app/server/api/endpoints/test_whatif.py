"""What-ifs and simulations: the answers of the commands, computed in a process that cannot hold up the server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import assignors
from app.documents.simulation import simulations_document
from app.documents.whatif import outcome_document
from app.server.api.problem import ApiError
from app.server.api.worker import computation, tasks
from app.server.settings import Settings
from assignors.scenario import dump, examples, load_scenario
from assignors.scenario.syntax import MOST_BYTES
from assignors.simulation.run import Simulation
from assignors.simulation.settings import read
from assignors.simulation.side_by_side import simulate_all
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.app.server.api.conformity import post
from tests.app.server.api.reports import installed, source_of
from tests.support.random_examples import random_examples

YAML, PLUGIN = "application/yaml", "tests.app.bad_plugins:Dawdles"
FILE = examples()["checkout-scales-out"]
SCENARIO = load_scenario(FILE)
SMALL = b"""{"schema_version": 1, "name": "two", "assignor": "range", "topics": [{"name": "t", "partitions": 2}],
"members": [{"id": "a", "topics": ["t"]}], "events": [{"at": "5s", "join": {"id": "b", "topics": ["t"]}}]}"""


@pytest.fixture(autouse=True, scope="module")
def _served() -> Iterator[None]:
    its = source_of()
    with installed(replace(its, settings=Settings(plugins=(PLUGIN,)))):
        yield


def as_json(document: object) -> Any:
    return json.loads(json.dumps(document))


@pytest.mark.process
def test_a_what_if_is_what_the_command_prints() -> None:
    found = post("/what-if", FILE.read_bytes(), "assignor=sticky&assignor=all", YAML).json
    assert list(found["assignors"]) == [
        *("sticky", "cooperative-sticky", "range", "roundrobin", "uniform", "server-range")
    ]
    for name, outcome in found["assignors"].items():
        assert outcome == as_json(outcome_document(assignors.fold(SCENARIO, name)))
    assert (found["scenario"], found["warnings"]) == (SCENARIO.name, [])


@pytest.mark.process
def test_the_whole_answer_of_a_small_what_if() -> None:
    found = post("/what-if", SMALL).json["assignors"]["range"]["generations"]
    assert [(each["number"], each["event"], each["assignment"]) for each in found] == [
        (1, "first assignment", {"a": [["t", 0], ["t", 1]]}),
        (2, "b joins", {"a": [["t", 0]], "b": [["t", 1]]}),
    ]
    assert found[1]["moves"] == [{"topic": "t", "partition": 1, "source": "a", "target": "b", "kind": "gained"}]


@pytest.mark.process
def test_a_simulation_is_what_the_command_prints() -> None:
    found = post("/simulate", FILE.read_bytes(), "protocol=eager&protocol=consumer&seed=3", YAML).json
    wanted = (RebalanceProtocol.EAGER, RebalanceProtocol.CONSUMER)
    outcomes = simulate_all(SCENARIO, read(SCENARIO.protocol), wanted, seed=3)
    assert found["protocols"] == as_json(simulations_document(outcomes))
    assert found["seed"] == 3


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/what-if", "assignor=stiky", "query.assignor.0"),
        ("/what-if", "assignor=os:system", "query.assignor.0"),
        ("/simulate", "protocol=share", "query.protocol.0"),
        ("/simulate", "seed=1e999", "query.seed"),
        ("/simulate", "seed=NaN", "query.seed"),
        ("/simulate", "latency_ms=-1", "query.latency_ms"),
    ],
)
def test_a_wrong_query_is_refused_before_anything_runs(path: str, query: str, field: str) -> None:
    answer = post(path, SMALL, query)
    assert (answer.status, answer.json["errors"][0]["field"]) == (400, field)


@pytest.mark.process
def test_a_wrong_scenario_is_refused_with_field_and_line() -> None:
    wrong = dump(SCENARIO).replace("members:", "membrs:").encode()
    answer = post("/what-if", wrong, media_type=YAML)
    assert answer.status == 400
    (error,) = [each for each in answer.json["errors"] if each["field"] == "body.membrs"]
    assert (error["line"], error["message"]) == (8, "The key 'membrs' is unknown. Did you mean 'members'?")


@pytest.mark.process
def test_wrong_settings_are_refused_by_name() -> None:
    wrong = SMALL.replace(b'"name": "two"', b'"name": "two", "protocol": {"session.timeout.ms": -1}')
    answer = post("/simulate", wrong)
    assert (answer.status, answer.json["errors"][0]["field"][:13]) == (400, "body.protocol")


@pytest.mark.process
@pytest.mark.parametrize(("media_type", "status"), [("text/plain", 415), ("", 415), ("application/json; a=b", 200)])
def test_the_media_type_is_checked(media_type: str, status: int) -> None:
    assert post("/what-if", SMALL, media_type=media_type).status == status


def test_a_body_that_is_too_large_is_not_read_to_its_end() -> None:
    answer = post("/what-if", b" " * (MOST_BYTES + 1))
    assert (answer.status, answer.json["title"]) == (413, "Request Entity Too Large")


@pytest.mark.process
def test_a_scenario_that_is_too_large_is_refused() -> None:
    large = json.loads(SMALL)
    large["topics"][0]["partitions"] = 999_999
    large["events"] = [{"at": f"{at + 1}s", "join": {"id": f"b{at}", "topics": ["t"]}} for at in range(3)]
    answer = post("/what-if", json.dumps(large).encode())
    size = f"999,999 partitions, {len(large['members']) + 3} members and 3 events"
    assert (answer.status, answer.json["detail"]) == (413, f"{size} are too many{OTHERWISE}")


OTHERWISE = " for the server. Ask for less, or use `groupscope assign`, which takes 10 times as much."


def test_an_answer_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_ANSWER_BYTES", 1_000)
    with pytest.raises(ApiError, match=r"An answer of more than 1,000 bytes is too large for the server\.") as caught:
        tasks.answer({"task": tasks.WHAT_IF, "options": OPTIONS[tasks.WHAT_IF], "deadline_s": 30.0}, SMALL)
    assert caught.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def test_a_simulation_with_too_many_messages_is_stopped_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MOST_ROWS", 10)
    monkeypatch.setattr(Simulation, "timeline", None)  # it does not come so far
    with pytest.raises(
        ApiError, match=r"A simulation of more than 10 messages is too large for the server\."
    ) as caught:
        tasks.answer({"task": tasks.SIMULATE, "options": OPTIONS[tasks.SIMULATE], "deadline_s": 30.0}, SMALL)
    assert caught.value.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE


@pytest.mark.process
@pytest.mark.usefixtures("workers")
def test_a_scenario_without_a_result_in_time_is_stopped() -> None:
    with pytest.raises(ApiError, match=r"no result after 0\.01 s"):
        computation.computed(
            tasks.WHAT_IF, SMALL, {"assignors": [], "plugins": [], "plugin_memory_mb": 2_000}, deadline_s=0.01
        )


@pytest.mark.process
@pytest.mark.usefixtures("workers")
def test_a_plugin_that_hangs_is_its_own_result_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAWDLES_UNTIL", str(tmp_path / "never"))
    options = {"assignors": ["range", PLUGIN], "plugins": [PLUGIN], "plugin_memory_mb": 2_000}
    found = json.loads(computation.computed(tasks.WHAT_IF, SMALL, options, deadline_s=8))
    assert "timed out" in found["assignors"][PLUGIN]["error"]
    assert len(found["assignors"]["range"]["generations"]) == 2


def test_a_third_scenario_at_a_time_is_asked_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computation, "WAIT_S", 0.0)
    for _ in range(computation.MOST_AT_A_TIME):
        computation._free.acquire()
    try:
        answer = post("/what-if", SMALL)
    finally:
        computation._free.release(computation.MOST_AT_A_TIME)
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("schema_version", "name", "assignor", "topics", "members", "events", "lag", "capacity", "protocol")
NEAR_MISSES = st.tuples(st.sampled_from(KEYS), JSON_VALUES).map(
    lambda change: json.dumps({**json.loads(SMALL), change[0]: change[1]}).encode()
)
BODIES = st.binary(max_size=200) | JSON_VALUES.map(lambda value: json.dumps(value).encode()) | NEAR_MISSES
OPTIONS = {
    tasks.WHAT_IF: {"assignors": ["all"], "plugins": [], "plugin_memory_mb": 2_000},
    tasks.SIMULATE: {"protocols": ["eager", "cooperative", "consumer"], "seed": 0, "latency_ms": None},
}


def outcome(task: str, body: bytes) -> tuple[HTTPStatus, list[str]]:
    """The status, and the fields that are wrong."""
    try:
        found = tasks.answer({"task": task, "options": OPTIONS[task], "deadline_s": 30.0}, body)
    except ApiError as error:
        return error.status, [each["field"] for each in error.errors]
    return HTTPStatus.OK, [] if "scenario" in json.loads(found) else ["no scenario"]


@pytest.fixture
def _imported() -> None:
    """What a task imports when it is first asked for does not count as the time of an answer."""
    for task in OPTIONS:
        assert outcome(task, SMALL) == (HTTPStatus.OK, [])


@pytest.mark.usefixtures("_imported")
@given(st.sampled_from(sorted(OPTIONS)), BODIES)
@random_examples(300, deadline=2_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_body_has_a_result_or_names_what_is_wrong(task: str, body: bytes) -> None:
    status, fields = outcome(task, body)
    assert status in (HTTPStatus.OK, HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    assert bool(fields) is (status is HTTPStatus.BAD_REQUEST)
    assert all(field.startswith("body") for field in fields)
