"""The client's assignors beside Kafka's own and kafka-python's: the same groups in one run, Java warm, in its JVM.

Java's figure is that of `assignPartitions(partitions by topic, subscriptions)`, the work itself: without the union of
all subscriptions that `assign(Cluster, ...)` builds first. Ours come twice: from arrays to arrays, and from a `Group`
to lists of `TopicPartition` objects, which is what Java makes.
"""

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from assignors import get, layout
from assignors.arrays import GroupArrays, group_arrays
from assignors.client.sticky import claims
from assignors.client.sticky.assignor import has_equal_subscriptions
from assignors.layout import read_all
from assignors.model import Assignor, Group, Member
from benchmarks import child, jvm, kafka_python
from benchmarks.java_clients import warm_ms
from benchmarks.report import Row
from tests.oracle.client_assignors import NAMES
from tests.oracle.client_cases import mixed_family

SIZES = ((10, 10, 10), (10, 100, 100), (50, 200, 100), (500, 200, 1000), (500, 2000, 2000))
MIXED = (
    *((family, size) for size in SIZES[1:4] for family in ("bucket5", "lastone", "overlap")),
    *((family, SIZES[4]) for family in ("lastone", "bucket5", "overlap")),
    ("mod4", (100, 200, 500)),
    ("mod4", SIZES[3]),
)
MIXED_STICKY = tuple((family, SIZES[2]) for family in ("bucket5", "lastone", "overlap"))
STICKY = ("sticky", "cooperative-sticky")
PATIENCE_S = 120
PEER_PARTITIONS = 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """One call: a group for one assignor."""

    what: str
    name: str
    group: Group
    warm_up: Group


def rows() -> Iterator[Row]:
    """Equal subscriptions, then mixed ones, then how often kafka-python differs."""
    for size in SIZES:
        for name in NAMES:
            yield from _compare(name, "equal", size)
    for family, size in MIXED:
        yield from _compare("cooperative-sticky", family, size)
    for family, size in MIXED_STICKY:
        yield from _compare("sticky", family, size)
    yield from kafka_python.rows()


def _compare(name: str, family: str, size: tuple[int, int, int]) -> Iterator[Row]:
    """Fresh; for sticky ones also when one of those who own partitions leaves and another one joins."""
    topics, partitions, members = size
    fresh, small = mixed_family(family, *size), mixed_family(family, 10, 10, 10)
    what = f"{name}, {family}, {topics * partitions:,} partitions, {members:,} members"
    yield from _beside_others(Case(f"{what}: fresh", name, fresh, small))
    if name in STICKY:
        case = Case(f"{what}: 1 leaves, 1 joins", name, leave_and_join(name, fresh), leave_and_join(name, small))
        yield from _beside_others(case)


def leave_and_join(name: str, group: Group) -> Group:
    """All own what the assignor gave them; the first member goes and a new one comes."""
    plan = get(name).assign(group).by_member
    owning = [replace(member, owned=plan[member.member_id], generation=1) for member in group.members[1:]]
    newcomer = Member("consumer-new", topics=group.members[0].topics)
    return replace(group, members=(*owning, newcomer))


def arrays_of(name: str, group: Group) -> GroupArrays:
    """The group as arrays, with what its members claim."""
    arrays = group_arrays(group)
    if name == "sticky":
        return replace(
            arrays, claims=claims.of_sticky(group.members, arrays.layout, ordered=not has_equal_subscriptions(arrays))
        )
    if name == "cooperative-sticky":
        return replace(arrays, claims=claims.of_cooperative(group.members, arrays.layout))
    return arrays


def _beside_others(case: Case) -> Iterator[Row]:
    arrays = arrays_of(case.name, case.group)
    assignor: Any = get(case.name)
    numbers = jvm.our_ms(lambda: assignor.assign_arrays(arrays))
    objects = jvm.our_ms(lambda: _objects(assignor, case.group))
    memory = _bytes_per_partition(lambda: assignor.assign_arrays(arrays), len(arrays.layout))
    java = child.answer(PATIENCE_S, warm_ms, case.name, as_plain(case.group), as_plain(case.warm_up))
    ratio = "Java > 120 s" if java is None else f"Java {java:.3f} ms = {java / numbers:.1f}x, {java / objects:.1f}x"
    yield Row(case.what, f"{numbers:.3f} ms", f"objects {objects:.2f} ms; {ratio}; {memory:.0f} bytes a partition")
    if len(arrays.layout) <= PEER_PARTITIONS:
        yield Row(f"  kafka-python: {case.what}", kafka_python.took(case.name, as_plain(case.group)), "")


def _objects(assignor: Assignor, group: Group) -> None:
    """As in Java, each call makes its partitions again; plans of one group share them otherwise."""
    layout._objects.cache_clear()
    read_all(assignor.assign(group).by_member)


def as_plain(group: Group) -> Group:
    """The same group with tuples for owned partitions, as another process can be given it."""
    return replace(group, members=tuple(replace(member, owned=tuple(member.owned)) for member in group.members))


def _bytes_per_partition(call: Callable[[], Any], partitions: int) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / partitions
