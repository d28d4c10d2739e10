"""What a file says is what the scenario holds."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assignors import fold, load_scenario
from assignors.model import Member, Topic, TopicPartition
from assignors.patterns import compiled
from assignors.scenario import ScenarioError, check_bytes, check_file, dump, examples, schema
from assignors.scenario.schema import ScenarioFile
from assignors.whatif.events import AddPartitions, Crash, Event, Join, Loads, Scenario, UseAssignor, subscribe
from tests.assignors.scenario.test_refusals import HEAD, LATER, with_event


def test_the_scenario_of_the_design() -> None:
    assert load_scenario(examples()["checkout-scales-out"]) == Scenario(
        name="checkout scales out",
        description="A pod is added before the sale, another crashes, a topic grows, and the team goes back to sticky.",
        assignor="cooperative-sticky",
        topics={
            "orders": Topic("orders", 12),
            "payments": Topic("payments", 6, (("a",), ("b",), ("c",), ("a",), ("b",), ("c",))),
        },
        members=(
            Member("c1", topics=("orders", "payments"), rack="a"),
            Member(
                "c2",
                instance_id="pod-2",
                topics=("orders",),
                owned=tuple(TopicPartition("orders", number) for number in range(3)),
                generation=4,
            ),
        ),
        events=(
            Event(30_000, Join(Member("c3", topics=("orders", "payments")))),
            Event(90_000, Crash("c1")),
            Event(120_000, AddPartitions("orders", 24)),
            Event(150_000, UseAssignor("sticky")),
        ),
        loads=Loads(weights={TopicPartition("orders", 0): 1200, TopicPartition("orders", 1): 80}),
    )


@pytest.mark.parametrize("name", examples())
def test_every_example_is_clean_described_and_small_enough_to_read(name: str) -> None:
    checked = check_file(examples()[name])
    assert checked.warnings == ()
    assert checked.scenario.description.endswith(".")
    assert load_scenario(dump(checked.scenario)) == checked.scenario
    assert examples()[name].stat().st_size < 10_000


@pytest.mark.parametrize("name", examples())
def test_every_example_can_be_folded_and_ends_with_every_partition_assigned(name: str) -> None:
    scenario = load_scenario(examples()[name])
    first, *_, last = fold(scenario)
    assert (last.quality.unassigned, last.number > first.number) == (0, True)


def test_examples_are_there_at_10_to_100_000_partitions() -> None:
    sizes = {name: sum(t.partitions for t in load_scenario(path).topics.values()) for name, path in examples().items()}
    assert {"100-partitions": 100, "5000-partitions": 5_000, "100000-partitions": 100_000}.items() <= sizes.items()


@pytest.mark.parametrize(
    ("at", "at_ms"), [("30s", 30_000), ("1500ms", 1500), ("2m", 120_000), ("1h", 3_600_000), ("1.5", 1500), ("0", 0)]
)
def test_durations(at: str, at_ms: int) -> None:
    (event,) = load_scenario(with_event(f"{{at: {at}, crash: c1}}")).events
    assert event == Event(at_ms, Crash("c1"))


@pytest.mark.parametrize(
    "word", ["on", "off", "yes", "No", "007", "0x1F", "1_000", "1:30", "2026-01-01", "用户", "é b"]
)
def test_words_that_yaml_takes_for_something_else_are_ids(word: str) -> None:
    scenario = load_scenario(HEAD.replace("id: c1", f"id: {word}"))
    assert [member.member_id for member in scenario.members] == [word]
    assert load_scenario(dump(scenario)) == scenario


def test_events_come_in_order_of_time_and_of_the_file() -> None:
    events = ["{at: 9s, crash: c1}", "{at: 2s, restart: c1}", "{at: 2s, use_assignor: range}"]
    scenario = load_scenario(HEAD + "events:\n" + "".join(f"  - {event}\n" for event in events))
    assert [event.at_ms for event in scenario.events] == [2000, 2000, 9000]
    assert scenario.events[1].action == UseAssignor("range")


def test_several_topics_that_grow_at_once_are_several_events() -> None:
    text = HEAD.replace("members:", "  - {name: b, partitions: 1}\nmembers:")
    scenario = load_scenario(f"{text}events:\n  - {{at: 1s, add_partitions: {{orders: 5, b: 2}}}}\n")
    assert scenario.events == (Event(1000, AddPartitions("orders", 5)), Event(1000, AddPartitions("b", 2)))


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("7", {0: 7, 1: 7, 2: 7, 3: 7}),
        ("[1, null, 3]", {0: 1, 2: 3}),
        ("{3: 0.5}", {3: 0.5}),
        ('{"3": 0.5}', {3: 0.5}),
    ],
)
def test_loads_for_all_for_some_in_order_and_by_number(given: str, known: dict[int, float]) -> None:
    loads = load_scenario(f"{HEAD}lag: {{orders: {given}}}\n").loads
    assert loads.lag_records == {TopicPartition("orders", number): amount for number, amount in known.items()}
    assert loads.produced_per_s == loads.weights == {}


def test_a_load_of_a_topic_holds_for_the_partitions_that_come_later() -> None:
    scenario = load_scenario(with_event("{at: 1s, add_partitions: {orders: 6}}") + "rates: {orders: 2}\n")
    assert scenario.loads.produced_per_s == {TopicPartition("orders", number): 2 for number in range(6)}


@pytest.mark.parametrize(
    ("lines", "capacities", "default", "joined"),
    [
        ("capacity: 50", {}, 50, None),
        ("capacity: {c1: 50, c2: 70}", {"c1": 50}, None, 70),
    ],
)
def test_capacities(lines: str, capacities: dict[str, float], default: float | None, joined: float | None) -> None:
    scenario = load_scenario(with_event("{at: 1s, join: {id: c2}}") + lines + "\n")
    assert scenario.loads == Loads(capacity_per_s=capacities, default_capacity_per_s=default)
    assert scenario.events[0].action == Join(Member("c2"), joined)


def test_the_same_file_as_json(tmp_path: Path) -> None:
    """With what only JSON has: tabs, escapes, characters in two halves."""
    file = tmp_path / "shop.json"
    member = {"id": "c1 \N{GRINNING FACE}", "topics": ["orders"]}
    document = {
        "schema_version": 1,
        "name": 'a "quoted" \\ name\n',
        "assignor": "sticky",
        "topics": [{"name": "orders", "partitions": 4}],
        "members": [member],
    }
    file.write_text(json.dumps(document, indent="\t").replace("/", "\\/"))
    scenario = load_scenario(file)
    assert scenario.name == document["name"]
    assert scenario.members == (Member("c1 \N{GRINNING FACE}", topics=("orders",)),)


def test_half_a_character_is_refused() -> None:
    text = '{"schema_version": 1, "name": "\\ud83d", "assignor": "sticky"}'
    with pytest.raises(Exception, match="name: This contains half of a surrogate pair, which is not a character"):
        check_bytes(text.encode(), "shop.json")


def test_a_topic_of_249_characters() -> None:
    name = "x" * 249
    assert list(load_scenario(HEAD.replace("orders", name)).topics) == [name]


def test_what_kafka_allows_and_no_user_intends_is_a_warning() -> None:
    text = (
        HEAD.replace("topics: [orders]}", "topics: [orders, order], owned: {orders: [0, 1]}}")
        + "  - {id: c2, owned: {orders: [3, 1]}}\n"
    )
    assert [str(warning) for warning in check_bytes(text.encode(), "shop.yaml").warnings] == [
        f"line {LATER - 1}: members[0].topics[1]: No topic is ever named 'order', so nothing is assigned for it. "
        "Did you mean 'orders'?",
        f"line {LATER}: members[1].owned.orders[1]: 'c1' owns orders 1 as well.",
    ]


def test_a_pattern_is_matched_as_the_file_begins_and_one_that_never_matches_is_a_warning() -> None:
    text = (
        HEAD
        + "  - {id: c2, pattern: o.*}\n  - {id: c3, pattern: p.*}\nevents:\n  - {at: 1s, join: {id: c4, pattern: q}}\n"
    )
    checked = check_bytes(text.encode(), "shop.yaml")
    assert [member.topics for member in checked.scenario.members[1:]] == [("orders",), ()]
    assert [str(warning) for warning in checked.warnings] == [
        f"line {LATER + 1}: members[2].pattern: No topic ever matches 'p.*', so nothing is assigned for it.",
        f"line {LATER + 3}: events[0].join.pattern: No topic ever matches 'q', so nothing is assigned for it.",
    ]


def test_a_subscription_to_nothing_or_to_what_comes_later_is_no_warning() -> None:
    text = with_event("{at: 1s, create_topic: {name: later, partitions: 1}}").replace("[orders]", "[later]")
    assert check_bytes(text.encode(), "").warnings == ()
    assert check_bytes(HEAD.replace("[orders]", "[]").encode(), "").warnings == ()


def test_the_published_schema_has_every_key() -> None:
    published = schema()
    assert published["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert set(published["properties"]) == set(ScenarioFile.model_fields)
    assert published["required"] == ["schema_version", "name", "assignor"]
    assert published["additionalProperties"] is False


def test_a_pattern_is_compared_with_topics_up_to_the_first_that_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def counted(pattern: str) -> Any:
        def fullmatch(name: str) -> Any:
            compared.append(name)
            return compiled(pattern).fullmatch(name)

        return SimpleNamespace(fullmatch=fullmatch)

    monkeypatch.setattr(subscribe, "compiled", counted)
    assert list(subscribe.doubtful_subscriptions((), "t[0-9]+", [f"t{number}" for number in range(10_000)])) == []
    assert compared == ["t0"]


def test_of_a_list_of_wrong_topics_the_first_is_named() -> None:
    file = {**HEAD_OF_JSON, "members": [{"id": "m", "topics": [1] * 100_000}]}
    with pytest.raises(ScenarioError) as refusal:
        check_bytes(json.dumps(file).encode(), "a.json")
    assert [problem.path for problem in refusal.value.problems] == ["members[0].topics[0]"]


HEAD_OF_JSON = {"schema_version": 1, "name": "x", "assignor": "range"}


def test_two_members_with_one_instance_id_are_a_warning() -> None:
    text = HEAD.replace("{id: c1,", "{id: c1, instance_id: pod,") + "  - {id: c2, instance_id: pod}\n"
    (warning,) = check_bytes(text.encode(), "shop.yaml").warnings
    assert (warning.path, warning.message) == (
        "members[1].instance_id",
        "'c1' has the instance id 'pod' too. Under the classic protocol the later one takes its place, and under "
        "KIP-848 it is refused.",
    )
