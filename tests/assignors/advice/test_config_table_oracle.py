"""The table of settings equals Kafka's own ConfigDef: names, types, defaults, and every value taken or refused."""

from collections.abc import Iterator, Mapping
from typing import Any

import jpype
import pytest

from assignors.advice.config_def import BY_DURATION, Definition, Type
from assignors.advice.config_table import CONSUMER, COORDINATOR
from tests.support.java import start_jvm

TEXTS = (
    *(
        "",
        " ",
        "\t1\n",
        "\u00a01",
        "0",
        "-0",
        "+1",
        "1",
        "-1",
        "-2",
        "007",
        "1 000",
        "1_000",
        "1e3",
        "1.5",
        ".5",
        "5.",
        ".",
    ),
    *("0x10", "٣", "𝟏", "lots", "NaN", "nan", "Infinity", "-Infinity", "inf", "1d", "0" * 5_000, "9" * 25, "+", "--1"),
    *(str(sign * 2**bits + more) for bits in (15, 31, 63) for sign in (-1, 1) for more in (-1, 0)),
    *("true", " TRUE ", "False", "yes", "maybe", "foo", "a,b", "a , b", "a,,b", "a,", ",", "a,a", "latest", "Latest"),
    *(
        "by_duration:PT1H",
        "by_duration:pt1h",
        "BY_DURATION:PT1H",
        "by_duration:-PT1H",
        "by_duration:x",
        "by_duration:P",
    ),
)


@pytest.fixture(scope="module", autouse=True)
def _jvm() -> None:
    start_jvm()


def config_def(side: str) -> Any:
    if side == "consumer":
        return jpype.JClass("org.apache.kafka.clients.consumer.ConsumerConfig").configDef()
    return jpype.JClass("org.apache.kafka.coordinator.group.GroupCoordinatorConfig").CONFIG_DEF


@pytest.fixture(params=["consumer", "coordinator"])
def sides(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Mapping[str, Definition]]:
    """Kafka's keys by name, and ours."""
    keys = {str(name): key for name, key in dict(config_def(request.param).configKeys()).items()}
    return keys, CONSUMER if request.param == "consumer" else COORDINATOR


Sides = tuple[dict[str, Any], Mapping[str, Definition]]


def test_the_table_has_kafkas_names_types_and_defaults(sides: Sides) -> None:
    keys, ours = sides
    assert {name: str(key.type()) for name, key in keys.items()} == {name: its.type for name, its in ours.items()}
    reported = {name: str(its.default) for name, its in ours.items() if its.default is not None}
    assert {name: as_text(keys[name].defaultValue) for name in reported} == reported
    numbers = {name for name, its in ours.items() if its.is_whole and keys[name].defaultValue is not None}
    assert numbers <= reported.keys()


def as_text(default: Any) -> str:
    return str(default).lower() if str(default) in ("True", "False") else str(default)


def values_for(its: Definition) -> Iterator[str]:
    yield from TEXTS
    for word in its.words:
        yield from (word, word.upper(), word.title(), f" {word} ", f"{word}x", f"{word},{word}", f"{word},")
    for bound in (its.least, its.most):
        if bound is not None:
            yield from (f"{bound + by:.15g}" for by in (-1, -0.25, 0, 0.25, 1))


def taken(key: Any, text: str) -> bool:
    try:
        alone = jpype.JClass("org.apache.kafka.common.config.ConfigDef")()
        alone.define(key)
        alone.parse(jpype.JClass("java.util.Map").of(key.name, text))
    except jpype.JClass("org.apache.kafka.common.config.ConfigException"):
        return False
    return True


def test_each_value_is_taken_or_refused_as_kafka_does(sides: Sides) -> None:
    keys, ours = sides
    tried = [(name, text) for name, its in ours.items() if its.type is not Type.CLASS for text in values_for(its)]
    differ = [(name, text) for name, text in tried if ours[name].takes(text) is not taken(keys[name], text)]
    assert differ == []
    assert len(tried) > 3_000


def test_bounds_and_words_are_shown_as_kafka_lists_them(sides: Sides) -> None:
    keys, ours = sides
    for name, its in ours.items():
        reported = str(keys[name].validator) if keys[name].validator is not None else ""
        assert sorted(reported.partition("[")[2].rstrip("]").lower().split(", ")) == sorted(listed(its)), name


def listed(its: Definition) -> list[str]:
    """Words or bounds as Kafka's validators print them."""
    if its.least is not None:
        end = "..." if its.most is None else f"...,{its.most}"
        return [f"{its.least},{end}"]
    return [word.lower() if word != BY_DURATION else BY_DURATION.lower() for word in its.words] or [""]
