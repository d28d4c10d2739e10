"""`kafka-consumer-groups --describe` and the Java admin client, in this process: what Kafka itself says of groups.

Needs a JVM that has been started with Kafka's jars (fixture `java_classes`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jpype
from jpype import JClass

_COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


@dataclass(frozen=True)
class ToolRow:
    """One line of --describe; None where the tool prints a dash."""

    group: str
    topic: str
    partition: int
    committed: int | None
    log_end: int | None
    lag: int | None
    member_id: str | None
    host: str | None
    client_id: str | None


@dataclass(frozen=True)
class ToolState:
    """One line of --describe --state."""

    group: str
    coordinator: int
    assignor: str | None
    state: str
    members: int


def offsets(bootstrap: str, groups: Sequence[str]) -> list[ToolRow]:
    """--describe of those groups. Raises a Java exception when one has commits on a deleted topic (KAFKA-17218)."""
    return [
        ToolRow(
            group, topic, int(partition), _number(committed), _number(end), _number(lag), _word(member),
            _host(host), _word(client),
        )
        for group, topic, partition, committed, end, lag, member, host, client in _lines(bootstrap, groups, 9)
        if topic != "-"
    ]  # fmt: skip


def states(bootstrap: str, groups: Sequence[str]) -> list[ToolState]:
    """--describe --state of those groups."""
    return [
        ToolState(group, int(node.strip("()")), _word(assignor), state, int(members))
        for group, _address, node, assignor, state, members in _lines(bootstrap, groups, 6, "--state", dashes=True)
    ]


def _lines(
    bootstrap: str, groups: Sequence[str], columns: int, *more: str, dashes: bool = False
) -> Iterator[list[str]]:
    named = [part for group in groups for part in ("--group", group)]
    printed = _run("--bootstrap-server", bootstrap, "--describe", *named, *more)
    for line in printed.splitlines():
        cells = line.split()
        if dashes and len(cells) == columns - 1 and cells[0] != "GROUP":
            cells.insert(3, "-")
        if len(cells) == columns and cells[0] != "GROUP":
            yield cells


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def _word(text: str) -> str | None:
    return None if text == "-" else text


def _host(text: str) -> str | None:
    return None if text == "-" else text.removeprefix("/")


def _run(*arguments: str) -> str:
    """The tool's standard output. Its service class is package-private, so it is reached by reflection."""
    options = JClass(f"{_COMMAND}Options").fromArgs(jpype.JArray(jpype.JString)(list(arguments)))
    service = JClass(f"{_COMMAND}$ConsumerGroupService").class_
    constructor = service.getDeclaredConstructors()[0]
    constructor.setAccessible(True)
    with _captured_output() as out:
        made = constructor.newInstance(options, JClass("java.util.HashMap")())
        try:
            _method(service, "describeGroups").invoke(made)
        finally:
            _method(service, "close").invoke(made)
    return str(out.toString())


def _method(owner: Any, name: str) -> Any:
    method = next(method for method in owner.getDeclaredMethods() if method.getName() == name)
    method.setAccessible(True)
    return method


@contextmanager
def _captured_output() -> Iterator[Any]:
    system = JClass("java.lang.System")
    before, captured = system.out, JClass("java.io.ByteArrayOutputStream")()
    system.setOut(JClass("java.io.PrintStream")(captured))
    try:
        yield captured
    finally:
        system.setOut(before)


@contextmanager
def admin(bootstrap: str) -> Iterator[Any]:
    """A Java `Admin`."""
    properties = JClass("java.util.Properties")()
    properties.put("bootstrap.servers", bootstrap)
    client = JClass("org.apache.kafka.clients.admin.Admin").create(properties)
    try:
        yield client
    finally:
        client.close()


@dataclass(frozen=True)
class JavaMember:
    """A member as the Java admin client describes it; partitions as (topic, partition), sorted."""

    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    epoch: int | None
    assigned: tuple[tuple[str, int], ...]
    target: tuple[tuple[str, int], ...] | None


@dataclass(frozen=True)
class JavaGroup:
    """A group as the Java admin client describes it."""

    state: str
    assignor: str | None
    epoch: int | None
    assignment_epoch: int | None
    coordinator: int
    members: tuple[JavaMember, ...]


def consumer_groups(client: Any, ids: list[str]) -> dict[str, JavaGroup]:
    """`describeConsumerGroups`, which answers for classic and KIP-848 groups alike."""
    found = client.describeConsumerGroups(JClass("java.util.List").of(*ids)).all().get()
    return {
        str(group_id): _group(found.get(group_id), str(found.get(group_id).partitionAssignor())) for group_id in found
    }


def share_groups(client: Any, ids: list[str]) -> dict[str, JavaGroup]:
    """`describeShareGroups`."""
    found = client.describeShareGroups(JClass("java.util.List").of(*ids)).all().get()
    return {str(group_id): _group(found.get(group_id), None) for group_id in found}


def committed(client: Any, group_id: str) -> dict[tuple[str, int], int]:
    """`listConsumerGroupOffsets`: (topic, partition) -> committed offset."""
    found = client.listConsumerGroupOffsets(group_id).partitionsToOffsetAndMetadata().get()
    return {(str(tp.topic()), int(tp.partition())): int(found.get(tp).offset()) for tp in found}


def share_offsets(client: Any, group_id: str) -> dict[tuple[str, int], tuple[int | None, int | None]]:
    """`listShareGroupOffsets`: (topic, partition) -> (start offset, lag)."""
    spec = JClass("org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec")()
    ask = JClass("java.util.HashMap")()
    ask.put(group_id, spec)
    found = client.listShareGroupOffsets(ask).partitionsToOffsetInfo(group_id).get()
    return {
        (str(tp.topic()), int(tp.partition())): _share_info(found.get(tp)) for tp in found if found.get(tp) is not None
    }


def _share_info(info: Any) -> tuple[int | None, int | None]:
    lag = info.lag()
    return int(info.startOffset()), int(lag.get()) if lag.isPresent() else None


def _group(group: Any, assignor: str | None) -> JavaGroup:
    return JavaGroup(
        state=str(group.groupState().toString()),
        assignor=assignor or None,
        epoch=_optional(group.groupEpoch()),
        assignment_epoch=_optional(group.targetAssignmentEpoch()),
        coordinator=int(group.coordinator().id()),
        members=tuple(sorted((_member(member) for member in group.members()), key=lambda member: member.member_id)),
    )


def _optional(value: Any) -> int | None:
    if not hasattr(value, "isPresent"):
        return int(value)
    return int(value.get()) if value.isPresent() else None


def _member(member: Any) -> JavaMember:
    target = member.targetAssignment() if hasattr(member, "targetAssignment") else None
    epoch = member.memberEpoch()
    return JavaMember(
        member_id=str(member.consumerId()),
        instance_id=str(member.groupInstanceId().get()) if _has_instance(member) else None,
        client_id=str(member.clientId()),
        host=str(member.host()).removeprefix("/"),
        epoch=_optional(epoch),
        assigned=_partitions(member.assignment()),
        target=_partitions(target.get()) if target is not None and target.isPresent() else None,
    )


def _has_instance(member: Any) -> bool:
    return hasattr(member, "groupInstanceId") and member.groupInstanceId().isPresent()


def _partitions(assignment: Any) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((str(tp.topic()), int(tp.partition())) for tp in assignment.topicPartitions()))
