"""What Kafka itself says of the groups, asked by librdkafka on the direct listeners, and the verdicts that follow."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, KafkaError, KafkaException
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, OffsetSpec

from tests.reliability.workload import READS, STUCK
from tests.support.known import known

_TIMEOUT_S = 5.0
_KEEPS_UP = 200
"""Records: `reads` commits every half second what arrives at 20 records a second."""

MOVING = frozenset({"ok", "catching_up"})


@dataclass(frozen=True, slots=True)
class Partition:
    """Offsets of a group in a partition."""

    committed: int
    log_start: int
    log_end: int

    @property
    def lag(self) -> int:
        """Records that wait and still exist."""
        return self.log_end - max(self.committed, self.log_start)


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its coordinator describes it."""

    stable: bool
    members: int
    partitions: Mapping[tuple[str, int], Partition]

    @property
    def lag(self) -> int:
        """Over all partitions."""
        return sum(partition.lag for partition in self.partitions.values())

    @property
    def rests(self) -> bool:
        """Without members nothing moves, so that the lag is one number."""
        return self.members == 0


def verdicts(group: str, its: Group) -> frozenset[str]:
    """The right ones. What `reads` is at this moment depends on the moment: well, or catching up after a fault."""
    if any(one.committed < one.log_start for one in its.partitions.values()):
        return frozenset({"lost"})
    if any(one.committed > one.log_end for one in its.partitions.values()):
        return frozenset({"beyond_end"})
    if group == READS:
        return MOVING
    if its.members:
        return frozenset({"stopped"})
    return frozenset({"no_members" if its.lag else "ok"})


class Truth:
    """Asks Kafka. One client for all questions: it knows the brokers already when one of them is gone."""

    def __init__(self, servers: str) -> None:
        self._admin = AdminClient({"bootstrap.servers": servers, "socket.timeout.ms": 5_000})

    def groups(self) -> dict[str, Group] | None:
        """All groups; None while Kafka itself has not all of the answer, or its groups have not come to rest."""
        try:
            found = self._ask()
        except (KafkaException, KeyError):
            return None
        return found if _well(found) else None

    def _ask(self) -> dict[str, Group]:
        listed = self._admin.list_consumer_groups(request_timeout=_TIMEOUT_S).result()
        if listed.errors:
            raise KafkaException(listed.errors[0])
        names = [group.group_id for group in listed.valid]
        described = self._admin.describe_consumer_groups(names, request_timeout=_TIMEOUT_S)
        asked = {name: self._committed(name) for name in names}
        ends = self._ends({place for committed in asked.values() for place in committed})
        return {
            name: Group(
                described[name].result().state == ConsumerGroupState.STABLE,
                len(described[name].result().members),
                {place: Partition(offset, *ends[place]) for place, offset in asked[name].items()},
            )
            for name in names
        }

    def _committed(self, group: str) -> dict[tuple[str, int], int]:
        futures = self._admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=_TIMEOUT_S
        )
        found = futures[group].result().topic_partitions
        for place in found:
            if place.error is not None:
                raise KafkaException(place.error)
        return {(place.topic, place.partition): place.offset for place in found if place.offset >= 0}

    def _ends(self, places: set[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        starts, ends = (self._offsets(places, spec()) for spec in (OffsetSpec.earliest, OffsetSpec.latest))
        return {place: (starts[place], ends[place]) for place in places}

    def _offsets(self, places: set[tuple[str, int]], spec: OffsetSpec) -> dict[tuple[str, int], int]:
        futures = self._admin.list_offsets({Place(*place): spec for place in places}, request_timeout=_TIMEOUT_S)
        return {(place.topic, place.partition): future.result().offset for place, future in futures.items()}


def _well(groups: Mapping[str, Group]) -> bool:
    """The groups with members have them, and `reads` has read what arrived during a fault."""
    members = [groups[name] for name in (READS, STUCK)]
    return all(its.stable and its.members for its in members) and groups[READS].lag <= _KEEPS_UP
