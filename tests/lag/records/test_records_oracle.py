"""Every kind and version of record, as Kafka's own classes write it: ours and Kafka's reader give the same fields."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import jpype
import pytest

from lag.records.consumer_protocol import Subscription, TopicPartitions, read_member
from lag.records.java_text import text
from lag.records.record_types import OFFSET_COMMITS, RECORD_TYPES
from tests.oracle import tally
from tests.oracle.records import NAME, RecordsOracle, difference, java_reads, ours, record_types, versions, write

JavaClasses = Callable[[str], Any]
PROTOCOL = "org.apache.kafka.clients.consumer.internals.ConsumerProtocol"
pytestmark = pytest.mark.usefixtures("java_classes")


def test_we_know_exactly_the_kinds_and_versions_that_kafka_knows() -> None:
    assert record_types() == sorted([*OFFSET_COMMITS, *RECORD_TYPES])
    assert {number: versions(number) for number in RECORD_TYPES} == {
        n: kind.value.VERSIONS for n, kind in RECORD_TYPES.items()
    }


def test_records_of_every_kind_and_version_have_the_fields_that_java_reads() -> None:
    written = [
        write(tally.generator(11, kind), kind, version)
        for kind in record_types()
        for version in versions(kind)
        for _ in range(8)
    ]
    decoded, found = ours([(one.key, one.value) for one in written])
    assert (decoded.errors, decoded.unknown) == ((), ())
    for one, our in zip(written, found, strict=True):
        assert difference(one.record_type, one.version, our, java_reads(one.key, one.value)) == ""


def test_whole_and_damaged_records_and_tombstones_are_read_or_refused_as_java_does() -> None:
    done = tally.run(RecordsOracle(), seed=20, cases=1800)
    assert done.cases == Counter({NAME: 1800})
    assert done.differences == []


LEADS_AND_ENDS = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c0 c2 df e0 e1 ec ed ee ef f0 f1 f4 f5 ff")


def test_bytes_that_are_no_text_become_what_java_makes_of_them(java_classes: JavaClasses) -> None:
    string, utf_8 = java_classes("java.lang.String"), java_classes("java.nio.charset.StandardCharsets").UTF_8
    dice = random.Random(4)
    some = [bytes(dice.choices(LEADS_AND_ENDS, k=dice.randint(4, 9))) for _ in range(5_000)]
    for made in (*map(bytes, product(LEADS_AND_ENDS, repeat=3)), *some):
        assert text(made) == str(string(jpype.JArray(jpype.JByte)(made), utf_8)), made.hex()


def test_what_consumers_of_every_version_write_into_a_group_is_what_java_wrote(java_classes: JavaClasses) -> None:
    protocol = java_classes(PROTOCOL)
    subscription, assignment = _java_subscription(java_classes), _java_assignment(java_classes)
    subscriptions = [protocol.serializeSubscription(subscription, version).array() for version in range(4)]
    assignments = [protocol.serializeAssignment(assignment, version).array() for version in range(4)]
    decoded, _ = ours([_group(java_classes, [*zip(subscriptions, assignments, strict=True)])])
    members = decoded.events[0].value.members  # type: ignore[union-attr]
    assert decoded.errors == ()
    for version, member in enumerate(members):
        asked = member.subscription
        assert (asked.topics, asked.user_data) == (("orders", "payments"), b"data")
        owned = [(one.topic, one.partitions) for one in asked.owned]
        assert owned == ([("orders", (0, 2)), ("payments", (1,))] if version >= 1 else [])
        assert asked.generation == (9 if version >= 2 else -1)
        assert asked.rack == ("rack-b" if version >= 3 else None)
        given = [(one.topic, one.partitions) for one in member.assignment.partitions]
        assert (given, member.assignment.user_data) == ([("orders", (0, 2)), ("payments", (1,))], None)


TOPICS_END = 2 + 4 + 2 + len("orders") + 2 + len("payments")
"""Version, number of topics, their names: after it come the user data."""


@pytest.mark.parametrize("version", range(4))
def test_a_subscription_cut_off_between_two_fields_is_what_java_reads_of_the_version_that_ends_there(
    java_classes: JavaClasses, version: int
) -> None:
    """Java refuses what lacks a field of the version that it names. Cut off within a field it is refused here too."""
    protocol, made = java_classes(PROTOCOL), _java_subscription(java_classes)
    written = [bytes(protocol.serializeSubscription(made, each).array()) for each in range(version + 1)]
    ends = {len(data): each for each, data in enumerate(written)}
    for size in range(1, len(written[-1]) + 1):
        cut = written[-1][:size]
        read = read_member(cut, b"")
        if size == TOPICS_END:
            assert read.subscription == Subscription(("orders", "payments"))
        elif size in ends:
            java = _java_reads(java_classes, protocol.deserializeSubscription, cut, ends[size])
            assert _asked(read.subscription) == _java_asked(java)
        else:
            assert (read.subscription, [part for part, _ in read.problems]) == (None, ["subscription"])


@pytest.mark.parametrize("version", [4, 9, 32_767])
def test_a_later_version_and_bytes_after_the_last_field_are_read_as_java_reads_them(
    java_classes: JavaClasses, version: int
) -> None:
    protocol, head = java_classes(PROTOCOL), version.to_bytes(2, "big")
    asked = head + bytes(protocol.serializeSubscription(_java_subscription(java_classes), 3).array())[2:] + b"more"
    given = head + bytes(protocol.serializeAssignment(_java_assignment(java_classes), 3).array())[2:] + b"more"
    read = read_member(asked, given)
    java = _java_reads(java_classes, protocol.deserializeSubscription, asked, version)
    assert (_asked(read.subscription), read.version, read.problems) == (_java_asked(java), version, ())
    java = _java_reads(java_classes, protocol.deserializeAssignment, given, version)
    assert read.assignment is not None
    assert _flat(read.assignment.partitions) == _java_partitions(java.partitions())


@pytest.mark.parametrize("version", range(4))
def test_an_assignment_cut_off_anywhere_is_refused_but_for_its_user_data(
    java_classes: JavaClasses, version: int
) -> None:
    protocol = java_classes(PROTOCOL)
    data = bytes(protocol.serializeAssignment(_java_assignment(java_classes), version).array())
    user_data_at = len(data) - 4
    for size in range(1, len(data) + 1):
        read = read_member(b"", data[:size])
        if size in (user_data_at, len(data)):
            assert (read.assignment, read.problems) == (read_member(b"", data).assignment, ())
        else:
            assert (read.assignment, [part for part, _ in read.problems]) == (None, ["assignment"]), size


def _java_reads(java_classes: JavaClasses, deserialize: Any, data: bytes, version: int) -> Any:
    """What Java makes of the bytes, read as that version."""
    buffer = java_classes("java.nio.ByteBuffer").wrap(jpype.JArray(jpype.JByte)(data))
    buffer.getShort()
    return deserialize(buffer, jpype.JShort(version))


def _asked(asked: Subscription | None) -> tuple[Any, ...]:
    assert asked is not None
    return list(asked.topics), asked.user_data, _flat(asked.owned), asked.generation, asked.rack


def _flat(topics: Sequence[TopicPartitions]) -> list[tuple[str, int]]:
    return [(each.topic, partition) for each in topics for partition in each.partitions]


def _java_asked(java: Any) -> tuple[Any, ...]:
    data, rack = java.userData(), java.rackId().orElse(None)
    return (
        list(map(str, java.topics())),
        bytes(int(data.get(at)) for at in range(data.position(), data.limit())),
        _java_partitions(java.ownedPartitions()),
        int(java.generationId().orElse(-1)),
        rack and str(rack),
    )


def _java_partitions(partitions: Any) -> list[tuple[str, int]]:
    return [(str(each.topic()), int(each.partition())) for each in partitions]


def _partitions(java_classes: JavaClasses) -> Any:
    made = java_classes("java.util.ArrayList")()
    for topic, partition in (("orders", 0), ("orders", 2), ("payments", 1)):
        made.add(java_classes("org.apache.kafka.common.TopicPartition")(topic, partition))
    return made


def _java_subscription(java_classes: JavaClasses) -> Any:
    optional = java_classes("java.util.Optional")
    return java_classes("org.apache.kafka.clients.consumer.ConsumerPartitionAssignor$Subscription")(
        java_classes("java.util.Arrays").asList("orders", "payments"),
        java_classes("java.nio.ByteBuffer").wrap(b"data"),
        _partitions(java_classes),
        9,
        optional.of("rack-b"),
    )


def _java_assignment(java_classes: JavaClasses) -> Any:
    return java_classes("org.apache.kafka.clients.consumer.ConsumerPartitionAssignor$Assignment")(
        _partitions(java_classes)
    )


def _group(java_classes: JavaClasses, members: list[tuple[Any, Any]]) -> tuple[bytes, bytes]:
    path = "org.apache.kafka.coordinator.group.generated."
    value = java_classes(path + "GroupMetadataValue")().setProtocolType("consumer").setGeneration(9)
    for number, (subscription, assignment) in enumerate(members):
        member = java_classes(path + "GroupMetadataValue$MemberMetadata")().setMemberId(f"m-{number}")
        value.members().add(member.setSubscription(subscription).setAssignment(assignment))
    prefixed = java_classes("org.apache.kafka.common.protocol.MessageUtil").toVersionPrefixedBytes
    return bytes.fromhex("00020001") + b"g", bytes(prefixed(3, value))
