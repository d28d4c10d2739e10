"""What Kafka itself says of the groups, asked by its Java client on the direct listeners; the verdicts that follow."""

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jpype

from tests.reliability.workload import READS, STUCK
from tests.support.java import start_jvm

_ANSWER_WITHIN_MS = "5000"
_REQUEST_WITHIN_MS = "1500"  # a frozen broker is given up, and the new leader asked
_ASK_EVERY_S = 0.5
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
        start_jvm()
        properties = jpype.JClass("java.util.Properties")()
        properties.put("bootstrap.servers", servers)
        properties.put("default.api.timeout.ms", _ANSWER_WITHIN_MS)
        properties.put("request.timeout.ms", _REQUEST_WITHIN_MS)
        self._admin: Any = jpype.JClass("org.apache.kafka.clients.admin.Admin").create(properties)
        self._answers: list[tuple[float, dict[str, Group]]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="truth", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the client."""
        self._stopping.set()
        self._thread.join()
        self._admin.close()

    def during(self, from_s: float) -> list[dict[str, Group]]:
        """The answers since then (on a monotonic clock), also while groups were at unrest."""
        return [answer for at_s, answer in self._answers if at_s >= from_s]

    def _watch(self) -> None:
        while not self._stopping.wait(_ASK_EVERY_S):
            with suppress(jpype.JException):
                asked_s, answer = time.monotonic(), self._ask()
                self._answers.append((asked_s, answer))

    def groups(self) -> dict[str, Group] | None:
        """All groups; None while Kafka itself has not all of the answer, or its groups have not come to rest."""
        try:
            found = self._ask()
        except jpype.JException:
            return None
        return found if _well(found) else None

    def _ask(self) -> dict[str, Group]:
        names = [str(group.groupId()) for group in self._admin.listConsumerGroups().all().get()]
        described = self._admin.describeConsumerGroups(names).all().get()
        committed = {name: self._committed(name) for name in names}
        ends = self._ends({place for its in committed.values() for place in its})
        return {name: _group(described.get(name), committed[name], ends) for name in names}

    def _committed(self, group: str) -> dict[tuple[str, int], int]:
        found = self._admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get()
        return {_place(one.getKey()): int(one.getValue().offset()) for one in found.entrySet() if one.getValue()}

    def _ends(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], tuple[int, int]]:
        spec = jpype.JClass("org.apache.kafka.clients.admin.OffsetSpec")
        starts, ends = (self._offsets(places, one) for one in (spec.earliest(), spec.latest()))
        return {place: (starts[place], ends[place]) for place in places}

    def _offsets(self, places: Iterable[tuple[str, int]], spec: Any) -> dict[tuple[str, int], int]:
        asked = jpype.JClass("java.util.HashMap")()
        java_place = jpype.JClass("org.apache.kafka.common.TopicPartition")
        for topic, partition in places:
            asked.put(java_place(topic, partition), spec)
        found = self._admin.listOffsets(asked).all().get()
        return {_place(one.getKey()): int(one.getValue().offset()) for one in found.entrySet()}


def _place(java: Any) -> tuple[str, int]:
    return str(java.topic()), int(java.partition())


def _group(
    described: Any, committed: Mapping[tuple[str, int], int], ends: Mapping[tuple[str, int], tuple[int, int]]
) -> Group:
    return Group(
        stable=str(described.groupState()) == "Stable",
        members=described.members().size(),
        partitions={place: Partition(offset, *ends[place]) for place, offset in committed.items()},
    )


def _well(groups: Mapping[str, Group]) -> bool:
    """The groups with members have them, and `reads` has read what arrived during a fault."""
    members = [groups[name] for name in (READS, STUCK) if name in groups]
    return len(members) == 2 and all(its.stable and its.members for its in members) and groups[READS].lag <= _KEEPS_UP
