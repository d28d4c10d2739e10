"""Kafka's client assignors, timed by the JVM's own clock, in loops that run inside the JVM."""

from statistics import median
from typing import Any

import jpype

from assignors.model import Group
from benchmarks import jvm
from tests.oracle.client_assignors import CLASSES, JavaAssignors

_BATCH_BELOW = 100_000
_BATCH = 50
LONG_MS = 20_000


class JavaCall:
    """One assignor with one group. `ms` is the time of `assignPartitions(partitions by topic, subscriptions)`."""

    def __init__(self, java: JavaAssignors, name: str, group: Group) -> None:
        topics = jpype.JClass("java.util.HashMap")()
        for topic in group.topics.values():
            topics.put(topic.name, jpype.JClass("java.lang.Integer").valueOf(topic.partitions))
        small = len(group.members) * sum(topic.partitions for topic in group.topics.values()) <= _BATCH_BELOW
        self._clock = jpype.JClass("java.lang.System").nanoTime
        self._calls = jpype.JClass("java.util.ArrayList")()
        for _ in range(_BATCH if small else 1):
            self._calls.add(java.subscriptions(name, group.members))
        self._consumer = _consumer(CLASSES[name], _partition_infos(topics))
        reads_once = name == "sticky"
        self._buffers = [one.userData() for calls in self._calls for one in calls.values()] if reads_once else []

    def ms(self) -> float:
        """One call; the mean of many where one is short."""
        for buffer in self._buffers:  # sticky leaves user data read to the end
            if buffer is not None:
                buffer.rewind()
        began = self._clock()
        self._calls.forEach(self._consumer)
        return float(self._clock() - began) / 1e6 / len(self._calls)


def _partition_infos(topics: Any) -> Any:
    owner = jpype.JClass("org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor")
    method = owner.class_.getDeclaredMethod("partitionInfosWithoutRacks", jpype.JClass("java.util.Map").class_)
    method.setAccessible(True)
    return method.invoke(None, topics)


def _consumer(path: str, partitions: Any) -> Any:
    """A java.util.function.Consumer that plans the subscriptions it is given, without a way back to Python."""
    handles = jpype.JClass("java.lang.invoke.MethodHandles")
    maps = jpype.JClass("java.util.Map").class_
    kind = jpype.JClass("java.lang.invoke.MethodType").methodType(maps, maps, maps)
    assignor = jpype.JClass(path)()
    plan = handles.publicLookup().findVirtual(assignor.getClass(), "assignPartitions", kind)
    bound = handles.insertArguments(plan, 0, jpype.JArray(jpype.JObject)([assignor, partitions]))
    proxies = jpype.JClass("java.lang.invoke.MethodHandleProxies")
    return proxies.asInterfaceInstance(jpype.JClass("java.util.function.Consumer").class_, bound)


def warm_ms(name: str, group: Group, warm_up: Group) -> float:
    """The median of three to ten calls, after two seconds on a small group and one call on this one.

    A call that takes so long (LONG_MS) that it warms up within itself is timed once.
    """
    jvm.start()
    java = JavaAssignors()
    spent, first = 0.0, JavaCall(java, name, warm_up)
    while spent < 2_000:
        spent += first.ms() * _BATCH
    call = JavaCall(java, name, group)
    if (cold := call.ms()) > LONG_MS:
        return cold
    taken: list[float] = []
    while len(taken) < 3 or (sum(taken) < 3_000 and len(taken) < 10):
        taken.append(call.ms())
    return median(taken)
