"""Offset commits decoded by columns, beside Kafka's own decoder on the same million records, warm, in its JVM.

Both sides get keys and values that are already in memory, and one core. Java makes an object for each record; ours are
columns, and one figure has a Python string for each name and each metadata as well. A second counts its own time only.
"""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import jpype

from benchmarks import jvm
from benchmarks.offset_records import RECORDS, records
from benchmarks.report import Row
from lag.records import BytesColumn, Decoder
from tests.oracle.records import difference, java_reads, ours

BATCH = 10_000
ROUNDS = 7

Records = tuple[list[bytes], list[bytes | None]]


def rows() -> Iterator[Row]:
    """Ours in batches and at once, then Java's, then whether they agree."""
    made = records(RECORDS)
    keys, values = BytesColumn.of(made[0]), BytesColumn.of(made[1])
    parts = [slice(at, at + BATCH) for at in range(0, RECORDS, BATCH)]
    batches = [(keys.take(part), values.take(part)) for part in parts]
    decoder = Decoder()
    columns = _per_second(lambda: _decode(decoder, batches))
    new = _per_second(lambda: _decode(Decoder(), batches))
    strings = _per_second(lambda: _decode(decoder, batches, with_strings=True))
    java = RECORDS / (_java_ms(made) / 1e3)
    yield Row("to columns, batches of 10,000", f"{columns / 1e6:.2f} M/s", f"{columns / java:.1f}x Kafka's decoder")
    yield Row("the same, all 10,000 pairs of names new to it", f"{new / 1e6:.2f} M/s", f"{new / java:.1f}x")
    yield Row("to columns, and a string for each name", f"{strings / 1e6:.2f} M/s", f"{strings / java:.1f}x")
    yield Row("Kafka's GroupCoordinatorRecordSerde, warm", f"{java / 1e6:.2f} M/s", "an object for each record")
    yield Row(f"records of these {RECORDS:,} that differ", str(_differing(made)), "every one, field by field")


def _decode(decoder: Decoder, batches: list[tuple[BytesColumn, BytesColumn]], with_strings: bool = False) -> None:
    for keys, values in batches:
        commits = decoder.decode(keys, values).commits
        if with_strings:
            commits.group_ids.objects()
            commits.topics.objects()
            commits.metadata.texts()


def _per_second(call: Callable[[], Any]) -> float:
    """Records a second of this process's own time: the machine may be shared."""
    taken = []
    for _ in range(ROUNDS):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return RECORDS / median(taken[1:])


def _java_ms(made: Records) -> float:
    """Milliseconds for a million records, tombstones left out; buffers are rewound outside of the time."""
    jvm.start()
    buffers = jpype.JClass("java.util.IdentityHashMap")()  # the one map that takes equal keys
    for key, value in zip(_buffers(made[0]), _buffers(made[1]), strict=True):
        if value is not None:
            buffers.put(key, value)
    serde = jpype.JClass("org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde")()
    read = _function("java.util.function.BiConsumer", serde, "deserialize")
    clock, taken = _thread_clock(), []
    for _ in range(ROUNDS):
        began = clock()
        buffers.forEach(read)
        taken.append((clock() - began) / 1e6)
        _rewind(buffers)
    return median(taken[2:]) * RECORDS / len(buffers)


def _thread_clock() -> Callable[[], int]:
    clock: Callable[[], int] = (
        jpype.JClass("java.lang.management.ManagementFactory").getThreadMXBean().getCurrentThreadCpuTime
    )
    return clock


def _buffers(blobs: list[Any]) -> Iterator[Any]:
    wrap = jpype.JClass("java.nio.ByteBuffer").wrap
    joined = jpype.JArray(jpype.JByte)(b"".join(blob or b"" for blob in blobs))
    at = 0
    for blob in blobs:
        yield None if blob is None else wrap(joined, at, len(blob)).slice()
        at += len(blob or b"")


def _rewind(buffers: Any) -> None:
    rewind = _unbound("java.util.function.Consumer", "java.nio.Buffer", "rewind")
    buffers.keySet().forEach(rewind)
    buffers.values().forEach(rewind)


def _function(interface: str, owner: Any, name: str) -> Any:
    """A Java interface's instance that calls a method of the object, without a way back to Python."""
    method = next(one for one in owner.getClass().getMethods() if one.getName() == name and not one.isBridge())
    handles = jpype.JClass("java.lang.invoke.MethodHandles")
    bound = handles.publicLookup().unreflect(method).bindTo(owner)
    return jpype.JClass("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(
        jpype.JClass(interface).class_, bound
    )


def _unbound(interface: str, owner: str, name: str) -> Any:
    kind = jpype.JClass(owner).class_
    handle = jpype.JClass("java.lang.invoke.MethodHandles").publicLookup().unreflect(kind.getMethod(name))
    return jpype.JClass("java.lang.invoke.MethodHandleProxies").asInterfaceInstance(
        jpype.JClass(interface).class_, handle
    )


def _differing(made: Records) -> int:
    """How many records ours and Java's read differently; a part at a time, for each is an object on both sides."""
    parts = (slice(at, at + BATCH) for at in range(0, RECORDS, BATCH))
    return sum(_differ(list(zip(made[0][part], made[1][part], strict=True))) for part in parts)


def _differ(pairs: list[tuple[bytes, bytes | None]]) -> int:
    _, found = ours(pairs)
    versions = [0 if value is None else value[1] for _, value in pairs]
    compared = zip(pairs, found, versions, strict=True)
    return sum(difference(1, version, our, java_reads(*pair)) != "" for pair, our, version in compared)
