"""Writes a scenario as YAML: one line for each topic, member and event."""

from collections.abc import Mapping
from typing import Any

import yaml

from assignors.model import TopicPartition
from assignors.scenario.event_schema import with_capacity, written_event
from assignors.scenario.group_schema import given, written_member, written_number, written_topic
from assignors.scenario.syntax import plain
from assignors.whatif.events import Event, Scenario

_WIDE = 1 << 30
_STR, _MAP, _SEQ = "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"


class _Line(dict[Any, Any]):
    """A mapping on one line."""


class _Row(list[Any]):
    """A list on one line."""


class Block(str):
    """A text of several lines, written below its key."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes no anchors, which `load_scenario` refuses."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quote texts that `load_scenario` would read as a number; the dumper quotes those of YAML 1.1."""
    return dumper.represent_scalar(_STR, text, style=None if plain(text) is text else "'")


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Block, lambda dumper, text: dumper.represent_scalar(_STR, str(text), style="|"))
_Dumper.add_representer(_Line, lambda dumper, data: dumper.represent_mapping(_MAP, data.items(), flow_style=True))
_Dumper.add_representer(_Row, lambda dumper, data: dumper.represent_sequence(_SEQ, data, flow_style=True))


def dump(scenario: Scenario) -> str:
    """The scenario as YAML; `load_scenario` returns an equal one.

    Owned partitions are written by topic, so a mixed order of several topics is lost. User data is not written:
    `owned` and `generation` have the same content.
    """
    return as_yaml(document(scenario))


def as_yaml(value: Mapping[str, Any]) -> str:
    """The YAML of a plain mapping."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE)


def document(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the dicts and lists of its file."""
    most = scenario.partitions_ever()
    capacities, each = scenario.loads.capacity_per_s, scenario.loads.default_capacity_per_s
    sections = {
        "description": scenario.description,
        "assignor": scenario.assignor,
        "topics": [_Line(written_topic(topic)) for topic in scenario.topics.values()],
        "members": [_Line(written_member(member, capacities.get(member.member_id))) for member in scenario.members],
        "weights": _amounts(scenario.loads.weights, most),
        "lag": _amounts(scenario.loads.lag_records, most),
        "rates": _amounts(scenario.loads.produced_per_s, most),
        "capacity": None if each is None else written_number(each),
        "events": [
            _Line(written_event(Event(event.at_ms, with_capacity(event.action, capacities))))
            for event in scenario.events
        ],
        "protocol": dict(scenario.protocol),
    }
    return {"schema_version": 1, "name": scenario.name, **given(sections)}


def _amounts(amounts: Mapping[TopicPartition, float], most: Mapping[str, int]) -> dict[str, Any]:
    topics: dict[str, dict[int, int | float]] = {}
    for (topic, partition), amount in amounts.items():
        topics.setdefault(topic, {})[partition] = written_number(amount)
    return {topic: _shortest(dict(sorted(given.items())), most[topic]) for topic, given in topics.items()}


def _shortest(given: dict[int, int | float], count: int) -> Any:
    """A number if all partitions have the same, a list for the first partitions without gaps, else a mapping."""
    if len(given) == count and len(set(given.values())) == 1:
        return next(iter(given.values()))
    return _Row(given.values()) if list(given) == list(range(len(given))) else _Line(given)
