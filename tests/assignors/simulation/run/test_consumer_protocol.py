"""Subscriptions and assignments on the wire."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Member, TopicPartition
from assignors.simulation.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
    subscribed_topics,
)

topics = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
partitions = st.builds(TopicPartition, topics, st.integers(0, 9))
members = st.builds(
    Member,
    st.just("m"),
    instance_id=st.none() | st.just("i"),
    rack=st.none() | topics,
    topics=st.lists(topics, unique=True).map(lambda names: tuple(sorted(names))),
    owned=st.lists(partitions, unique=True).map(lambda owned: tuple(sorted(owned))),
    generation=st.none() | st.integers(0, 2**31 - 1),
    user_data=st.none() | st.binary(max_size=5),
)


@given(members)
def test_a_subscription_comes_back_and_the_coordinator_reads_its_topics(member: Member) -> None:
    data = encode_subscription(member)
    assert decode_subscription(data, "m", member.instance_id) == member
    assert subscribed_topics(data) == frozenset(member.topics)


@given(st.lists(partitions, unique=True))
def test_an_assignment_comes_back_topic_by_topic(assigned: list[TopicPartition]) -> None:
    found = decode_assignment(encode_assignment(assigned))
    assert sorted(found) == sorted(assigned)
    assert [tp.topic for tp in found] == sorted((tp.topic for tp in assigned), key=[tp.topic for tp in assigned].index)


def test_the_bytes_of_a_subscription() -> None:
    """Version 3: one topic, no user data, t-1 owned as of generation 5, rack r."""
    member = Member("m", topics=("t",), owned=(TopicPartition("t", 1),), generation=5, rack="r")
    assert encode_subscription(member).hex(" ") == (
        "00 03 00 00 00 01 00 01 74 ff ff ff ff 00 00 00 01 00 01 74 00 00 00 01 00 00 00 01 00 00 00 05 00 01 72"
    )


def test_a_member_that_the_plan_forgot_gets_nothing() -> None:
    assert decode_assignment(b"") == ()


@pytest.mark.parametrize("data", ["", "0003", "0003 00000002 0001 74", "0003 ffffffff", "0003 00000001 ffff"])
def test_bytes_that_end_early_or_have_impossible_lengths_are_no_subscription(data: str) -> None:
    assert subscribed_topics(bytes.fromhex(data)) is None
