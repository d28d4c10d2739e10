"""Decoded records as rows of the history: the same fields, what is not known is null, our own readers are left out."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from lag.history.rows import LATEST_MS, CommitBuilder, SourceRecords, errors, events, texts, times
from lag.model import INTERNAL_GROUP_PREFIX
from lag.records import BytesColumn, decode
from tests.lag.records.test_worked_examples import GROUP, GROUP_KEY, KEY, TOPIC_ID, V1, V3, V4, V4_ID, h
from tests.support.commit_rows import rows as each_commit

BILLING = "0007 62696c6c696e67"
OUR_GROUP = INTERNAL_GROUP_PREFIX.encode() + b"x"
OUR_KEY = h("0001") + len(OUR_GROUP).to_bytes(2, "big") + OUR_GROUP + h("0006 6f7264657273 00000003")
OUR_GROUP_KEY = h("0002") + len(OUR_GROUP).to_bytes(2, "big") + OUR_GROUP


def origin(records: int) -> SourceRecords:
    """Records from offset 100 on, one each second; the first was there before us."""
    number = np.arange(records)
    return SourceRecords("c1", np.full(records, 7, np.int32), 100 + number, number * 1_000_000, number < 1)


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def commit_rows(keys: list[bytes], values: list[bytes | None]) -> list[dict[str, Any]]:
    decoded = decode(BytesColumn.of(keys), BytesColumn.of(values))
    found: list[dict[str, Any]] = CommitBuilder().commits(decoded.commits, origin(len(keys))).to_pylist()
    return found


def event_rows(keys: list[bytes], values: list[bytes | None]) -> list[dict[str, Any]]:
    decoded = decode(BytesColumn.of(keys), BytesColumn.of(values))
    found: list[dict[str, Any]] = events(
        decoded, origin(len(keys)), BytesColumn.of(keys), BytesColumn.of(values)
    ).to_pylist()
    return found


def test_a_commit_with_everything_and_one_with_nothing_more_than_it_must_have() -> None:
    whole, least = commit_rows([KEY, KEY], [V4_ID, V4])
    assert whole == {
        "cluster": "c1", "src_partition": 7, "src_offset": 100, "src_ts": at(0), "group_id": "billing",
        "topic": "orders", "topic_id": bytes.fromhex(TOPIC_ID), "partition": 3, "op": 0, "committed": 42001,
        "leader_epoch": 5, "metadata": "w1", "commit_ts": at(1794820000), "expire_ts": None, "value_version": 4,
        "bootstrap": True, "dt": at(0).date(),
    }  # fmt: skip
    assert (least["src_offset"], least["bootstrap"], least["src_ts"]) == (101, False, at(1))
    assert (least["topic_id"], least["leader_epoch"], least["metadata"]) == (None, None, "")


def test_an_expiry_time_and_a_tombstone() -> None:
    expiring, gone, plain = commit_rows([KEY] * 3, [V1, None, V3])
    assert (expiring["expire_ts"], expiring["leader_epoch"]) == (at(1795074282.725), None)
    assert (gone["op"], gone["topic"], gone["partition"]) == (1, "orders", 3)
    assert {gone[name] for name in ("committed", "leader_epoch", "metadata", "commit_ts", "value_version")} == {None}
    assert (plain["op"], plain["committed"], plain["expire_ts"]) == (0, 42000, None)


def test_a_negative_offset_is_stored_as_no_commit() -> None:
    negative = V3[:2] + (-1001).to_bytes(8, "big", signed=True) + V3[10:]
    (row,) = commit_rows([KEY], [negative])
    assert (row["op"], row["committed"], row["leader_epoch"], row["commit_ts"]) == (0, None, 5, at(1795074282.725))


def test_every_commit_is_as_the_decoder_has_it() -> None:
    keys, values = [KEY, KEY.replace(b"orders", b"refund")] * 40, [V3, V4_ID, V1, None, V4] * 16
    decoded = decode(BytesColumn.of(keys), BytesColumn.of(values))
    found = CommitBuilder().commits(decoded.commits, origin(80)).to_pylist()
    for row, commit in zip(found, each_commit(decoded.commits), strict=True):
        assert (row["group_id"], row["topic"], row["partition"]) == (commit.group_id, commit.topic, commit.partition)
        assert (row["committed"], row["metadata"], row["leader_epoch"]) == (
            commit.offset,
            commit.metadata,
            commit.leader_epoch,
        )
        assert row["topic_id"] == (commit.topic_id.bytes if commit.topic_id else None)


def test_names_stay_right_when_later_batches_bring_new_ones() -> None:
    rows, decoded = CommitBuilder(), decode(BytesColumn.of([KEY]), BytesColumn.of([V3]))
    assert rows.commits(decoded.commits, origin(1))["topic"].to_pylist() == ["orders"]
    later = decode(BytesColumn.of([KEY.replace(b"orders", b"refund"), KEY]), BytesColumn.of([V3, V3]))
    assert rows.commits(later.commits, origin(2))["topic"].to_pylist() == ["refund", "orders"]


def test_our_own_readers_are_left_out() -> None:
    assert [row["group_id"] for row in commit_rows([OUR_KEY, KEY, OUR_KEY], [V3, V3, None])] == ["billing"]
    assert [row["group_id"] for row in event_rows([OUR_GROUP_KEY, GROUP_KEY], [GROUP, GROUP])] == ["billing"]
    assert event_rows([OUR_GROUP_KEY], [GROUP]) == []


def test_a_classic_group_has_a_row_for_each_member() -> None:
    member, gone = event_rows([GROUP_KEY, GROUP_KEY], [GROUP, None])
    assert member == {
        "cluster": "c1", "src_partition": 7, "src_offset": 100, "ts": at(0), "group_id": "billing", "record_type": 2,
        "member_id": "m-1", "generation_or_epoch": 8, "assignment_epoch": None, "protocol_type": "consumer",
        "protocol": "range", "state": None, "n_members": 1, "client_id": "c1", "client_host": "/10.0.0.9",
        "instance_id": None, "assignment": [{"topic": "orders", "topic_id": None, "partitions": [0, 3]}],
        "tombstone": False, "bootstrap": True, "key": GROUP_KEY, "value": GROUP, "dt": at(0).date(),
    }  # fmt: skip
    assert (gone["tombstone"], gone["generation_or_epoch"], gone["n_members"]) == (True, None, None)


def test_the_bytes_of_a_record_are_kept_once() -> None:
    """Its two members are the same one twice: after the count 1 stand the bytes of one."""
    head, member = GROUP.rsplit(h("00000001 0003 6d2d31 ffff"), 1)
    two = head + h("00000002") + 2 * (h("0003 6d2d31 ffff") + member)
    rows = event_rows([GROUP_KEY], [two])
    assert [(row["n_members"], row["key"], row["value"]) for row in rows] == [(2, GROUP_KEY, two), (2, None, None)]


def test_a_classic_group_that_became_empty_has_one_row() -> None:
    empty = GROUP[: GROUP.index(h("00000001 0003 6d2d31 ffff"))] + h("00000000")
    (row,) = event_rows([GROUP_KEY], [empty])
    assert (row["generation_or_epoch"], row["n_members"], row["member_id"]) == (8, 0, None)


def test_members_of_a_kip_848_group() -> None:
    owned = h(f"0000 0000000c 0000000b 00 02 {TOPIC_ID} 03 00000000 00000003 00 01 00")
    epoch = h("0000 0000000c 00")
    target = h("0000 0000000d 00")
    rows = event_rows(
        [h(f"0008 {BILLING} 0002 4d31"), h(f"0003 {BILLING}"), h(f"0006 {BILLING}"), h(f"0005 {BILLING} 0002 4d31")],
        [owned, epoch, target, None],
    )
    assert [(row["record_type"], row["member_id"], row["tombstone"]) for row in rows] == [
        (8, "M1", False),
        (3, None, False),
        (6, None, False),
        (5, "M1", True),
    ]
    assert (rows[0]["generation_or_epoch"], rows[0]["state"]) == (12, 0)
    assert rows[0]["assignment"] == [{"topic": None, "topic_id": bytes.fromhex(TOPIC_ID), "partitions": [0, 3]}]
    assert (rows[1]["generation_or_epoch"], rows[2]["assignment_epoch"]) == (12, 13)


def test_what_cannot_be_read_is_kept_with_its_bytes() -> None:
    keys, values = BytesColumn.of([KEY, KEY[:6], b"\0"]), BytesColumn.of([V3, V3, None])
    found = errors(decode(keys, values), origin(3), keys, values).to_pylist()
    assert [(row["src_offset"], row["record_type"], row["key"], row["value"]) for row in found] == [
        (101, 1, KEY[:6], V3),
        (102, None, b"\0", None),
    ]
    assert found[0]["reason"] == "key.group_id: 7 bytes wanted at byte 4, 2 are left"


def test_what_a_member_wrote_and_cannot_be_read_is_named_with_its_group() -> None:
    keys, values = BytesColumn.of([GROUP_KEY]), BytesColumn.of([GROUP[:-30] + h("ffff") + GROUP[-28:]])
    (found,) = errors(decode(keys, values), origin(1), keys, values).to_pylist()
    assert found["reason"] == "group billing: assignment of member m-1: version -1"


def test_texts_that_are_not_utf8_are_shown_with_replacement_characters() -> None:
    blobs = BytesColumn.of(["é".encode(), b"a\xffb", None, b""])
    assert texts(blobs).to_pylist() == ["é", "a\ufffdb", None, ""]
    assert texts(blobs.take(np.array([3, 0, 2]))).to_pylist() == ["", "é", None]


def test_times_that_no_calendar_has_are_null() -> None:
    some = np.array([0, -1, LATEST_MS, LATEST_MS + 1, 2**63 - 1], np.int64)
    assert times(some).to_pylist() == [at(0), None, datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC), None, None]
