"""The partition of a group's offsets on the Group page, and advice from live facts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from app.views.group import text
from app.views.group.view import GroupView, group_view
from lag.generations.recorded import Origin, Recording, Timeouts
from lag.model import ClusterSnapshot, GroupType, Topic
from lag.verdict.status import Status
from tests.app import feeds, synthetic
from tests.app.conftest import Open
from tests.app.reading import page_text

OFFSETS = "__consumer_offsets"


def viewed(
    members: int = 3, partitions: int = 2, topics: Sequence[Topic] = (), **changes: Any
) -> tuple[GroupView, ClusterSnapshot]:
    rows = synthetic.rows("t", [9] * partitions, [0] * partitions, min(members, partitions)) if partitions else ()
    spec = synthetic.Spec("my-group", rows, synthetic.members(members), Status.OK)
    report = feeds.report([spec])
    snapshot = replace(report.snapshot, topics=report.snapshot.topics | {topic.name: topic for topic in topics})
    its = group_view(snapshot.groups[0], snapshot, report.health)
    return replace(its, group=replace(its.group, **changes)), snapshot


def test_offsets_are_in_the_partition_that_the_group_id_hashes_to() -> None:
    its, snapshot = viewed(topics=[Topic(OFFSETS, None, 50, internal=True)], coordinator=2)
    assert text.offsets_location(its, snapshot) == "Its offsets are in `__consumer_offsets-12`, led by broker 2."


def test_a_topic_of_another_size_counts() -> None:
    its, snapshot = viewed(topics=[Topic(OFFSETS, None, 1, internal=True)], coordinator=2)
    assert text.offsets_location(its, snapshot) == "Its offsets are in `__consumer_offsets-0`, led by broker 2."


def test_an_assumed_size_and_an_unknown_leader_are_named() -> None:
    its, snapshot = viewed(coordinator=None)
    stated = text.offsets_location(its, snapshot)
    for fact in ("`__consumer_offsets-12`", "leader is unknown", "50 partitions, the default"):
        assert fact in stated


def test_more_members_than_partitions_bring_advice() -> None:
    its, _ = viewed(members=3, partitions=2, state="Stable")
    assert [(found.reason, found.better) for found in text.advice(its, {})] == [
        ("3 members share 2 partitions: 1 stay idle.", "2")
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"members": 2},
        {"partitions": 0},
        {"state": "PreparingRebalance"},
        {"complete": False},
        {"type": GroupType.SHARE},
        {"type": GroupType.STREAMS},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_not_known_to_be_idle_brings_none(changes: Any) -> None:
    its, _ = viewed(**{"state": "Stable", "complete": True, **changes})
    assert text.advice(its, {}) == []


def test_page_shows_both(open_page: Open, feed: feeds.HandFeed) -> None:
    spec = synthetic.Spec("my-group", synthetic.rows("t", [9, 9], [0, 0], 2), synthetic.members(3), Status.OK)
    feed.report = feeds.report([spec])
    page = open_page("group", group="my-group")
    assert not page.exception
    assert "`__consumer_offsets-12`" in page_text(page)
    assert "Warning] **`members`** :small[:gray[now]]" in page_text(page)
    assert "3 members share 2 partitions\\: 1 stay idle\\." in page_text(page)
    assert "Better: `2` · :gray[Source: one member per partition]" in page_text(page)


def test_timeouts_that_members_joined_with_bring_advice() -> None:
    its, _ = viewed(members=2, partitions=2, state="Stable")
    one, other = (member.member_id for member in its.group.members)
    timeouts = {one: Timeouts(45_000, 300_000), other: Timeouts(45_000, 30_000)}
    differ, session = text.advice(its, timeouts)
    assert (differ.key, differ.better) == ("max.poll.interval.ms", None)
    assert "30000, 300000" in differ.reason
    assert (session.key, session.better) == ("session.timeout.ms", "30000")
    assert "session.timeout.ms 45000 is above max.poll.interval.ms 30000" in session.reason


@pytest.mark.parametrize("reported", [0, 1], ids=["none", "only one"])
def test_timeouts_count_once_those_of_all_members_are_known(reported: int) -> None:
    its, _ = viewed(members=2, partitions=2, state="Stable")
    ids = [member.member_id for member in its.group.members]
    assert text.advice(its, dict.fromkeys(ids[:reported], Timeouts(45_000, 30_000))) == []


def test_page_draws_what_the_records_say(open_page: Open, feed: feeds.HandFeed) -> None:
    spec = synthetic.Spec("my-group", synthetic.rows("t", [9, 9], [0, 0], 2), synthetic.members(2), Status.OK)
    feed.report = feeds.report([spec])
    ids = [member.member_id for member in feed.report.snapshot.groups[0].members]
    feed.seen["my-group"] = Recording(Origin.RECORDED, timeouts=dict.fromkeys(ids, Timeouts(45_000, 30_000)))
    page = open_page("group", group="my-group")
    assert not page.exception
    assert "Warning] **`session.timeout.ms`** :small[:gray[now]]" in page_text(page)
    assert "Source: KIP\\-62, KIP\\-345" in page_text(page)
