"""Groups with no partition to read: the verdict, its cause, and neighbours that must not have it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lag.model import GroupType, Member, Problem, Scope
from lag.verdict.health import GroupHealth
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from tests.lag.make import End, GroupSpec, cluster, deleted, end, group, judged, tp

ORDERS = {"orders-0": end(9), "orders-1": end(9)}
OTHER = {"other-0": end(5)}


def reader(name: str = "m0", *topics: str, owns: Sequence[str] = (), **rest: Any) -> Member:
    return Member(name, topics=topics, assigned=tuple(map(tp, owns)), **rest)


def idle(*members: Member, committed: Mapping[str, int | None] | None = None, **rest: Any) -> GroupSpec:
    return group(committed or {}, members, **rest)


def watch(*polls: tuple[GroupSpec, Mapping[str, End]]) -> GroupHealth:
    """The group "g" after these polls, one every 10 s."""
    snapshots = [cluster({"g": its}, ends, n, 1_000_000 + 10_000 * n) for n, (its, ends) in enumerate(polls, 1)]
    return judged(snapshots).groups[0]


READING = group({"orders-0": 9, "orders-1": 9}, [reader("m0", "orders", owns=["orders-0", "orders-1"])])
LOST_ITS_TOPIC = idle(reader("m0", "orders"))


def test_a_group_whose_topic_was_deleted_is_not_ok_and_names_the_topic() -> None:
    whole = watch((READING, ORDERS), (READING, ORDERS), (LOST_ITS_TOPIC, OTHER))
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.rule == "no member of the group owns a partition that exists"
    assert whole.finding.evidence == "its only member does not have a partition: topic orders was deleted"
    assert whole.finding.onset == Onset(1_030_000, True, OnsetSource.WINDOW)
    assert (whole.lag.records, whole.lag.partitions, whole.worst) == (None, 0, None)


def test_a_topic_that_no_poll_saw_does_not_exist() -> None:
    whole = watch((idle(reader("m0", "ordres"), reader("m1", "ordres", "x")), ORDERS))
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == "none of its 2 members has a partition: topics ordres, x do not exist"


def test_members_that_still_own_partitions_of_a_deleted_topic_have_none() -> None:
    """A classic group keeps its assignment until its members look at the topics again."""
    keeps = group({"orders-0": None}, [reader("m0", "orders", owns=["orders-0"])])
    whole = watch((READING, ORDERS), (keeps, {"orders-0": deleted(), **OTHER}))
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == "its only member does not have a partition: topic orders was deleted"


def test_a_pattern_that_matches_no_topic_is_named() -> None:
    by_pattern = idle(reader(topic_regex="ord.*s"), type=GroupType.CONSUMER, epoch=3, assignment_epoch=3)
    whole = watch((by_pattern, OTHER))
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == "its only member does not have a partition: no topic matches ord.*s"


@pytest.mark.parametrize(
    ("member", "cause"),
    [
        (reader("m0", "orders"), "topic orders exists, but nothing of it is assigned"),
        (reader(topic_regex="ord.*s"), "topics match the pattern, but nothing of these is assigned"),
        (reader(), "no topic is subscribed to, as with a pattern that matches none"),
    ],
    ids=["topic", "pattern", "expanded by the client"],
)
def test_members_that_may_have_just_joined_take_three_polls_in_45_s(member: Member, cause: str) -> None:
    """Nothing that one poll shows speaks against an assignment that comes with the next one."""
    poll = (idle(member), ORDERS)
    whole = watch(*[poll] * 4)
    assert whole.finding.status is Status.UNKNOWN
    assert whole.finding.evidence == (
        "its only member does not have a partition after 4 polls in 30 s: a verdict needs 3 in 45 s, as members may "
        "have just joined"
    )
    whole = watch(*[poll] * 6)
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == f"its only member does not have a partition: {cause}"


def test_a_group_that_rebalances_without_partitions_is_unknown() -> None:
    joining = idle(reader(), reader("m1"), state="PreparingRebalance")
    whole = watch(*[(joining, OTHER)] * 9)
    assert whole.finding.status is Status.UNKNOWN
    assert whole.finding.evidence == "the group is PreparingRebalance, and none of its 2 members has a partition yet"
    planned = idle(reader("m0", "gone"), type=GroupType.CONSUMER, epoch=4, assignment_epoch=3)
    assert watch((planned, OTHER)).finding.status is Status.UNKNOWN


def test_a_group_that_could_not_be_read_is_unknown() -> None:
    denied = Problem("unauthorized", Scope.GROUP, "g", "not authorised to describe it")
    whole = watch(*[(idle(state="Unknown", complete=False, problems=(denied,)), OTHER)] * 9)
    assert (whole.finding.status, whole.finding.evidence) == (Status.UNKNOWN, "not authorised to describe it")
    garbled = idle(reader("m0", "gone", problem="its assignment cannot be decoded"))
    whole = watch(*[(garbled, OTHER)] * 9)
    assert whole.finding.status is Status.UNKNOWN
    assert whole.finding.evidence == "the partitions of the group could not be read"


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_members_that_share_something_else_have_no_partitions_in_health(protocol_type: str) -> None:
    whole = watch(*[(idle(reader(), reader("m1"), protocol_type=protocol_type), OTHER)] * 9)
    assert whole.finding.status is Status.OK
    assert whole.finding.evidence == (
        f"its members share what the protocol '{protocol_type}' assigns, which is not partitions"
    )


def test_some_idle_members_are_in_order() -> None:
    owner = reader("m0", "orders", owns=["orders-0", "orders-1"])
    spare = group({"orders-0": 9, "orders-1": 9}, [owner, reader("m1", "orders")])
    assert watch(*[(spare, ORDERS)] * 9).finding.status is Status.OK


def test_a_topic_with_commits_that_nobody_owns_is_no_reason() -> None:
    """The group moved on to another topic."""
    moved = group({"orders-0": 9, "other-0": 5}, [reader("m0", "other", owns=["other-0"])])
    assert watch(*[(moved, ORDERS | OTHER)] * 9).finding.status is Status.OK


def test_commits_on_a_topic_that_exists_do_not_hide_members_without_partitions() -> None:
    changed = group({"orders-0": 9}, [reader("m0", "gone")])
    whole = watch(*[(changed, ORDERS)] * 9)
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == "its only member does not have a partition: topic gone does not exist"


def test_a_stopped_group_without_partitions_says_both() -> None:
    changed = group({"orders-0": 3}, [reader("m0", "gone")])
    whole = watch(*[(changed, ORDERS)] * 10)
    assert whole.finding.status is Status.STOPPED
    assert whole.finding.evidence.startswith(
        "its only member does not have a partition: topic gone does not exist; no "
    )


def test_one_of_two_topics_that_does_not_exist_is_named() -> None:
    both = group({"orders-0": 9, "orders-1": 9}, [reader("m0", "orders", "x", owns=["orders-0", "orders-1"])])
    whole = watch(*[(both, ORDERS)] * 9)
    assert whole.finding.status is Status.OK
    assert whole.finding.evidence.endswith("; of what its members subscribe to, topic x does not exist")


def test_a_group_whose_members_left_with_their_topic_keeps_the_verdict() -> None:
    """As consumers of librdkafka do."""
    left = group({}, members=0, state="Empty")
    whole = watch((READING, ORDERS), (LOST_ITS_TOPIC, OTHER), (left, OTHER))
    assert whole.finding.status is Status.NO_PARTITIONS
    assert whole.finding.evidence == "topic orders was deleted, and its members have left: nothing is left to read"
    assert watch((READING, ORDERS), (left, ORDERS)).finding.status is Status.OK
    stopped_before = group({"orders-0": 9, "orders-1": 9}, members=0, state="Empty")
    assert watch((stopped_before, ORDERS), (left, OTHER)).finding.status is Status.OK


def test_a_topic_that_is_created_again_ends_the_verdict() -> None:
    polls = [(READING, ORDERS), (LOST_ITS_TOPIC, OTHER), (READING, ORDERS)]
    assert watch(*polls).finding.status is not Status.NO_PARTITIONS
    again = watch(*polls, (idle(reader("m0", "orders")), ORDERS))
    assert again.finding.status is Status.UNKNOWN
