"""Our KIP-848 coordinator and Kafka's own, put through the same requests and the same time."""

import random
from collections.abc import Callable
from typing import Any

import jpype
import pytest

from assignors.simulation.consumer import Settings
from assignors.simulation.consumer.heartbeat import Turn
from assignors.simulation.consumer.regexes import compiled
from assignors.simulation.consumer.timeline_map import TimelineMap
from assignors.simulation.errors import KafkaError, Refused
from assignors.simulation.settings import SettingsError, read
from tests.oracle.consumer_coordinator import ConsumerOracle, Sequence
from tests.oracle.coordinator_shard import configs, java
from tests.oracle.java_consumer_coordinator import properties
from tests.oracle.tally import generator, run

SEQUENCES = 500


@pytest.fixture(scope="module")
def oracle(java_classes: Callable[[str], Any]) -> ConsumerOracle:
    return ConsumerOracle()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_sequences_end_as_kafka_ends_them(oracle: ConsumerOracle, seed: int) -> None:
    tally = run(oracle, seed, cases=SEQUENCES)
    assert tally.cases == {"consumer coordinator": SEQUENCES}
    assert tally.differences[:1] == []


def test_a_dynamic_member_comes_back_as_a_static_one_that_left(oracle: ConsumerOracle) -> None:
    """Its own partitions count as owned then, by nobody. Found by `make fuzz` on 2026-11-22."""
    assert [checked.difference for checked in oracle(2605773419, 26423)] == [""]


@pytest.mark.parametrize("seed", range(5))
def test_members_are_in_the_order_of_kafkas_map(oracle: ConsumerOracle, seed: int) -> None:
    r = random.Random(seed)
    registry = java("org.apache.kafka.timeline.SnapshotRegistry")(java("utils.LogContext")())
    theirs = java("org.apache.kafka.timeline.TimelineHashMap")(registry, 0)
    ours: TimelineMap[int] = TimelineMap()
    for number in range(300):
        key = f"m{r.randrange(60)}"
        if r.random() < 0.3 and key in ours:
            del ours[key]
            theirs.remove(key)
        else:
            ours[key] = number
            theirs.put(key, number)
        assert list(ours) == [str(key) for key in theirs.keySet()]


@pytest.mark.parametrize(
    "regex",
    [
        "t", "t|u", "(t|u)-1", "w-.*", "w-[0-9]{1,2}", "(?i)W-1", r"(?:w|v)-\d", "^t$", r"t\b", "[^tu].+",
        "(?P<name>t)", "[*+]+t?", r"\*+t", "w.{2}", r"\Aw-1", "", "(t", "[t", "*", "t**", "t{2,1}", "t(?=u)",
        "(?<!t)u", r"(t)\1", "t++", "t*+", "t{1}+", "(?>t)", "(?#word)t", r"t\Z", r"\N{DIGIT ONE}", "(?x)t",
        "(?P=name)t", "(?(1)t|u)", r"\pL+", r"\PL", r"\Qw-1\E", r"\p{Greek}", "[[:alpha:]]+", r"t\z", "(?U)t+",
        "(?s).+", "t{1001}", "t{1000}", "(t{30}){30}", r"\x{74}", r"[\d-]", "[^]", "[]t]", "(?<name>t)",
        "(?P<1a>t)", "|t", "()",
    ],
)  # fmt: skip
def test_an_expression_matches_what_it_matches_for_kafka(oracle: ConsumerOracle, regex: str) -> None:
    names = ("t", "u", "tt", "tu", "w-1", "w-12", "W-1", "u-1", "v-3", "t-1", "+t", "*t", "**", "w_1", "v")
    assert _matches(regex, names) == _java_matches(regex, names)


def _matches(regex: str, names: tuple[str, ...]) -> list[str] | KafkaError:
    try:
        pattern = compiled(regex)
    except Refused as refused:
        return refused.error
    return [name for name in names if pattern.fullmatch(name)]


def _java_matches(regex: str, names: tuple[str, ...]) -> list[str] | KafkaError:
    try:
        pattern = jpype.JClass("com.google.re2j.Pattern").compile(regex)
    except jpype.JException:
        return KafkaError.INVALID_REGULAR_EXPRESSION
    return [name for name in names if pattern.matcher(name).matches()]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"session.timeout.ms": 6_000}, "session.timeout.ms"),
        ({"session.timeout.ms": 60_001}, "session.timeout.ms"),
        ({"heartbeat.interval.ms": 3_000}, "heartbeat.interval.ms"),
        ({"heartbeat.interval.ms": 45_000, "max.heartbeat.interval.ms": 45_000}, "heartbeat.interval.ms"),
        ({"assignment.interval.ms": 15_001}, "assignment.interval.ms"),
        ({"min.assignment.interval.ms": -1}, "min.assignment.interval.ms"),
        ({"max.size": 0}, "max.size"),
        ({"regex.refresh.interval.ms": 9_999}, "regex.refresh.interval.ms"),
    ],
)
def test_settings_that_kafka_refuses(oracle: ConsumerOracle, changes: dict[str, int], name: str) -> None:
    given = {f"group.consumer.{key}": value for key, value in changes.items()}
    with pytest.raises(SettingsError, match=f"group.consumer.{name}"):
        read(given)
    with pytest.raises(jpype.JException, match=f"group.consumer.{name}"):
        configs(tuple(sorted((properties(Settings()) | given).items())))


def test_the_seed_alone_decides_the_sequence(oracle: ConsumerOracle) -> None:
    first, second = (_steps() for _ in range(2))
    assert first == second
    assert len(first) == 2 + 30  # the settings, the topics, and what was done


def _steps() -> list[object]:
    sequence = Sequence(generator(7, 3))
    assert sequence.run() == ""
    return sequence.steps


def test_a_target_computed_too_soon_is_found(oracle: ConsumerOracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Turn, "_may_plan", lambda self: True)
    tally = run(oracle, 1, cases=40)
    assert "group" in tally.differences[0][1].difference
