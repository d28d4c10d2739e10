"""From a scenario to the text of its file: one line for each topic, member and event."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import yaml

from assignors.model import Member, Topic, TopicPartition
from assignors.scenario.build import BARE, NAMED, most_partitions
from assignors.scenario.syntax import plain
from assignors.scenario.values import duration_text
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    CreateTopic,
    Event,
    GcPause,
    Join,
    Loads,
    Scenario,
    Slow,
    Subscribe,
)

_WIDE = 1 << 30
_STR, _MAP, _SEQ = "tag:yaml.org,2002:str", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_EXACT = 1 << 53


class _Line(dict[Any, Any]):
    """A mapping that stands on one line."""


class _Row(list[Any]):
    """A list that stands on one line."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes no anchors: the reader refuses them."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Quoted where our reader would take it for a number; what YAML 1.1 would, the dumper quotes by itself."""
    return dumper.represent_scalar(_STR, text, style=None if plain(text) is text else "'")


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Line, lambda dumper, data: dumper.represent_mapping(_MAP, data.items(), flow_style=True))
_Dumper.add_representer(_Row, lambda dumper, data: dumper.represent_sequence(_SEQ, data, flow_style=True))


def dump(scenario: Scenario) -> str:
    """The scenario as YAML; `load_scenario` makes an equal one of it.

    What a member owns is written by topic, as it stands in Kafka's own requests, so partitions of several topics lose
    their mixed order; user data is not written, since `owned` and `generation` say the same.
    """
    return yaml.dump(document(scenario), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDE)


def document(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the plain dicts and lists of its file."""
    most = most_partitions(scenario.topics.values(), scenario.events)
    capacities = scenario.loads.capacity_per_s
    sections = {
        "description": scenario.description,
        "assignor": scenario.assignor,
        "topics": list(map(_topic, scenario.topics.values())),
        "members": [_member(member, capacities.get(member.member_id)) for member in scenario.members],
        "weights": _amounts(scenario.loads.weights, most),
        "lag": _amounts(scenario.loads.lag_records, most),
        "rates": _amounts(scenario.loads.produced_per_s, most),
        "capacity": _number(scenario.loads.default_capacity_per_s),
        "events": [_event(event, scenario.loads) for event in scenario.events],
        "protocol": dict(scenario.protocol),
    }
    return {"schema_version": 1, "name": scenario.name, **_given(sections)}


def _given(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value not in (None, "", [], {})}


def _topic(topic: Topic) -> _Line:
    racks = None if topic.racks is None else [list(racks) for racks in topic.racks]
    return _Line(_given({"name": topic.name, "partitions": topic.partitions, "racks": racks, "id": topic.topic_id}))


def _member(member: Member, capacity: float | None) -> _Line:
    entries = {
        "topics": list(member.topics) if member.pattern is None else None,
        "pattern": member.pattern,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "rack": member.rack,
        "owned": _by_topic(member.owned),
        "generation": member.generation,
        "capacity": _number(capacity),
    }
    return _Line({"id": member.member_id, **_given(entries)})


def _by_topic(owned: Sequence[TopicPartition]) -> dict[str, list[int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in owned:
        topics.setdefault(topic, []).append(partition)
    return topics


def _amounts(amounts: Mapping[TopicPartition, float], most: Mapping[str, int]) -> dict[str, Any]:
    topics: dict[str, dict[int, int | float]] = {}
    for (topic, partition), amount in amounts.items():
        topics.setdefault(topic, {})[partition] = _plain(amount)
    return {topic: _shortest(dict(sorted(given.items())), most[topic]) for topic, given in topics.items()}


def _shortest(given: dict[int, int | float], count: int) -> Any:
    """One number for equal amounts of all partitions, a list for the first ones without a gap, or a mapping."""
    if len(given) == count and len(set(given.values())) == 1:
        return next(iter(given.values()))
    return _Row(given.values()) if list(given) == list(range(len(given))) else _Line(given)


def _number(amount: float | None) -> int | float | None:
    return None if amount is None else _plain(amount)


def _plain(amount: float) -> int | float:
    return int(amount) if amount == int(amount) and abs(amount) < _EXACT else amount


def _event(event: Event, loads: Loads) -> _Line:
    return _Line({"at": duration_text(event.at_ms), **_action(event.action, loads)})


def _action(action: Action, loads: Loads) -> dict[str, Any]:
    match action:
        case Join(member, capacity):
            return {"join": _member(member, capacity or loads.capacity_per_s.get(member.member_id))}
        case Subscribe(member_id, topics, pattern):
            wanted = {"topics": list(topics)} if pattern is None else {"pattern": pattern}
            return {"subscribe": {"id": member_id, **wanted}}
        case GcPause(member_id, lasts_ms):
            return {"gc_pause": {"id": member_id, "lasts": duration_text(lasts_ms)}}
        case Slow(member_id, processing_ms):
            return {"slow": {"id": member_id, "processing": duration_text(processing_ms)}}
        case ChangeRack(member_id, rack):
            return {"rack": {"id": member_id, "rack": rack}}
        case AddPartitions(topic, partitions):
            return {"add_partitions": {topic: partitions}}
        case CreateTopic(topic):
            return {"create_topic": _topic(topic)}
    key = _KEYS[type(action)]
    return {key: True if key in BARE else getattr(action, fields(action)[0].name)}


_KEYS = {kind: key for key, kind in (NAMED | BARE).items()}
