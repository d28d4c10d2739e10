"""Bytes taken apart by hand; V4 is a record of a 4.1 broker (franz-go, issue 1105)."""

from uuid import UUID

import pytest

from lag.records import BytesColumn, DecodeError, Decoder, GroupEvent, UnknownRecord, decode
from lag.records.consumer_protocol import MemberAssignment, Subscription, TopicPartitions
from lag.records.group_values import (
    ClassicMember,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMetadata,
    GroupMetadata,
    OwnedPartitions,
)
from lag.records.java_text import text
from tests.support.commit_rows import Commit, rows

h = bytes.fromhex
BILLING = "0007 62696c6c696e67"
KEY = h(f"0001 {BILLING} 0006 6f7264657273 00000003")
GROUP_KEY = h(f"0002 {BILLING}")
V3 = h("0003 000000000000a410 00000005 0000 000001a1f2c3d4e5")
V4 = h("0004 000000000021d4a8 ffffffff 01 0000019964f2d836 00")
TOPIC_ID = "6b2f8a103c4d4e5f8a9b0c1d2e3f4a5b"
V4_ID = h(f"0004 000000000000a411 00000005 03 7731 000001a1e39bc900 01 00 10 {TOPIC_ID}")
V1 = h("0001 000000000000a410 0002 7731 000001a1e39bc900 000001a1f2c3d4e5")
SUBSCRIPTION = h("0003 00000001 0006 6f7264657273 ffffffff 00000000 00000007 ffff")
ASSIGNMENT = h("0003 00000001 0006 6f7264657273 00000002 00000000 00000003 ffffffff")
GROUP = h(
    "0003 0008 636f6e73756d6572 00000008 0005 72616e6765 0003 6d2d31 000001a1e39bc900 00000001 "
    "0003 6d2d31 ffff 0002 6331 0009 2f31302e302e302e39 000493e0 0000afc8 "
    f"0000001c {SUBSCRIPTION.hex()} 0000001e {ASSIGNMENT.hex()}"
)
LAST = "value.members.assignment_bytes"

PLACE = ("billing", "orders", 3)
COMMITS = {
    V3: Commit(*PLACE, False, 42000, 5, "", 1795074282725, None, None),
    V4: Commit(*PLACE, False, 2217128, None, "", 1758335260726, None, None),
    V4_ID: Commit(*PLACE, False, 42001, 5, "w1", 1794820000000, None, UUID(TOPIC_ID)),
    V1: Commit(*PLACE, False, 42000, None, "w1", 1794820000000, 1795074282725, None),
    None: Commit(*PLACE, True, None, None, None, None, None, None),
}


def test_a_commit_alone_and_among_many_is_the_same() -> None:
    """One alone is read by the reader of single rows, many are read by columns."""
    values = [*COMMITS] * 3
    for value, commit in COMMITS.items():
        assert rows(decode(BytesColumn.of([KEY]), BytesColumn.of([value])).commits) == [commit]
    assert rows(decode(BytesColumn.of([KEY] * len(values)), BytesColumn.of(values)).commits) == [
        COMMITS[value] for value in values
    ]


def test_a_key_of_type_0_is_a_commit_too() -> None:
    decoded = decode(BytesColumn.of([b"\0\0" + KEY[2:]] * 9), BytesColumn.of([V3] * 9))
    assert rows(decoded.commits) == [COMMITS[V3]] * 9


def test_columns_name_the_rows_they_come_from_and_number_the_names() -> None:
    keys = [KEY, h("0063"), KEY.replace(b"orders", b"refund"), KEY]
    commits = decode(BytesColumn.of(keys * 4), BytesColumn.of([V3] * 16)).commits
    assert commits.rows.tolist() == [row for row in range(16) if row % 4 != 1]
    assert commits.topics.values == ("orders", "refund")
    assert commits.topics.objects().tolist() == ["orders", "refund", "orders"] * 4
    assert commits.metadata.texts() == [""] * 12


def test_an_unknown_tag_is_skipped() -> None:
    """Beside the topic id: tag 5 of no bytes, tag 129 of 129 bytes."""
    value = V4_ID.replace(h("c900 01 00 10"), h("c900 03 00 10")) + h("05 00 8101 8101") + bytes(129)
    assert rows(decode(BytesColumn.of([KEY] * 4), BytesColumn.of([value] * 4)).commits) == [COMMITS[V4_ID]] * 4


@pytest.mark.parametrize("length", [126, 127, 128, 4096, 16382, 16383])
def test_long_metadata_has_a_length_of_one_two_or_three_bytes(length: int) -> None:
    size = length + 1
    varint = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    varint = varint if size < 1 << 14 else bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    value = h("0004 000000000000a411 00000005") + varint + b"m" * length + h("000001a1e39bc900 00")
    commits = decode(BytesColumn.of([KEY] * 3), BytesColumn.of([value, V3, value])).commits
    assert [commit.metadata for commit in rows(commits)] == ["m" * length, "", "m" * length]


def test_metadata_that_is_not_utf8_is_shown_with_replacement_characters() -> None:
    value = V3.replace(h("00000005 0000"), h("00000005 0003 61ff62"))
    commits = decode(BytesColumn.of([KEY] * 5), BytesColumn.of([value] * 5)).commits
    assert commits.metadata.texts() == ["a\ufffdb"] * 5
    assert rows(commits)[0].metadata == "a\ufffdb"


def test_a_surrogate_in_metadata_is_one_replacement_character_as_in_java() -> None:
    value = V3.replace(h("00000005 0000"), h("00000005 0005 61eda08062"))
    commits = decode(BytesColumn.of([KEY] * 5), BytesColumn.of([value] * 5)).commits
    assert (commits.metadata.texts(), rows(commits)[0].metadata) == (["a\ufffdb"] * 5, "a\ufffdb")


@pytest.mark.parametrize("length", [0, 1, 86, 87, 88, 249, 32767])
def test_names_of_every_legal_character_and_of_any_length(length: int) -> None:
    legal = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
    topic = (legal * 500)[:length]
    key = h("0001 0001 67") + len(topic).to_bytes(2, "big") + topic + h("00000003")
    commits = decode(BytesColumn.of([key, KEY] * 9), BytesColumn.of([V3] * 18)).commits
    assert [commit.topic for commit in rows(commits)] == [topic.decode(), "orders"] * 9


def test_names_that_differ_in_one_place_are_distinguished_in_every_batch() -> None:
    """The names are as many as the table has places, so that many share one."""
    decoder = Decoder()
    keys = [h("0001 0001 67 0004") + number.to_bytes(4, "little") + bytes(4) for number in range(0, 1 << 24, 401)]
    for batch in (keys, keys[::-1]):
        decoded = decoder.decode(BytesColumn.of(batch), BytesColumn.of([V3] * len(batch)))
        assert decoded.commits.topics.objects().tolist() == [text(key[7:11]) for key in batch]


def test_a_classic_group_comes_with_subscriptions_and_assignments() -> None:
    member = ClassicMember(
        member_id="m-1",
        client_id="c1",
        client_host="/10.0.0.9",
        rebalance_timeout_ms=300_000,
        session_timeout_ms=45_000,
        subscription_bytes=SUBSCRIPTION,
        assignment_bytes=ASSIGNMENT,
        subscription=Subscription(("orders",), generation=7),
        assignment=MemberAssignment((TopicPartitions("orders", (0, 3)),)),
    )
    value = GroupMetadata(
        protocol_type="consumer",
        generation=8,
        protocol="range",
        leader="m-1",
        current_state_timestamp=1794820000000,
        members=(member,),
    )
    decoded = decode(BytesColumn.of([GROUP_KEY, GROUP_KEY]), BytesColumn.of([GROUP, None]))
    assert decoded.events == (
        GroupEvent(0, 2, "group", "billing", version=3, value=value),
        GroupEvent(1, 2, "group", "billing"),
    )
    assert [event.tombstone for event in decoded.events] == [False, True]


def test_a_subscription_that_cannot_be_read_costs_no_more_than_itself() -> None:
    """The subscription names a rack of 7 bytes more than there are, the assignment a version below 0."""
    value = GROUP.replace(SUBSCRIPTION, SUBSCRIPTION[:-2] + h("0007")).replace(ASSIGNMENT, h("ffff") + bytes(28))
    decoded = decode(BytesColumn.of([GROUP_KEY]), BytesColumn.of([value]))
    assert decoded.errors == (
        DecodeError(0, 2, "subscription of member m-1: rack: 7 bytes wanted at byte 28, 0 are left"),
        DecodeError(0, 2, "assignment of member m-1: version -1"),
    )
    assert decoded.events[0].problems == tuple(error.reason for error in decoded.errors)
    member = decoded.events[0].value.members[0]  # type: ignore[union-attr]
    assert (member.member_id, member.subscription, member.assignment) == ("m-1", None, None)


def test_a_subscription_without_the_owned_partitions_of_its_version_hides_nothing_of_the_member() -> None:
    """As kafka-go writes it; its bytes end after the user data."""
    asked = h("0001 00000001 0006 6f7264657273 00000000")
    value = GROUP.replace(h(f"0000001c {SUBSCRIPTION.hex()}"), len(asked).to_bytes(4, "big") + asked)
    decoded = decode(BytesColumn.of([GROUP_KEY]), BytesColumn.of([value]))
    assert (decoded.errors, decoded.events[0].problems) == ((), ())
    member = decoded.events[0].value.members[0]  # type: ignore[union-attr]
    assert member.subscription == Subscription(("orders",), b"", (), -1, None)
    assert member.assignment == MemberAssignment((TopicPartitions("orders", (0, 3)),))


def test_a_negative_offset_is_kept_as_written_and_commits_nothing() -> None:
    values = [bytes(V3[:2]) + offset.to_bytes(8, "big", signed=True) + V3[10:] for offset in (-1, -2, -1001, 0, 7)]
    for commits in (
        decode(BytesColumn.of([KEY] * 5), BytesColumn.of(values)).commits,
        decode(BytesColumn.of([b"\0\0" + KEY[2:], *[KEY] * 4]), BytesColumn.of(values)).commits,
    ):
        assert commits.offsets.tolist() == [-1, -2, -1001, 0, 7]
        assert commits.committed.tolist() == [-1, -1, -1, 0, 7]
        assert not commits.tombstones.any()


def test_a_member_of_a_kip_848_group() -> None:
    key = h(f"0008 {BILLING} 0002 4d31")
    value = h(f"0000 0000000c 0000000b 00 02 {TOPIC_ID} 03 00000000 00000003 00 01 00")
    owned = OwnedPartitions(UUID(TOPIC_ID), (0, 3))
    assert decode(BytesColumn.of([key]), BytesColumn.of([value])).events == (
        GroupEvent(
            0,
            8,
            "consumer_group_current_member_assignment",
            "billing",
            "M1",
            version=0,
            value=ConsumerGroupCurrentMemberAssignment(12, 11, 0, (owned,), ()),
        ),
    )


def test_a_tagged_field_takes_the_place_of_its_default() -> None:
    key, plain, tagged = h(f"0003 {BILLING}"), h("0000 0000000c 00"), h("0000 0000000c 01 00 08 00000000000000ff")
    events = decode(BytesColumn.of([key, key]), BytesColumn.of([plain, tagged])).events
    assert [event.value for event in events] == [ConsumerGroupMetadata(12, 0), ConsumerGroupMetadata(12, 255)]


def test_unknown_kinds_are_listed_and_counted() -> None:
    decoded = decode(
        BytesColumn.of([h("0018 00"), KEY, h("0009"), h("0018"), h("ffff")]), BytesColumn.of([b"", V3, None, None, b""])
    )
    assert decoded.unknown == (UnknownRecord(0, 24), UnknownRecord(2, 9), UnknownRecord(3, 24), UnknownRecord(4, -1))
    assert decoded.unknown_counts == {24: 2, 9: 1, -1: 1}
    assert (len(decoded.commits), decoded.errors) == (1, ())


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        (None, V3, DecodeError(0, None, "key: null")),
        (b"\0", V3, DecodeError(0, None, "key: 1 bytes, where its type needs 2")),
        (KEY[:-1], V3, DecodeError(0, 1, "key.partition: 4 bytes wanted at byte 19, 3 are left")),
        (KEY[:6], V3, DecodeError(0, 1, "key.group_id: 7 bytes wanted at byte 4, 2 are left")),
        (KEY, b"", DecodeError(0, 1, "value: 2 bytes wanted at byte 0, 0 are left")),
        (KEY, V3[:-1], DecodeError(0, 1, "value: 8 bytes wanted at byte 16, 7 are left")),
        (KEY, h("0005") + V4[2:], DecodeError(0, 1, "value: version 5, where 0 to 4 are known")),
        (KEY, V4.replace(h("01 00000199"), h("00 00000199")), DecodeError(0, 1, "value: null, but not nullable")),
        (
            GROUP_KEY,
            GROUP[:-3],
            DecodeError(0, 2, "value.members.assignment_bytes: 30 bytes wanted at byte 106, 27 are left"),
        ),
    ],
)
def test_damaged_bytes_are_reported_with_their_place(key: bytes, value: bytes, error: DecodeError) -> None:
    decoded = decode(BytesColumn.of([key]), BytesColumn.of([value]))
    assert (decoded.errors, len(decoded.commits), decoded.events) == ((error,), 0, ())
    many = decode(BytesColumn.of([KEY] * 5 + [key] + [KEY] * 5), BytesColumn.of([V3] * 5 + [value] + [V3] * 5))
    assert [one.reason for one in many.errors] == [error.reason]
    assert many.commits.rows.tolist() == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]


def test_keys_and_values_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="1 keys and 2 values"):
        decode(BytesColumn.of([KEY]), BytesColumn.of([V3, V3]))
