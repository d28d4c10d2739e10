"""Java's side of a comparison: timed by its own clock inside a JVM in this process, after warming up."""

import faulthandler
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import jpype

from lag.embedded.jars import kafka_classpath
from lag.embedded.java import find_java

HEAP = "-Xmx3g"


def start() -> None:
    """Start the JVM with Kafka's classes and room for a million partitions, once."""
    if jpype.isJVMStarted():
        return
    faulthandler.disable()  # the JVM uses SIGSEGV in its normal work
    flags = (HEAP, "-XX:+UseParallelGC", "-XX:-UsePerfData")
    jars = [str(jar) for jar in kafka_classpath()]
    jpype.startJVM(str(find_java().libjvm), *flags, classpath=jars, interrupt=False)


def java_ms(call: Callable[[], Any], warm_up_s: float = 2.0) -> float:
    """Milliseconds of one call when warm: the median of the calls after `warm_up_s`, at least five of them."""
    clock = jpype.JClass("java.lang.System").nanoTime
    taken: list[float] = []
    warm_at = time.monotonic() + warm_up_s
    warm = 0
    while warm < 5 or time.monotonic() < warm_at + warm_up_s / 2:
        began = clock()
        call()
        taken.append((clock() - began) / 1e6)
        warm += time.monotonic() >= warm_at
    return median(taken[-warm:])


def our_ms(call: Callable[[], Any], seconds: float = 1.0) -> float:
    """Milliseconds of one call of ours: the median of the calls in that time, at least five."""
    taken: list[float] = []
    ends_at = time.monotonic() + seconds
    with _java_at_rest():
        while len(taken) < 5 or time.monotonic() < ends_at:
            began = time.perf_counter()
            call()
            taken.append((time.perf_counter() - began) * 1e3)
    return median(taken)


@contextmanager
def _java_at_rest() -> Iterator[None]:
    """Python collects its garbage as always; JPype would make Java collect its own each time, and Python wait."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    try:
        yield
    finally:
        gc.callbacks.extend(callbacks)
