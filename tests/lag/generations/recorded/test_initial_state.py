"""Groups whose last records are further back than we read: their next record goes on from what a poll saw."""

from dataclasses import replace

import pytest

from assignors.model import TopicPartition as TP
from lag.generations.recorded import GenerationRecorder
from lag.model import GroupSnapshot, GroupType, Member
from lag.records.group_values import TargetAssignmentMember, TopicIdPartitions
from tests.lag.generations.recorded.events import (
    NAMES,
    ORDERS,
    classic,
    current,
    epoch,
    gained,
    gone,
    member,
    plan,
    planned,
    reported,
    target,
    written,
)
from tests.lag.generations.recorded.test_consumer import A_JOINS, B_LEAVES
from tests.lag.make import cluster, end, group


def seen(*members: Member, **fields: object) -> GroupSnapshot:
    """A group that a poll saw at 1 s, at rest."""
    snapshot = cluster({"g": group({"orders-0": 1}, members)}, {"orders-0": end(9)}, 1, 1000)
    return replace(snapshot.groups[0], **fields)  # type: ignore[arg-type]


def one(name: str, *partitions: int, **fields: object) -> Member:
    has = tuple(TP("orders", number) for number in partitions)
    return Member(name, f"c-{name}", topics=("orders",), assigned=has, **fields)  # type: ignore[arg-type]


def modern(*members: Member, **fields: object) -> GroupSnapshot:
    settled = tuple(replace(m, target=m.assigned, epoch=3) for m in members)
    at = {"type": GroupType.CONSUMER, "assignor": "uniform", "epoch": 3, "assignment_epoch": 3}
    return seen(*settled, **(at | fields))


CLASSIC = seen(one("a", 0, 1, generation=6), one("b", 2, generation=6))
MODERN = modern(one("a", 0, 1), one("b", 2, 3))


def recorder_of(*groups: GroupSnapshot) -> GenerationRecorder:
    made = GenerationRecorder(NAMES.get)
    made.observe(groups)
    return made


def test_a_group_at_rest_is_known_and_nothing_has_happened() -> None:
    recorder = recorder_of(CLASSIC)
    assert (recorder.knows("g"), recorder.recorded("g"), recorder.known()) == (True, [], ["g"])


def test_a_classic_groups_next_record_goes_on_from_what_was_seen() -> None:
    recorder = recorder_of(CLASSIC)
    recorder.take([classic(5000, 8, {"a": [0, 1, 2]})], whole=False)
    start, left = recorder.recorded("g")
    assert reported([start, left]) == [(7, 1000, "as seen in a poll"), (8, 5000, "c-b left or timed out")]
    assert (plan(start), gained(left), left.skipped) == ({"a": [0, 1], "b": [2]}, [2], 0)


def test_a_generation_that_no_member_claims_does_not_count_as_skipped() -> None:
    recorder = recorder_of(seen(one("a", 0, 1, 2)))
    recorder.take([classic(5000, 8, {"a": [0, 1], "b": [2]})], whole=False)
    assert [(step.generation.number, step.skipped) for step in recorder.recorded("g")] == [(0, 0), (8, 0)]


def test_a_kip_848_groups_next_records_go_on_from_what_was_seen() -> None:
    recorder = recorder_of(MODERN)
    recorder.take(B_LEAVES, whole=False)
    start, left = recorder.recorded("g")
    assert reported([start, left]) == [(3, 1000, "as seen in a poll"), (4, 6000, "c-b left or timed out")]
    assert (plan(start), plan(left)) == ({"a": [0, 1], "b": [2, 3]}, {"a": [0, 1, 2, 3]})
    assert (left.began_ms, left.settled_ms) == (5000, 6000)


def test_members_whose_target_stays_need_no_new_record_of_it() -> None:
    recorder = recorder_of(MODERN)
    joined = [member(2000, "c"), epoch(2000, 4), target(2000, "b", 2), target(2000, "c", 3), planned(2000, 4)]
    recorder.take([*joined, current(2000, "c", 4, 2, [])], whole=False)
    assert plan(recorder.recorded("g")[-1]) == {"a": [0, 1], "b": [2], "c": [3]}


@pytest.mark.parametrize(
    "group",
    [
        replace(MODERN, assignment_epoch=2),
        replace(MODERN, state="Reconciling"),
        replace(MODERN, complete=False),
        replace(MODERN, type=GroupType.STREAMS),
        replace(MODERN, members=(replace(MODERN.members[0], target=()), *MODERN.members[1:])),
        replace(CLASSIC, state="PreparingRebalance"),
        replace(CLASSIC, members=(replace(CLASSIC.members[0], problem="not read"),)),
    ],
    ids=["assigning", "reconciling", "in part", "streams", "not at its target", "rebalancing", "member not read"],
)
def test_a_group_that_is_not_at_rest_is_not_taken(group: GroupSnapshot) -> None:
    assert not recorder_of(group).knows("g")


def test_a_group_that_has_changed_since_the_poll_is_not_taken() -> None:
    for events in ([epoch(2000, 4)], [member(2000, "a2", "pod")]):
        recorder = GenerationRecorder(NAMES.get)
        recorder.take(events, whole=False)
        recorder.observe([MODERN])
        assert not recorder.knows("g")


def test_what_records_show_is_not_replaced_by_a_poll() -> None:
    recorder = GenerationRecorder(NAMES.get)
    recorder.take(A_JOINS, whole=True)
    recorder.observe([MODERN])
    recorder.take([*gone(5000, "a"), epoch(5000, 3)], whole=True)
    assert [event for *_, event in reported(recorder.recorded("g"))] == [
        "the group has no members",
        "c-a joined",
        "c-a left or timed out",
    ]


def test_a_poll_forgets_those_that_the_poll_before_saw() -> None:
    recorder = recorder_of(CLASSIC)
    recorder.observe([])
    assert not recorder.knows("g")


def test_a_poll_does_not_show_which_topics_without_partitions_a_share_member_has() -> None:
    share = modern(one("a", 0), one("b", 1), type=GroupType.SHARE, assignor="simple")
    recorder = recorder_of(share)
    recorder.take([written(2000, 13, TargetAssignmentMember((TopicIdPartitions(ORDERS, ()),)), "a")], whole=False)
    assert recorder.share_targets("g") == {"a": (("orders", ()),)}
