"""What a real broker knows of its groups afterwards: its log, and its records in `__consumer_offsets`."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import uuid4

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as Place

from assignors.model import TopicPartition
from assignors.simulation.timeline.tables import GroupSpan
from lag.records import BytesColumn, GroupEvent, decode
from lag.records.group_values import GroupMetadata
from tests.fidelity.performance import Ownership
from tests.support.known import known
from tests.support.waiting import wait_until

REQUEST_LOGGER = "kafka.request.logger"
GROUP_LOGGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
_TIME = "%Y-%m-%d %H:%M:%S,%f"
_TIME_LENGTH = len("2026-01-01 00:00:00,000")
_PHASES = (
    ("PreparingRebalance", re.compile(r"Preparing to rebalance group (\S+) in state \w+ with old generation (\d+)")),
    ("CompletingRebalance", re.compile(r"Stabilized group (\S+) generation (\d+) with")),
    ("Stable", re.compile(r"Assignment received from leader \S+ for group (\S+) for generation (\d+)")),
)
_REQUEST = "Completed request:"
_BEATS = ("HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT")
_STABLE = 0


@dataclass(frozen=True, slots=True)
class Record:
    """A group's record, and when it was written, in ms since 1970."""

    at_ms: int
    event: GroupEvent


def wait_for_coordinator(bootstrap_servers: str) -> None:
    """Come back once the coordinator of all groups has loaded them."""
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": uuid4().hex, "log_level": 0})

    def answers() -> bool:
        try:
            return bool(consumer.committed([Place("any", 0)], timeout=5))
        except KafkaException:
            return False

    wait_until(answers)
    consumer.close()


def records(bootstrap_servers: str) -> list[Record]:
    """All that is in `__consumer_offsets`, which has one partition, of groups."""
    place = Place("__consumer_offsets", 0, 0)
    consumer = Consumer({"bootstrap.servers": bootstrap_servers, "group.id": uuid4().hex, "enable.auto.commit": False})
    consumer.assign([place])
    end = consumer.get_watermark_offsets(place)[1]
    found: list[Any] = []
    while consumer.position([place])[0].offset < end:
        found += consumer.consume(1000, 0.2)
    consumer.close()
    decoded = decode(BytesColumn.of(each.key() for each in found), BytesColumn.of(each.value() for each in found))
    return [Record(found[event.row].timestamp()[1], event) for event in decoded.events]


def _lines(log: str, mark: str) -> Iterator[tuple[float, str]]:
    for line in log.splitlines():
        if mark in line:
            yield datetime.strptime(line[:_TIME_LENGTH], _TIME).timestamp() * 1000, line


def heartbeats(log: str, group_id: str, before_ms: float) -> dict[str, float]:
    """When the last heartbeat of each member came before that time, by member id, in ms since 1970."""
    found = {}
    for at_ms, line in _lines(log, _REQUEST):
        stated = json.loads(line[line.index(_REQUEST) + len(_REQUEST) :])
        request = stated["request"]  # "" of one that came before the log was switched on
        is_beat = request and stated["requestHeader"]["requestApiKeyName"] in _BEATS
        if is_beat and request["groupId"] == group_id and at_ms < before_ms:
            found[request["memberId"]] = at_ms
    return found


def classic_lane(log: str, group_id: str, began_ms: float) -> Iterator[GroupSpan]:
    """The states of a classic group, since then."""
    for at_ms, line in _lines(log, f" {group_id} "):
        for state, pattern in _PHASES:
            if (found := pattern.search(line)) and found[1] == group_id and at_ms >= began_ms:
                yield GroupSpan(state, int(found[2]), round(at_ms - began_ms), 0)


@dataclass(frozen=True, slots=True)
class Standing:
    """A group that has become Stable: who owns what, by member id; the leader of a classic group comes first."""

    at_ms: int
    generation: int
    owned: Mapping[str, tuple[TopicPartition, ...]]
    client_ids: Mapping[str, str]

    def by_name(self) -> Ownership:
        """The same by client id."""
        return {self.client_ids[member_id]: sorted(owned) for member_id, owned in self.owned.items()}


def classic_standings(written: Iterable[Record], group_id: str) -> Iterator[Standing]:
    """Each time that a classic group became Stable, and each swap of a static member."""
    for record in written:
        event, value = record.event, record.event.value
        if event.kind == "group" and event.group_id == group_id and isinstance(value, GroupMetadata) and value.members:
            members = sorted(value.members, key=lambda member: member.member_id != value.leader)
            owned = {
                member.member_id: tuple(
                    TopicPartition(each.topic, number)
                    for each in known(member.assignment).partitions
                    for number in each.partitions
                )
                for member in members
            }
            names = {member.member_id: member.client_id for member in members}
            yield Standing(record.at_ms, value.generation, owned, names)


@dataclass
class ConsumerGroup:
    """A KIP-848 group as its records have it (Kafka: ConsumerGroup.maybeUpdateGroupState)."""

    topic: str
    epoch: int = 0
    target_epoch: int = 0
    client_ids: dict[str, str] = field(default_factory=dict)
    current: dict[str, Any] = field(default_factory=dict)

    def read(self, event: GroupEvent) -> None:
        """What a record changes."""
        member_id: str = event.member_id or ""
        value: Any = event.value
        match event.kind:
            case "consumer_group_metadata" if value is not None:
                self.epoch = value.epoch
            case "consumer_group_target_assignment_metadata" if value is not None:
                self.target_epoch = value.assignment_epoch
            case "consumer_group_member_metadata":
                _put(self.client_ids, member_id, None if value is None else value.client_id)
            case "consumer_group_current_member_assignment":
                _put(self.current, member_id, value)

    @property
    def state(self) -> str:
        """Kafka's name of it."""
        if not self.client_ids:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        return "Stable" if all(map(self._is_reconciled, self.client_ids)) else "Reconciling"

    def _is_reconciled(self, member_id: str) -> bool:
        current = self.current.get(member_id)
        return current is not None and (current.state, current.member_epoch) == (_STABLE, self.target_epoch)

    def standing(self, at_ms: int) -> Standing:
        """Who owns what now."""
        owned = {
            member_id: tuple(
                TopicPartition(self.topic, number)
                for each in self.current[member_id].assigned_partitions
                for number in sorted(each.partitions)
            )
            for member_id in self.client_ids
        }
        return Standing(at_ms, self.epoch, owned, dict(self.client_ids))


def _put(into: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        into.pop(key, None)
    else:
        into[key] = value


def consumer_history(
    written: Sequence[Record], group_id: str, topic: str, began_ms: float
) -> tuple[list[GroupSpan], list[Standing]]:
    """The states of a KIP-848 group since then, and each time that it became Stable."""
    group, lane, standings = ConsumerGroup(topic), [], []
    own = [record for record in written if record.event.group_id == group_id]
    for at_ms, batch in groupby(own, attrgetter("at_ms")):
        for record in batch:
            group.read(record.event)
        lane.append(GroupSpan(group.state, group.epoch, round(at_ms - began_ms), 0))
        if group.state == "Stable":
            standings.append(group.standing(at_ms))
    return [span for span in lane if span.start_ms >= 0], standings
