"""`kafka-consumer-groups --reset-offsets` and `--delete-offsets`, in this process: what Kafka's own tool would commit.

Needs a JVM that has been started with Kafka's jars (fixture `java_classes`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jpype
from jpype import JClass

from tests.oracle.consumer_groups import _COMMAND, _captured_output, _method

Offsets = dict[tuple[str, int], int]


def reset(bootstrap: str, group: str, *arguments: str) -> Offsets:
    """The new offsets; they are committed if `--execute` is among the arguments."""
    with _service(bootstrap, group, "--reset-offsets", *arguments) as (service, made):
        by_group = _method(service, "resetOffsets").invoke(made)
        found = by_group.get(group)
        return {(str(tp.topic()), int(tp.partition())): int(found.get(tp).offset()) for tp in found.keySet()}


def export(bootstrap: str, group: str, *arguments: str) -> str:
    """The CSV that `--export` prints."""
    with _service(bootstrap, group, "--reset-offsets", "--export", *arguments) as (service, made):
        return str(_method(service, "exportOffsetsToCsv").invoke(made, _method(service, "resetOffsets").invoke(made)))


def delete_offsets(bootstrap: str, group: str, *topics: str) -> None:
    """Delete the committed offsets of these topics."""
    named = [word for topic in topics for word in ("--topic", topic)]
    with _service(bootstrap, group, "--delete-offsets", *named) as (service, made):
        method = next(
            m for m in service.getDeclaredMethods() if m.getName() == "deleteOffsets" and not m.getParameterCount()
        )
        method.setAccessible(True)
        method.invoke(made)


@contextmanager
def _service(bootstrap: str, group: str, *arguments: str) -> Iterator[tuple[Any, Any]]:
    words = ["--bootstrap-server", bootstrap, "--group", group, "--timeout", "60000", *arguments]
    options = JClass(f"{_COMMAND}Options").fromArgs(jpype.JArray(jpype.JString)(words))
    service = JClass(f"{_COMMAND}$ConsumerGroupService").class_
    constructor = service.getDeclaredConstructors()[0]
    constructor.setAccessible(True)
    with _captured_output():
        made = constructor.newInstance(options, JClass("java.util.HashMap")())
        try:
            yield service, made
        finally:
            _method(service, "close").invoke(made)
