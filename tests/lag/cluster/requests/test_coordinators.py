"""Two brokers list the same group: the leader of its partition of the offsets topic is right, by the newest epoch."""

import pytest

from assignors.offsets_partition import offsets_partition
from lag.cluster.requests.coordinators import NOT_VISIBLE, Coordinators, OffsetsLeader, moved, one_per_id
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription
from lag.model import UNLISTED, GroupType, Problem, Scope

MINE, OTHER = "my-group", "polygenelubricants"  # partitions 12 and 0 of 50


def listed(group_id: str, coordinator: int, epoch: int | None = None) -> GroupDescription:
    return GroupDescription(group_id, GroupType.CLASSIC, "Stable", coordinator, epoch=epoch)


def led_by(node: int, epoch: int, partitions: int = 50, topic_id: str | None = None) -> Coordinators:
    return Coordinators((OffsetsLeader(node, epoch),) * partitions, topic_id)


def test_the_answer_of_the_coordinator_remains_in_either_order() -> None:
    stale, right = listed(MINE, 2), listed(MINE, 1)
    for groups in ([stale, right], [right, stale]):
        assert one_per_id(groups, led_by(1, 6)) == [right]


def test_each_partition_of_the_offsets_topic_has_a_coordinator_of_its_own() -> None:
    leaders = [OffsetsLeader(3, 1)] * 50
    leaders[offsets_partition(MINE)] = OffsetsLeader(1, 1)
    known = Coordinators(tuple(leaders))
    kept = one_per_id([listed(MINE, 1), listed(MINE, 3), listed(OTHER, 1), listed(OTHER, 3)], known)
    assert [(group.group_id, group.coordinator) for group in kept] == [(MINE, 1), (OTHER, 3)]


def test_a_group_that_only_a_former_coordinator_lists_is_not_shown_as_read() -> None:
    stale = listed(MINE, 2)
    assert one_per_id([stale], led_by(1, 6)) == []
    (problem,) = moved([stale], [])
    assert (problem.kind, problem.scope, problem.affected) == (UNLISTED, Scope.CLUSTER, 1)
    assert moved([stale, listed(MINE, 1)], [listed(MINE, 1)]) == []


def test_a_partition_without_a_leader_has_no_coordinator() -> None:
    assert one_per_id([listed(MINE, 2)], led_by(-1, 6)) == []


def test_without_the_offsets_topic_the_higher_epoch_remains_then_the_answer_without_problems() -> None:
    old, new = listed(MINE, 2, 4), listed(MINE, 1, 5)
    for groups in ([old, new], [new, old]):
        assert one_per_id(groups, NOT_VISIBLE) == [new]
    refused = listed(MINE, 3, 9)
    refused.problems.append(Problem("error", Scope.GROUP, MINE, "NOT_COORDINATOR"))
    assert one_per_id([refused, new], NOT_VISIBLE) == [new]


@pytest.mark.parametrize(
    ("first", "second", "leader"),
    [
        (led_by(2, 5), led_by(1, 6), 1),
        (led_by(1, 6), led_by(2, 5), 1),  # the answer of a broker that was frozen
        (led_by(2, -1), led_by(1, -1), 1),  # a broker before Kafka 2.1 gives no epochs
        (led_by(2, 5), NOT_VISIBLE, 2),
        (NOT_VISIBLE, led_by(1, 0), 1),
        (led_by(2, 5, 50), led_by(1, 0, 8), 1),  # the topic was deleted and created again
        (led_by(2, 5, topic_id="old"), led_by(1, 0, topic_id="new"), 1),  # and has as many partitions
        (led_by(2, 5, topic_id="same"), led_by(1, 4, topic_id="same"), 2),
        (led_by(2, 5, topic_id="same"), led_by(1, 4), 2),  # a broker before Kafka 2.8 gives no id
        (led_by(2, 5, 8), led_by(1, 6, 50), 1),  # partitions were added
    ],
)
def test_the_higher_leader_epoch_is_newer(first: Coordinators, second: Coordinators, leader: int) -> None:
    assert first.newest(second).of(MINE) == leader


def test_the_id_of_the_offsets_topic_stays_known_between_answers_without_it() -> None:
    known = led_by(2, 5, topic_id="old").newest(led_by(2, 6)).newest(led_by(1, 0, topic_id="new"))
    assert (known.of(MINE), known.topic_id) == (1, "new")


def test_the_offsets_of_a_dropped_answer_go_with_it() -> None:
    stale, right, other = listed(MINE, 2), listed(MINE, 1), listed(OTHER, 1)
    commits = CommittedOffsets({"a": 0, "b": 1})
    for group, topic, offset in ((stale, 0, 3), (right, 0, 9), (other, 1, 7)):
        number = commits.add_group(group)
        commits.add(number, topic, [0, 1], [offset, offset + 1])
    kept = commits.of_groups([right, other])
    assert [group.coordinator for group in kept.groups] == [1, 1]
    assert (list(kept.first), list(kept.group)) == ([0, 2], [0, 0, 1, 1])
    assert (list(kept.topic), list(kept.partition), list(kept.offset)) == ([0, 0, 1, 1], [0, 1, 0, 1], [9, 10, 7, 8])
    assert kept.topics == commits.topics
