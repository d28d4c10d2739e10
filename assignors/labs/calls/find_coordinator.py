"""Which broker coordinates a group, and what happens to that when a broker dies."""

from collections.abc import Iterable, Mapping

from assignors.javahash.hashes import string_hash
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, Refusal, Verb, listed
from assignors.offsets_partition import DEFAULT_PARTITIONS, OFFSETS_TOPIC, offsets_partition

MOST_BROKERS, MOST_PARTITIONS, REPLICAS = 9, 1_000, 3


class Finder(Machine):
    """Partitions of `__consumer_offsets` are assigned to the brokers in turn; the next brokers are the followers.

    That layout is an assumption; the Group page shows the leaders of a real cluster.
    """

    def __init__(self) -> None:
        self._brokers, self._partitions = 3, DEFAULT_PARTITIONS
        self._dead: set[int] = set()

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("brokers COUNT", self._set_brokers),
            Verb("offsets-topic PARTITIONS", self._set_partitions),
            Verb("broker-dies NUMBER", self._dies),
            Verb("broker-back NUMBER", self._back),
            Verb("find GROUP", self._find),
        )

    def state(self) -> Mapping[str, str]:
        alive = [number for number in range(1, self._brokers + 1) if number not in self._dead]
        return {"brokers alive": listed(alive), OFFSETS_TOPIC: f"{self._partitions} partitions"}

    def _set_brokers(self, call: Call) -> str:
        if not 1 <= call.number(0) <= MOST_BROKERS:
            raise call.wrong(f"a cluster has 1 to {MOST_BROKERS} brokers here.")
        self._brokers = call.number(0)
        self._dead.clear()
        return f"brokers 1 to {self._brokers}"

    def _set_partitions(self, call: Call) -> str:
        if not 1 <= call.number(0) <= MOST_PARTITIONS:
            raise call.wrong(f"use 1 to {MOST_PARTITIONS:,} partitions.")
        self._partitions = call.number(0)
        return f"offsets.topic.num.partitions is {self._partitions}"

    def _broker(self, call: Call) -> int:
        if not 1 <= call.number(0) <= self._brokers:
            raise call.wrong(f"there are brokers 1 to {self._brokers}.")
        return call.number(0)

    def _dies(self, call: Call) -> str:
        self._dead.add(self._broker(call))
        return "the next live replica of each of its partitions becomes leader"

    def _back(self, call: Call) -> str:
        self._dead.discard(self._broker(call))
        return "it leads its preferred partitions again"

    def _find(self, call: Call) -> str:
        group = call.words[0]
        partition = offsets_partition(group, self._partitions)
        replicas = [(partition + at) % self._brokers + 1 for at in range(min(REPLICAS, self._brokers))]
        leader = next((number for number in replicas if number not in self._dead), None)
        location = f"hash {string_hash(group)}, partition {partition}"
        if leader is None:
            raise Refusal(
                "COORDINATOR_NOT_AVAILABLE", f"{location}: none of its replicas ({listed(replicas)}) is alive"
            )
        return f"{location}, led by broker {leader}"
