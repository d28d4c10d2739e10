"""Foreign bytes in a member's blobs: whatever they are, the member is shown."""

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


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_give_a_member(metadata: bytes, assignment: bytes) -> None:
    member = members.classic(described(metadata, assignment), "consumer")
    assert (member.member_id, member.host) == ("m", "10.0.0.1")


@given(st.integers(0, 3), st.data())
def test_a_cut_off_subscription_is_a_problem_or_nothing(version: int, data: st.DataObject) -> None:
    whole = subscription(version)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    member = members.classic(described(cut, b""), "consumer")
    assert member.problem is not None
    assert "cannot be decoded" in member.problem


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
    part = ConsumerProtocolAssignment.TopicPartition
    blob = ConsumerProtocolAssignment(
        version=0, assigned_partitions=[part(topic="a", partitions=[0, -1])], user_data=None
    ).encode()
    member = members.classic(described(b"", bytes(blob)), "consumer")
    assert (member.assigned, member.problem) == (
        (),
        "its subscription or assignment cannot be decoded (partition -1 of a)",
    )


def test_assignment_is_sorted() -> None:
    part = ConsumerProtocolAssignment.TopicPartition
    blob = ConsumerProtocolAssignment(
        version=0,
        assigned_partitions=[part(topic="b", partitions=[1]), part(topic="a", partitions=[2, 0])],
        user_data=None,
    ).encode()
    member = members.classic(described(b"", bytes(blob)), "consumer")
    assert member.assigned == (TP("a", 0), TP("a", 2), TP("b", 1))


def test_a_later_version_is_read_as_the_newest_known_one() -> None:
    blob = (5).to_bytes(2, "big") + subscription(3, rack_id="r1")[2:] + b"further fields"
    member = members.classic(described(blob, b""), "consumer")
    assert (member.topics, member.rack, member.subscription_version, member.problem) == (("a", "b"), "r1", 5, None)
