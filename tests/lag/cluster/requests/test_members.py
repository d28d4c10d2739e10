"""Foreign bytes in a member's blobs: whatever they are, the member is shown."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription

from assignors.model import TopicPartition as TP
from lag.cluster.requests import members
from lag.model import Member


def described(metadata: bytes, assignment: bytes) -> SimpleNamespace:
    return SimpleNamespace(
        member_id="m", client_id="c", client_host="/10.0.0.1", group_instance_id=None,
        member_metadata=metadata, member_assignment=assignment,
    )  # fmt: skip


def subscription(version: int, **fields: object) -> bytes:
    stated = {"user_data": None} | fields
    return bytes(ConsumerProtocolSubscription(version=version, topics=["a", "b"], **stated).encode())


def assignment(partitions: Mapping[str, Sequence[int]], user_data: bytes | None = None) -> bytes:
    part = ConsumerProtocolAssignment.TopicPartition
    given = [part(topic=topic, partitions=list(numbers)) for topic, numbers in partitions.items()]
    made = ConsumerProtocolAssignment(version=0, assigned_partitions=given, user_data=user_data)
    return bytes(made.encode())


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_give_a_member(metadata: bytes, assignment: bytes) -> None:
    member = members.classic(described(metadata, assignment), "consumer")
    assert (member.member_id, member.host) == ("m", "10.0.0.1")


ENDS = {2 + 4 + 2 * 3, 2 + 4 + 2 * 3 + 4, 2 + 4 + 2 * 3 + 4 + 4, 2 + 4 + 2 * 3 + 4 + 4 + 4}
"""Where the topics, the user data, the owned partitions and the generation of `subscription` end."""


@given(st.integers(0, 3), st.data())
def test_a_subscription_cut_off_within_a_field_is_a_problem_and_between_two_is_whole(
    version: int, data: st.DataObject
) -> None:
    whole = subscription(version)
    size = data.draw(st.integers(1, len(whole) - 1))
    member = members.classic(described(whole[:size], assignment({"a": [1]})), "consumer")
    assert member.assigned == (TP("a", 1),)
    if size in ENDS:
        assert (member.topics, member.problem, member.subscription_version) == (("a", "b"), None, version)
    else:
        assert (member.topics, member.subscription_version) == ((), None)
        assert member.problem is not None
        assert member.problem.startswith("its subscription cannot be decoded (")


def test_an_assignment_cut_off_in_the_middle_is_a_problem_that_leaves_the_subscription() -> None:
    cut = assignment({"a": [0, 1]})[:-8]
    member = members.classic(described(subscription(3, rack_id="r1"), cut), "consumer")
    assert (member.topics, member.rack, member.assigned) == (("a", "b"), "r1", ())
    reason = "partitions.partitions: 4 bytes wanted at byte 17, 0 are left"
    assert member.problem == f"its assignment cannot be decoded ({reason})"


def test_each_part_that_cannot_be_decoded_is_named() -> None:
    member = members.classic(described(b"\0", b"\xff\xff"), "consumer")
    reasons = ("2 bytes wanted at byte 0, 1 are left", "version -1")
    assert member.problem == (
        f"its subscription cannot be decoded ({reasons[0]}); its assignment cannot be decoded ({reasons[1]})"
    )


def test_what_kafka_go_writes_is_a_subscription_without_owned_partitions() -> None:
    """Version 1, whose owned partitions it leaves out; its assignment has version 1 too."""
    whole = subscription(1, user_data=b"")
    given = (1).to_bytes(2, "big") + assignment({"a": [2, 0]}, user_data=b"")[2:]
    member = members.classic(described(whole[:-4], given), "consumer")
    assert member == Member(
        "m", "c", "10.0.0.1", topics=("a", "b"), assigned=(TP("a", 0), TP("a", 2)), owned=(), user_data=b"",
        subscription_version=1,
    )  # fmt: skip


def test_every_field_of_the_newest_subscription_is_read() -> None:
    owned = [ConsumerProtocolSubscription.TopicPartition(topic="a", partitions=[3, 1])]
    blob = subscription(3, owned_partitions=owned, generation_id=7, rack_id="r1", user_data=b"says more")
    member = members.classic(described(blob, b""), "consumer")
    assert member == Member(
        "m", "c", "10.0.0.1", rack="r1", topics=("a", "b"), owned=(TP("a", 3), TP("a", 1)), generation=7,
        user_data=b"says more", subscription_version=3,
    )  # fmt: skip


def test_oldest_subscription_says_nothing_of_ownership() -> None:
    member = members.classic(described(subscription(0), b""), "consumer")
    assert (member.topics, member.owned, member.rack, member.generation) == (("a", "b"), None, None, None)
    assert (member.user_data, member.subscription_version) == (None, 0)


def test_a_negative_partition_is_a_problem_of_that_member() -> None:
    member = members.classic(described(subscription(0), assignment({"a": [0, -1]})), "consumer")
    assert (member.topics, member.assigned) == (("a", "b"), ())
    assert member.problem == "its assignment cannot be decoded (partition -1 of a)"


def test_assignment_is_sorted() -> None:
    member = members.classic(described(b"", assignment({"b": [1], "a": [2, 0]})), "consumer")
    assert member.assigned == (TP("a", 0), TP("a", 2), TP("b", 1))


def test_a_later_version_is_read_as_the_newest_known_one() -> None:
    blob = (5).to_bytes(2, "big") + subscription(3, rack_id="r1")[2:] + b"further fields"
    member = members.classic(described(blob, b""), "consumer")
    assert (member.topics, member.rack, member.subscription_version, member.problem) == (("a", "b"), "r1", 5, None)
