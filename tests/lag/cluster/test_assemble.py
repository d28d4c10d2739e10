"""Answers of brokers -> a snapshot: cases that a real broker shows only by chance."""

import pytest

from assignors.model import TopicPartition as TP
from lag.cluster.assemble import Read, beyond_end, snapshot
from lag.cluster.requests.coordinators import Coordinators, OffsetsLeader
from lag.cluster.requests.log_offsets import LOG_END, LOG_START
from lag.cluster.requests.metadata import NO_LEADER, Absent, Metadata
from lag.cluster.requests.responses import CommittedOffsets, GroupDescription, LogOffsets
from lag.model import ClusterSnapshot, GroupType, Member, Problem, Scope, Topic
from lag.offsets import PartitionProblem


def group(group_id: str, *members: Member, kind: GroupType = GroupType.CLASSIC) -> GroupDescription:
    return GroupDescription(group_id, kind, "Stable" if members else "Empty", coordinator=1, members=members)


def member(member_id: str, *owned: tuple[str, int], topics: tuple[str, ...] = ()) -> Member:
    return Member(member_id, topics=topics, assigned=tuple(TP(*tp) for tp in owned))


def read(
    groups: list[GroupDescription],
    commits: CommittedOffsets,
    ends: LogOffsets,
    leaders: dict[str, list[int]],
    denied: frozenset[str] = frozenset(),
) -> ClusterSnapshot:
    topics = {name: Topic(name, None, len(nodes)) for name, nodes in leaders.items()}
    metadata = Metadata("id", 1, (), topics, leaders)
    return snapshot(Read("test", 1, 5, 0.1, metadata, (), groups, commits, ends, Absent(denied)))


def ends_of(commits: CommittedOffsets, **log_ends: list[int]) -> LogOffsets:
    ends = LogOffsets()
    for topic, offsets in log_ends.items():
        for partition, offset in enumerate(offsets):
            ends.add(commits.topic_number(topic), partition, LOG_START, 0)
            ends.add(commits.topic_number(topic), partition, LOG_END, offset)
    return ends


def test_cluster_without_groups_and_topics_is_an_empty_snapshot() -> None:
    found = read([], CommittedOffsets({}), LogOffsets(), {})
    assert (found.groups, len(found.offsets), found.complete) == ((), 0, True)


def test_the_leaders_of_the_offsets_topic_are_kept_and_those_of_others_are_not() -> None:
    known = Coordinators((OffsetsLeader(2, 1), OffsetsLeader(NO_LEADER, 1), OffsetsLeader(3, 1)))
    metadata = Metadata("id", 1, (), {}, {"a": [1]}, known)
    found = snapshot(Read("test", 1, 5, 0.1, metadata, (), [], CommittedOffsets({}), LogOffsets()))
    assert found.offsets_leaders == (2, None, 3)
    assert read([], CommittedOffsets({}), LogOffsets(), {"a": [1]}).offsets_leaders == ()


def test_group_whose_commits_could_not_be_read_still_shows_who_owns_what() -> None:
    commits = CommittedOffsets({"a": 0})
    frozen = group("g", member("m", ("a", 1)))
    frozen.offsets_problem = PartitionProblem.TIMEOUT
    frozen.problems.append(Problem("offsets_unread", Scope.GROUP, "g", "its coordinator is silent"))
    (found,) = read([frozen], commits, ends_of(commits, a=[10, 20]), {"a": [1, 1]}).groups
    assert [(r.tp.partition, r.member_id, r.log_end, r.lag_records, r.problem) for r in found.partitions] == [
        (1, "m", 20, None, PartitionProblem.TIMEOUT)
    ]
    assert not found.complete


def test_snapshot_with_a_topic_that_may_not_be_described_is_not_complete() -> None:
    found = read([group("g", member("m", ("shut", 0)))], CommittedOffsets({}), LogOffsets(), {}, frozenset({"shut"}))
    assert [row.problem for row in found.groups[0].partitions] == [PartitionProblem.UNAUTHORIZED]
    assert not found.complete


@pytest.mark.parametrize("offset", [-2, -1001, -(2**63)])
def test_a_negative_committed_offset_is_no_commit(offset: int) -> None:
    """Logical offsets that clients commit by mistake: -2 is "earliest", -1001 librdkafka's "invalid"."""

    def snapshot_with(committed: int) -> ClusterSnapshot:
        commits = CommittedOffsets({"a": 0})
        commits.add(commits.add_group(one := group("g", member("m", ("a", 0)))), 0, [0, 1], [committed, 7])
        return read([one], commits, ends_of(commits, a=[9, 9]), {"a": [1, 1]})

    (found,) = snapshot_with(offset).groups
    assert [(r.committed, r.lag_records, r.lost_records, r.problem) for r in found.partitions] == [
        (None, None, None, PartitionProblem.NO_COMMIT),
        (7, 2, 0, None),
    ]
    table, without = snapshot_with(offset).offsets, snapshot_with(-1).offsets
    for name in ("committed", "lag", "lost", "problem", "member"):
        assert getattr(table, name).tolist() == getattr(without, name).tolist()


def test_subscribed_partition_without_owner_and_commit_is_listed() -> None:
    commits = CommittedOffsets({"a": 0})
    commits.add(commits.add_group(joining := group("g", member("m", topics=("a",)))), 0, [1], [7])
    (found,) = read([joining], commits, ends_of(commits, a=[9, 9]), {"a": [1, 1]}).groups
    assert [(r.tp.partition, r.committed, r.member_id) for r in found.partitions] == [(0, None, None), (1, 7, None)]


def test_share_partition_of_two_members_has_no_single_owner() -> None:
    commits = CommittedOffsets({"a": 0})
    both = group("g", member("m", ("a", 0)), member("n", ("a", 0)), kind=GroupType.SHARE)
    commits.add(commits.add_group(both), 0, [0], [4], lags=[3])
    (found,) = read([both], commits, ends_of(commits, a=[9]), {"a": [1]}).groups
    assert [(r.committed, r.lag_records, r.member_id) for r in found.partitions] == [(4, 3, None)]


def test_rows_of_groups_read_in_any_order_end_up_with_their_group() -> None:
    commits = CommittedOffsets({"a": 0})
    last, first = group("z"), group("b")
    commits.add(commits.add_group(last), 0, [0], [1])
    commits.add(commits.add_group(first), 0, [0], [2])
    found = read([last, first], commits, ends_of(commits, a=[9]), {"a": [1]})
    assert [(g.group_id, g.partitions[0].committed) for g in found.groups] == [("b", 2), ("z", 1)]


@pytest.mark.parametrize(("committed", "expected"), [(9, []), (10, []), (11, [("a", 1)])])
def test_commit_beyond_the_end_that_was_read_asks_for_a_second_look(
    committed: int, expected: list[tuple[str, int]]
) -> None:
    commits = CommittedOffsets({"a": 0, "unread": 1})
    number = commits.add_group(group("g"))
    commits.add(number, 0, [1], [committed])
    commits.add(number, 1, [0], [99])
    assert beyond_end(commits, ends_of(commits, a=[5, 10])) == expected


def test_no_commits_ask_for_no_second_look() -> None:
    assert beyond_end(CommittedOffsets({}), LogOffsets()) == []


def test_partitions_that_a_topic_got_later_have_no_commit_also_while_no_member_tells_a_subscription() -> None:
    commits = CommittedOffsets(topics={"t": 0, "whole": 1})
    made = [group("empty"), group("shared", kind=GroupType.SHARE), group("undescribed")]
    made[2].problems.append(Problem("undescribed", Scope.GROUP, "undescribed", "no answer"))
    for each in made:
        number = commits.add_group(each)
        commits.add(number, 0, [0, 1], [7, 8])
        commits.add(number, 1, [0], [3])
    ends = ends_of(commits, t=[7, 8, 8, 9], whole=[3])
    found = read(made, commits, ends, {"t": [1, 1, 1, 1], "whole": [1]})
    rows = {
        each.group_id: [(row.tp.partition, row.committed, row.problem) for row in each.partitions]
        for each in found.groups
    }
    no = PartitionProblem.NO_COMMIT
    assert rows["empty"] == [(0, 7, None), (1, 8, None), (2, None, no), (3, None, no), (0, 3, None)]
    assert rows["shared"] == rows["undescribed"] == [(0, 7, None), (1, 8, None), (0, 3, None)]


@pytest.mark.parametrize("committed", [[0], [1], [3], [0, 2], [1, 2, 3], [0, 1, 3]])
def test_a_consumer_that_assigns_itself_a_part_of_a_topic_lacks_no_commit(committed: list[int]) -> None:
    commits = CommittedOffsets(topics={"t": 0})
    simple = group("simple")
    commits.add(commits.add_group(simple), 0, committed, [5] * len(committed))
    found = read([simple], commits, ends_of(commits, t=[5, 5, 5, 5]), {"t": [1, 1, 1, 1]})
    assert [row.tp.partition for row in found.groups[0].partitions] == committed


def test_a_subscribed_topic_that_does_not_exist_is_missing_and_one_that_is_hidden_is_not() -> None:
    commits = CommittedOffsets(topics={"t": 0})
    reads = group("g", member("a", ("t", 0), topics=("t", "gone", "hidden")))
    commits.add_group(reads)
    topics = {"t": Topic("t", None, 1)}
    absent = Absent(denied=frozenset({"hidden"}), missing=frozenset({"gone", "of another group"}))
    metadata = Metadata("id", 1, (), topics, {"t": [1]})
    made = snapshot(Read("test", 1, 5, 0.1, metadata, (), [reads], commits, ends_of(commits, t=[0]), absent))
    assert made.groups[0].missing_topics == ("gone",)
