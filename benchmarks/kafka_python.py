"""kafka-python's assignors: what they take for the same groups, and how often they give something else or crash."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from assignors.model import Group
from benchmarks import child
from benchmarks.report import Row
from tests.oracle import client_cases
from tests.oracle.client_assignors import NAMES, on_the_wire, ours

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}
DRAWS = 400
PATIENCE_S = 60.0


class Cluster:
    """What kafka-python asks of its cluster metadata."""

    def __init__(self, group: Group) -> None:
        self._partitions = {topic.name: set(range(topic.partitions)) for topic in group.topics.values()}

    def topics(self) -> set[str]:
        """The names of all topics."""
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """The numbers of the topic's partitions; None when it is not known."""
        return self._partitions.get(topic) or None


def call(name: str, group: Group) -> Callable[[], Any]:
    """kafka-python's assignor, ready to be called."""
    members = [
        SimpleNamespace(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            metadata=ConsumerProtocolSubscription.decode(on_the_wire(name, member)),
        )
        for member in group.members
    ]
    assignor = ASSIGNORS[name]()
    return lambda: assignor.assign(Cluster(group), members)


def took(name: str, group: Group) -> str:
    """How long one call takes, in a process of its own, which is ended after a while."""
    return child.answer(PATIENCE_S, _measure, name, group) or f"> {PATIENCE_S:.0f} s"


def _measure(name: str, group: Group) -> str:
    made = call(name, group)
    began = time.perf_counter()
    try:
        made()
    except Exception as error:  # noqa: BLE001 - whatever it fails with is the finding
        return type(error).__name__
    return f"{(time.perf_counter() - began) * 1e3:.1f} ms"


FAMILIES: dict[str, Callable[[random.Random], Group]] = {
    "equal subscriptions": client_cases.fresh,
    "mixed subscriptions": client_cases.fresh_mixed,
    "members own partitions": client_cases.owned,
    "static members": client_cases.static,
}


def rows() -> Iterator[Row]:
    """How often, in random groups without racks, members get other partitions than Kafka gives them; order apart."""
    for family, generate in FAMILIES.items():
        for name in NAMES:
            tally = Counter(_verdict(name, generate(random.Random(f"{family}/{number}"))) for number in range(DRAWS))
            failed = {verdict: count for verdict, count in tally.items() if verdict not in ("same", "differs")}
            crashes = "".join(f", {count} x {verdict}" for verdict, count in failed.items())
            yield Row(f"kafka-python {name}, {family}", f"{tally['differs']}/{DRAWS}", f"differ from Kafka{crashes}")


def _verdict(name: str, group: Group) -> str:
    wanted = ours(name, group)
    try:
        given = call(name, group)()
    except Exception as error:  # noqa: BLE001 - whatever it fails with is the finding
        return f"{type(error).__name__}"
    if isinstance(wanted, str):
        return "same"
    sets = {
        member: {(topic, number) for topic, numbers in plan.assigned_partitions for number in numbers}
        for member, plan in given.items()
    }
    return "same" if sets == {member: {tuple(tp) for tp in owned} for member, owned in wanted.items()} else "differs"
