"""The text about a group id's coordinator; the partitions themselves: tests/assignors/test_offsets_partition.py."""

from dataclasses import replace

import pytest

from app.views.labs.protocol.coordinator_text import found, partitions, remark
from tests.app import feeds


def test_without_a_cluster_fifty_partitions_are_assumed() -> None:
    assert found("test", None) == "`test` → `__consumer_offsets-48` :gray[· hash code 3556498]"
    assert partitions(None) == "of 50 partitions (the default; no cluster is connected)"


def test_any_group_of_the_same_partition_shows_the_broker() -> None:
    snapshot = feeds.report(at_ms=0).snapshot
    known = next(group for group in snapshot.groups if group.coordinator is not None)
    assert f", led by broker {known.coordinator} " in found(known.group_id, snapshot)


def test_an_id_that_no_group_has_is_led_by_the_leader_of_its_partition() -> None:
    """Partition 48 of 50; of the groups none lies there."""
    leaders = (None, *(number % 3 + 1 for number in range(1, 50)))
    snapshot = replace(feeds.report(at_ms=0).snapshot, offsets_leaders=leaders)
    assert "test" not in snapshot.by_group
    assert found("test", snapshot) == "`test` → `__consumer_offsets-48`, led by broker 1 :gray[· hash code 3556498]"
    assert found("my-group", snapshot).startswith("`my-group` → `__consumer_offsets-12`, led by broker 1 ")
    nobody = "`polygenelubricants` → `__consumer_offsets-0`, without a leader now :gray["
    assert found("polygenelubricants", snapshot).startswith(nobody)


@pytest.mark.parametrize(
    ("group_id", "stated"),
    [
        ("polygenelubricants", "The smallest int has no positive counterpart"),
        ("", "Kafka refuses members with an empty group id (INVALID_GROUP_ID)"),
        ("gruppe-ä", "The hash code counts UTF-16 units"),
        ("my-group", "The hash code is negative"),
    ],
)
def test_special_ids_have_a_remark(group_id: str, stated: str) -> None:
    assert (remark(group_id) or "").startswith(stated)


def test_most_ids_have_no_remark() -> None:
    assert remark("test") is None
