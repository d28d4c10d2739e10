"""The broker's assignors beside Kafka's own: same groups, same run, Java warm and timed inside its JVM."""

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from assignors.broker.server_range import ServerRangeAssignor
from assignors.broker.share_simple import ShareSimpleAssignor
from assignors.broker.uniform.assignor import UniformAssignor
from assignors.model import Assignment, Group, Member, Topic
from assignors.topic_ids import kafka_text, topic_uuid
from benchmarks import jvm
from benchmarks.report import Row
from tests.oracle import server_assignors as oracle

Size = tuple[int, int, int]
OURS: Mapping[str, type[UniformAssignor] | type[ServerRangeAssignor] | type[ShareSimpleAssignor]] = {
    "uniform": UniformAssignor,
    "server-range": ServerRangeAssignor,
    "share-simple": ShareSimpleAssignor,
}
NAMES = tuple(OURS)
SIZES = ((10, 100, 10), (10, 100, 100), (50, 200, 100), (500, 200, 1000), (500, 2000, 2000))
SHARE_SIZES = (*SIZES[:3], (100, 200, 200), (100, 20, 4000), SIZES[3])
SMALL = 1_000
LARGE = 1_000_000
_COORDINATOR = "org.apache.kafka.coordinator.group."


@dataclass(frozen=True, slots=True)
class Case:
    """A group as both sides take it."""

    name: str
    group: Group
    spec: Any
    describer: Any

    def java(self) -> Any:
        """Kafka's plan."""
        return oracle.java_assignor(self.name).assign(self.spec, self.describer)

    def ours(self) -> Assignment:
        """Our plan."""
        return oracle.our_assignors()[self.name].assign(self.group)


def rows() -> Iterator[Row]:
    """For each size: a fresh group, then one member leaves, then one joins; equal subscriptions, then mixed ones."""
    jvm.start()
    for name in NAMES:
        for size in SHARE_SIZES if name == "share-simple" else SIZES:
            for family in FAMILIES if size not in SIZES[:2] else ("equal",):
                yield from _rows(name, family, size)


def _rows(name: str, family: str, size: Size) -> Iterator[Row]:
    topics, partitions, members = size
    what = f"{name}, {topics} topics x {partitions} partitions, {members:,} members, {family}"
    peaks = _peaks(name, family, size, oracle.jdk())
    records: dict[str, Any] = {}
    for event, group in _groups(name, family, size, oracle.jdk()):
        case = _case(name, group, records)
        yield _compare(f"{what}: {event}", case, peaks[event])
        records = records or oracle.java_records(case.java())


def _groups(name: str, family: str, size: Size, jdk: int) -> Iterator[tuple[str, Group]]:
    topics, partitions, members = size
    made = {f"topic-{number}": Topic(f"topic-{number}", partitions) for number in range(topics)}
    subscriptions = FAMILIES[family](tuple(made))
    everyone = [Member(f"member-{number}", topics=subscriptions(number, members)) for number in range(members)]
    fresh = Group("group", tuple(everyone), made)
    yield "fresh", fresh
    plan = OURS[name](jdk).assign(fresh).by_member
    owning = [replace(member, owned=plan[member.member_id]) for member in everyone]
    yield "one leaves", Group("group", tuple(owning[1:]), made)
    newcomer = Member("member-new", topics=everyone[0].topics)
    yield "one joins", Group("group", (*owning, newcomer), made)


def _peaks(name: str, family: str, size: Size, jdk: int) -> dict[str, int]:
    """Bytes that planning takes at most, by event; in a process without Java, whose threads tracemalloc cannot bear."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(_peaks_here, name, family, size, jdk).result()


def _peaks_here(name: str, family: str, size: Size, jdk: int) -> dict[str, int]:
    assignor = OURS[name](jdk)
    found = {}
    for event, group in _groups(name, family, size, jdk):
        for _ in range(2):  # what members own is read once; what is imported on the way must not count
            assignor.assign(group)
        tracemalloc.start()
        plan = assignor.assign(group)
        found[event] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del plan
    return found


Subscriptions = Callable[[int, int], tuple[str, ...]]


def _equal(names: tuple[str, ...]) -> Subscriptions:
    return lambda number, members: names


def _five_buckets(names: tuple[str, ...]) -> Subscriptions:
    buckets = [names[start::5] for start in range(5)]
    return lambda number, members: buckets[number % 5]


def _last_one(names: tuple[str, ...]) -> Subscriptions:
    first = names[:1]
    return lambda number, members: first if number == members - 1 else names


FAMILIES = {"equal": _equal, "bucket5": _five_buckets, "lastone": _last_one}


def _case(name: str, group: Group, records: Mapping[str, Any]) -> Case:
    key = oracle.image_key(group)
    return Case(name, group, oracle.java_spec(group, records=records), oracle.describer(key))


def _compare(what: str, case: Case, peak_bytes: int) -> Row:
    names = {kafka_text(topic_uuid(topic)): topic.name for topic in case.group.topics.values()}
    theirs = oracle.read_plan(str(case.java().members().toString()), names)
    assert oracle.same(theirs, case.ours()), what
    del theirs
    java_ms, our_ms = jvm.java_ms(case.java), jvm.our_ms(case.ours)
    total = sum(topic.partitions for topic in case.group.topics.values())
    is_equal = len({member.topics for member in case.group.members}) == 1
    goal = " (goal: not slower)" if total <= SMALL else " (goal 5x)" if total >= LARGE and is_equal else ""
    memory = f", {peak_bytes / total:.0f} bytes a partition (goal < 100)"
    return Row(what, f"{our_ms:.2f} ms", f"Java {java_ms:.3f} ms: {java_ms / our_ms:.1f}x{goal}{memory}")
