"""What has changed in a group since a what-if was made, as sentences."""

from dataclasses import replace

import pytest

from assignors.model import TopicPartition as TP
from assignors.whatif.events import Scenario
from lag.generations.changes import changes
from lag.generations.live_group import group_of
from lag.model import GroupSnapshot, GroupType, Member, Topic

TOPICS = {"orders": Topic("orders", None, 4), "payments": Topic("payments", None, 2)}
MEMBERS = tuple(Member(f"m{n}", f"c{n}", topics=("orders",), assigned=(TP("orders", n),)) for n in range(4))


def snapshot(*members: Member, **fields: object) -> GroupSnapshot:
    kept: dict[str, object] = {
        "cluster": "test", "group_id": "g", "type": GroupType.CONSUMER, "state": "Stable", "coordinator": 1,
        "assignor": "uniform", "epoch": 12, "members": members, "partitions": (), "at_ms": 0,
    }  # fmt: skip
    return GroupSnapshot(**(kept | fields))  # type: ignore[arg-type]


BEFORE = snapshot(*MEMBERS)
TAKEN = replace(MEMBERS[0], assigned=(TP("orders", 0), TP("orders", 3)))


@pytest.mark.parametrize(
    ("now", "reported"),
    [
        (BEFORE, []),
        (snapshot(*MEMBERS[::-1], state="Assigning"), []),
        (
            snapshot(*MEMBERS[1:], Member("m9", "c9", topics=("orders",), assigned=(TP("orders", 0),)), epoch=13),
            ["generation 12 → 13", "c9 joined", "c0 left or timed out", "1 partition changed owners"],
        ),
        (snapshot(TAKEN, *MEMBERS[1:3]), ["c3 left or timed out", "1 partition changed owners"]),
        (snapshot(*MEMBERS, *(Member(f"n{n}", "new") for n in range(4))), ["4 members joined"]),
        (snapshot(*MEMBERS, *(Member(f"n{n}", "new") for n in range(2))), ["n0 joined", "n1 joined"]),
        (
            snapshot(*MEMBERS[:3], replace(MEMBERS[3], topics=("orders", "payments"))),
            ["c3 changed subscription", "topic payments is new"],
        ),
        (snapshot(*MEMBERS, assignor="range"), ["assignor uniform → server-range"]),
    ],
)
def test_differences_are_reported_in_order(now: GroupSnapshot, reported: list[str]) -> None:
    assert changes(group_of(BEFORE, TOPICS), now, TOPICS) == reported


def test_static_member_with_a_new_id_has_come_back() -> None:
    before = snapshot(Member("old", instance_id="pod-1", topics=("orders",)))
    now = snapshot(Member("new", instance_id="pod-1", topics=("orders",)))
    assert changes(group_of(before, TOPICS), now, TOPICS) == ["pod-1 came back"]


def test_topics_that_grew_or_went_are_named() -> None:
    group = snapshot(Member("m", topics=("orders", "payments")))
    now = {"orders": Topic("orders", None, 12)}
    reported = changes(group_of(group, TOPICS), group, now)
    assert reported == ["topic orders: 4 → 12 partitions", "topic payments is gone"]


def test_what_a_scenario_leaves_out_is_no_change() -> None:
    """A topic that was deleted and is still assigned."""
    group = snapshot(replace(MEMBERS[0], assigned=(TP("orders", 0), TP("gone", 0), TP("orders", 9))))
    old = group_of(group, TOPICS)
    begun = Scenario("g", "uniform", old.topics, (replace(old.members[0], owned=(TP("orders", 0),)),))
    assert changes(begun, group, TOPICS) == []


def test_a_scenario_is_compared_like_a_group() -> None:
    old = group_of(BEFORE, TOPICS)
    scenario = Scenario("g", "uniform", old.topics, old.members)
    assert changes(scenario, snapshot(*MEMBERS, epoch=14), TOPICS) == ["generation 12 → 14"]
