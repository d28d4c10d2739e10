"""Reads the document of `groupscope snapshot --json` as a fleet.

The document has no subscriptions, topic sizes, rates or racks of partitions. So each member is assumed to subscribe to
all topics of its group, a topic has the partitions that appear in any group, and drain times are unknown.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assignors.model import TopicPartition
from assignors.scenario.problems import path_text
from assignors.spelling import shown
from lag.errors import ConfigError, GroupscopeError
from lag.generations.live_group import scenario_at
from lag.model import GroupSnapshot, GroupType, Member, Topic, is_internal_group
from lag.offsets import PartitionLag, PartitionProblem
from lag.sweeps.fleet import Fleet, InputProblem
from lag.verdict.health import Finding, PartitionHealth, TimeLag
from lag.verdict.status import Status

NOTE = "A snapshot has no subscriptions: each member is assumed to subscribe to all topics of its group."
_UNSEEN = PartitionHealth(
    Finding(Status.UNKNOWN, "", ""), None, None, TimeLag(None), None, None, np.empty(0, np.float64)
)

Number = Annotated[int, Field(ge=0)]
Owned = list[tuple[str, Number]]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Row(_Model):
    topic: str
    partition: Number
    lag: Number | None = None
    problem: str | None = None
    member_id: str | None = None


class _Member(_Model):
    member_id: str
    instance_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    rack: str | None = None
    epoch: int | None = None
    assigned: Owned
    target: Owned | None = None


class _Group(_Model):
    group_id: str
    type: Literal["classic", "consumer", "share", "streams", "unknown"]
    state: str
    assignor: str | None = None
    epoch: int | None = None
    members: list[_Member]
    partitions: list[_Row]


def read_document(path: Path) -> Fleet:
    """The groups of the file. Raises ConfigError if it is not such a document."""
    document = _read(path)
    groups, problems = _groups(path, document["groups"])
    scenarios, skipped = [], []
    topics = _topics(groups)
    for group in (group for group in groups if not is_internal_group(group.group_id)):
        try:
            found = _snapshot(group, document)
            scenarios.append(scenario_at(found, topics, [_UNSEEN] * len(found.partitions), 0).scenario)
        except GroupscopeError as error:
            skipped.append(InputProblem(group.group_id, "", str(error)))
    return Fleet(str(document.get("cluster_id") or path.name), tuple(scenarios), tuple(problems), tuple(skipped))


def _read(path: Path) -> Mapping[str, Any]:
    hint = "Write one: groupscope snapshot --bootstrap-server HOST:PORT --json > FILE"
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", hint) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not a JSON document: {error}", hint) from None
    if not isinstance(document, dict) or document.get("schema") != 1 or not isinstance(document.get("groups"), list):
        raise ConfigError(f"{path} is not a snapshot of schema 1", hint)
    return document


def _groups(path: Path, rows: Iterable[Any]) -> tuple[list[_Group], list[InputProblem]]:
    found: dict[str, _Group] = {}
    problems: list[InputProblem] = []
    for number, row in enumerate(rows):
        try:
            group = _Group.model_validate_json(json.dumps(row))
        except ValidationError as error:
            problems += _troubles(path, number, error)
            continue
        if found.setdefault(group.group_id, group) is not group:
            place = path_text(("groups", number, "group_id"))
            problems.append(InputProblem(str(path), place, f"Another group has the id {shown(group.group_id)!r}."))
    return list(found.values()), problems


def _troubles(path: Path, number: int, error: ValidationError) -> Iterator[InputProblem]:
    for its in error.errors(include_url=False, include_input=False):
        yield InputProblem(str(path), path_text(("groups", number, *its["loc"])), f"{its['msg']}.")


def _topics(groups: Iterable[_Group]) -> dict[str, Topic]:
    sizes: dict[str, int] = {}
    for group in groups:
        for row in (row for row in group.partitions if row.problem != PartitionProblem.TOPIC_DELETED):
            sizes[row.topic] = max(sizes.get(row.topic, 0), row.partition + 1)
    return {name: Topic(name, None, size) for name, size in sizes.items()}


def _snapshot(group: _Group, document: Mapping[str, Any]) -> GroupSnapshot:
    at_ms = document.get("at_ms") if isinstance(document.get("at_ms"), int) else 0
    topics = tuple(sorted({row.topic for row in group.partitions}))
    return GroupSnapshot(
        cluster=str(document.get("cluster_id")),
        group_id=group.group_id,
        type=GroupType(group.type),
        state=group.state,
        coordinator=None,
        assignor=group.assignor,
        epoch=group.epoch,
        members=tuple(_member(its, topics) for its in group.members),
        partitions=[_row(its, at_ms or 0) for its in group.partitions],
        at_ms=at_ms or 0,
    )


def _member(its: _Member, topics: tuple[str, ...]) -> Member:
    return Member(
        member_id=its.member_id,
        client_id=its.client_id or "",
        host=its.host or "",
        instance_id=its.instance_id,
        rack=its.rack,
        epoch=its.epoch,
        topics=topics,
        assigned=_owned(its.assigned),
        target=None if its.target is None else _owned(its.target),
    )


def _owned(pairs: Owned) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, partition) for topic, partition in pairs)


def _row(its: _Row, at_ms: int) -> PartitionLag:
    tp = TopicPartition(its.topic, its.partition)
    return PartitionLag(tp, None, None, None, None, its.lag, its.member_id, at_ms)
