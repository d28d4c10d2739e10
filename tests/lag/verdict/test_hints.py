"""What to do about a verdict: each hint on a group made by hand, beside the nearest group that gets another one."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from assignors.model import TopicPartition
from lag.model import GroupType, Member
from lag.verdict.hints import Hint, Remedy, hint
from lag.verdict.status import Status
from tests.lag.make import cluster, end, group, judged

POLLS = 12


def found(
    reads: Sequence[int],
    gets: Sequence[int],
    members: int | Sequence[Member],
    type_: GroupType = GroupType.CLASSIC,
    assignor: str | None = None,
    topics: str = "tttttt",
) -> Hint | None:
    """The hint for a group on t-0, t-1, ... that commits `reads` and gets `gets` records in each poll.

    `topics` has a letter for each partition, and a blank between topics.
    """
    partitions = [f"{topic[0]}-{at}" for topic in topics.split() for at in range(len(topic))]
    health = judged(
        cluster(
            {"g": group({name: one * poll for name, one in zip(partitions, reads, strict=False)}, members, type=type_)},
            {name: end(1000 + one * poll) for name, one in zip(partitions, gets, strict=False)},
            poll + 1,
            10_000 * poll,
        )
        for poll in range(POLLS)
    )
    its = replace(health.snapshot.groups[0], assignor=assignor)
    rows = list(zip(its.partitions, health.partitions(its), strict=True))
    names = {member.member_id: member.member_id for member in its.members}
    return hint(its, health.groups[0].finding.status, rows, names)


def test_members_are_added_while_there_are_fewer_than_partitions() -> None:
    assert found([10] * 6, [50] * 6, 3) == Hint(
        "Add members, or make processing faster.",
        "It has 3 members for 6 partitions: up to 3 more members would get partitions.",
        Remedy.ADD_MEMBERS,
    )


@pytest.mark.parametrize("members", [3, 4])
def test_members_are_not_added_when_each_partition_has_one(members: int) -> None:
    its = found([10] * 3, [50] * 3, members)
    assert its is not None
    assert its.action == "Make processing faster, or add partitions and members."
    assert its.reason.startswith(f"It has {members} members for 3 partitions, so more members would be idle.")
    assert its.remedy is Remedy.NONE  # a what-if would show old records only, and a topic that grows never shrinks


@pytest.mark.parametrize(
    ("assignor", "members", "action"),
    [
        ("range", 2, "Add members"),
        ("range", 3, "Switch from range"),
        ("range", 6, "Make processing faster"),
        ("sticky", 3, "Add members"),
        (None, 3, "Add members"),
        ("sticky", 6, "Make processing faster"),
    ],
)
def test_with_range_no_more_members_get_partitions_than_the_largest_topic_has(
    assignor: str | None, members: int, action: str
) -> None:
    """Two topics of 3 partitions each."""
    its = found([10] * 6, [50] * 6, members, assignor=assignor, topics="ttt uuu")
    assert its is not None
    assert its.action.startswith(action)
    assert (its.remedy is Remedy.ADD_MEMBERS) == (action == "Add members")


def test_members_of_a_share_group_share_partitions() -> None:
    its = found([10] * 3, [50] * 3, 3, GroupType.SHARE)
    assert its is None or its.action == "Add members, or make processing faster."


def test_a_hot_partition_of_a_share_group_needs_members() -> None:
    its = found([10, 10, 10], [80, 10, 10], 3, GroupType.SHARE)
    assert its is not None
    assert its.remedy is Remedy.ADD_MEMBERS


def test_one_hot_partition_is_named_and_no_members_are_asked_for() -> None:
    assert found([10, 10, 10], [80, 10, 10], 3) == Hint(
        "Choose a record key that spreads the records, or make processing faster; more members do not help.",
        "t-0 gets 80% of the records of 3 partitions, and one member reads it.",
    )


@pytest.mark.parametrize(("reads", "gets"), [([10, 10], [80, 10]), ([10, 10, 10], [30, 30, 20])])
def test_a_partition_that_is_not_hot_is_not_named(reads: list[int], gets: list[int]) -> None:
    its = found(reads, gets, 3)
    assert its is not None
    assert "key" not in its.action


def test_one_slow_member_is_named() -> None:
    assert found([10, 50, 10, 50], [50] * 4, 2) == Hint(
        "Check member m0: its host, its threads and what it is waiting for.",
        "All partitions that fall behind (2 partitions) belong to it, and the other member keeps up.",
        Remedy.RESTART_MEMBER,
        "m0",
    )


def test_a_stalled_partition_names_its_owner() -> None:
    assert found([0, 50], [50, 50], 2) == Hint(
        "Check member m0: it may be failing on the same record repeatedly, or be stuck.",
        "It owns t-0.",
        Remedy.RESTART_MEMBER,
        "m0",
    )


def test_a_stalled_partition_of_a_share_group_counts_its_members() -> None:
    reading = [Member(f"m{at}", assigned=(TopicPartition("t", 0), TopicPartition("t", 1))) for at in range(2)]
    its = found([0, 50], [50, 50], reading, GroupType.SHARE)
    assert its is not None
    assert its.reason == "t-0: 2 members of the group."
    assert its.remedy is Remedy.NONE


@pytest.mark.parametrize(("reads", "gets"), [([50, 50], [50, 50]), ([0, 0], [50, 50])])
def test_other_verdicts_have_their_general_advice(reads: list[int], gets: list[int]) -> None:
    assert found(reads, gets, 2) is None


@pytest.mark.parametrize(
    ("status", "action"), [(Status.LOST, "Start its consumers"), (Status.TOPIC_DELETED, "Delete its offsets")]
)
def test_a_group_without_members_is_not_advised_to_change_its_consumers(status: Status, action: str) -> None:
    none: tuple[Member, ...] = ()
    empty, read = (
        cluster({"g": group({"t-0": 1}, members, state=state)}, {"t-0": end(9)}).groups[0]
        for members, state in ((none, "Empty"), (1, "Stable"))
    )
    its = hint(empty, status, [], {})
    assert its is not None
    assert its.action.startswith(action)
    assert hint(read, status, [], {}) is None


def test_the_hint_of_a_group_that_falls_behind_without_members_is_the_general_one() -> None:
    none: tuple[Member, ...] = ()
    health = judged([cluster({"g": group({"t-0": 1}, none)}, {"t-0": end(9)}, 1, 0)])
    its = health.snapshot.groups[0]
    assert hint(its, Status.FALLING_BEHIND, [], {}) is None
