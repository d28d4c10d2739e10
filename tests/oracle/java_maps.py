"""`java.util.HashMap` and our model of it, put through the same operations."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any
from uuid import UUID

import jpype

from assignors.javahash import INTEGERS, STRINGS, TOPIC_PARTITIONS, UUIDS, JavaHashMap, Keys
from assignors.model import TopicPartition
from tests.oracle.tally import Checked, generator


@dataclass(frozen=True)
class Family:
    """Keys of one kind: ours, how they are made Java's, and how the two compare as text."""

    name: str
    keys: Keys[Any]
    to_java: Callable[[Any], Any]
    to_text: Callable[[Any], str]
    draw: Callable[[random.Random], list[Any]]


def families() -> list[Family]:
    """Every kind of key; half of them with collisions that turn buckets into trees. The JVM must run."""
    integer = jpype.JClass("java.lang.Integer").valueOf
    text = jpype.JClass("java.lang.String")
    uuid = jpype.JClass("org.apache.kafka.common.Uuid")
    partition = jpype.JClass("org.apache.kafka.common.TopicPartition")

    def to_uuid(key: UUID) -> Any:
        return uuid(*(_signed(half) for half in (key.int >> 64, key.int & (2**64 - 1))))

    def uuid_text(key: UUID) -> str:
        return str(to_uuid(key).toString())

    def to_partition(key: TopicPartition) -> Any:
        return partition(key.topic, key.partition)

    return [
        Family("small integers", INTEGERS, integer, str, lambda r: list(range(r.randrange(1, 80)))),
        Family("strided integers", INTEGERS, integer, str, strided),
        Family("any integers", INTEGERS, integer, str, lambda r: [r.randrange(-(2**31), 2**31) for _ in range(60)]),
        Family("words", STRINGS, text, str, words),
        Family("strings of one hash code", STRINGS, text, str, same_code_strings),
        Family("ids", UUIDS, to_uuid, uuid_text, lambda r: [UUID(int=r.getrandbits(128)) for _ in range(70)]),
        Family("ids of one hash code", UUIDS, to_uuid, uuid_text, same_code_uuids),
        Family("partitions", TOPIC_PARTITIONS, to_partition, str, partitions),
        Family("strided partitions", TOPIC_PARTITIONS, to_partition, str, strided_partitions),
    ]


def words(r: random.Random) -> list[str]:
    """Member ids of many lengths, some with a character of two UTF-16 units."""
    return [f"member-{r.randrange(10**6)}-é𝄞"[: r.randrange(20)] for _ in range(70)]


def partitions(r: random.Random) -> list[TopicPartition]:
    """All partitions of a few topics."""
    sizes = [r.randrange(1, 30) for _ in range(r.randrange(1, 5))]
    return [TopicPartition(f"t{topic}", number) for topic, size in enumerate(sizes) for number in range(size)]


def strided_partitions(r: random.Random) -> list[TopicPartition]:
    """Partitions of one topic that share their low bits."""
    return [TopicPartition("t", number) for number in strided(r)]


def strided(r: random.Random) -> list[int]:
    """Numbers that share their low bits, some their high ones too."""
    stride = 1 << r.randrange(3, 10)
    numbers = [stride * n for n in range(r.randrange(5, 60))]
    return numbers + [r.randrange(1000) * 7 for _ in range(r.randrange(20))]


def same_code_strings(r: random.Random) -> list[str]:
    """Strings that share all bits of their hash codes ("Aa" and "BB" do), and a few others."""
    same = ["".join(parts) for parts in product(("Aa", "BB"), repeat=r.randrange(3, 6))]
    return same + [str(n) for n in range(r.randrange(20))]


def same_code_uuids(r: random.Random) -> list[UUID]:
    """Ids whose four 32-bit words cancel out to one value; of both signs."""
    made = []
    for _ in range(r.randrange(8, 40)):
        a, b, c = (r.getrandbits(32) for _ in range(3))
        made.append(UUID(int=a << 96 | b << 64 | c << 32 | (a ^ b ^ c ^ r.randrange(2))))
    return made


def _signed(long: int) -> Any:
    return jpype.JLong(long - 2**64 if long >= 2**63 else long)


Operations = tuple[Family, int | None, list[tuple[str, Any]]]


def sequence(r: random.Random, kinds: Sequence[Family]) -> Operations:
    """Random operations on one map: the kind of keys, the initial capacity, and (operation, key) in turn."""
    family = r.choice(kinds)
    pool = list(dict.fromkeys(family.draw(r)))
    weights = r.choice([(10, 0, 0, 0), (0, 10, 0, 0), (6, 3, 2, 1), (5, 5, 5, 0), (4, 1, 4, 4)])
    operations = r.choices(("put", "compute", "remove", "iterator"), weights, k=r.randrange(1, 3 * len(pool) + 2))
    return family, r.choice((None, None, 0, 1, 3, 12, 64, 100)), [(name, r.choice(pool)) for name in operations]


class MapOracle:
    """Java's `HashMap` and ours after random operations. The JVM must run."""

    def __init__(self) -> None:
        self._kinds = families()

    def __call__(self, seed: int, number: int) -> Iterator[Checked]:
        """One sequence of operations."""
        yield Checked("java maps", compare(*sequence(generator(seed, number), self._kinds)))


def compare(family: Family, initial: int | None, operations: Sequence[tuple[str, Any]]) -> str:
    """Run one sequence on both; "" or the first difference."""
    java_map = jpype.JClass("java.util.HashMap")
    theirs = java_map() if initial is None else java_map(jpype.JInt(initial))
    ours: JavaHashMap[Any, bool] = JavaHashMap(family.keys, initial)
    identity = jpype.JClass("java.util.function.Function").identity()
    for name, key in operations:
        java_key = family.to_java(key)
        if name == "put":
            theirs.put(java_key, java_key)
            ours[key] = True
        elif name == "compute":
            theirs.computeIfAbsent(java_key, identity)
            ours.compute_if_absent(key, lambda: True)
        elif key in ours:
            remove(theirs, ours, java_key, key, while_iterating=name == "iterator")
    expected = str(theirs.keySet().toString())
    got = "[" + ", ".join(map(family.to_text, ours)) + "]"
    return "" if expected == got else f"{family.name}, initial {initial}, {operations}: {got} is not {expected}"


def remove(theirs: Any, ours: JavaHashMap[Any, bool], java_key: Any, key: Any, while_iterating: bool) -> None:
    """Remove a key from both."""
    if not while_iterating:
        theirs.remove(java_key)
        del ours[key]
        return
    theirs.keySet().removeIf(jpype.JClass("java.util.function.Predicate").isEqual(java_key))
    ours.remove_while_iterating(key)
