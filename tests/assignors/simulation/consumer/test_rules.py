"""What one KIP-848 member after the other may do: refusals, fencing, timeouts to the millisecond, commits, settings."""

import doctest
from dataclasses import dataclass, field, replace
from itertools import count

import pytest

from assignors.model import Topic, TopicPartition
from assignors.simulation import consumer
from assignors.simulation.classic.messages import Commit
from assignors.simulation.consumer import (
    ConsumerCoordinator,
    GroupState,
    InstantLog,
    Member,
    MemberState,
    Settings,
    TopicIdPartition,
    Topics,
    topic_id,
)
from assignors.simulation.consumer.messages import Heartbeat, HeartbeatReply, Reply, Request
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.support.known import the

TOPIC = Topic("t", 4)
AT_ONCE = Settings(assignment_interval_ms=0)
NOBODY: frozenset[TopicIdPartition] = frozenset()


def parts(*numbers: int) -> frozenset[TopicIdPartition]:
    """Partitions of t."""
    return frozenset(TopicIdPartition(topic_id(TOPIC), number) for number in numbers)


@dataclass
class Desk:
    """A coordinator, and what it answered."""

    settings: Settings = AT_ONCE
    kernel: Kernel = field(default_factory=Kernel)
    log: InstantLog = field(default_factory=InstantLog)
    topics: Topics = field(default_factory=lambda: Topics.of([TOPIC]))

    def __post_init__(self) -> None:
        numbers = count(1)
        self.coordinator = ConsumerCoordinator(
            self.kernel, lambda: f"new-{next(numbers)}", self.log, self.topics, self.settings, list(self.log.records)
        )

    def ask(self, request: Request) -> Reply:
        replies: list[Reply] = []
        self.coordinator.handle(request, replies.append)
        (reply,) = replies
        return reply

    def error(self, request: Request) -> KafkaError:
        return self.ask(request).error

    def join(self, member_id: str, instance_id: str | None = None) -> HeartbeatReply:
        reply = self.ask(joining(member_id, instance_id))
        assert isinstance(reply, HeartbeatReply)
        return reply

    def beat(self, member_id: str, epoch: int, owned: frozenset[TopicIdPartition] | None = None) -> HeartbeatReply:
        reply = self.ask(Heartbeat(member_id, epoch, owned=owned))
        assert isinstance(reply, HeartbeatReply)
        return reply

    def member(self, member_id: str) -> Member:
        group = self.coordinator.group
        assert group is not None
        return group.members[member_id]

    @property
    def epochs(self) -> tuple[str, int, int]:
        group = self.coordinator.group
        assert group is not None
        return str(group.state), group.epoch, group.target_epoch


def joining(member_id: str, instance_id: str | None = None, topics: tuple[str, ...] = ("t",)) -> Heartbeat:
    return Heartbeat(member_id, 0, instance_id, 20_000, topics, owned=NOBODY)


def two_members(settings: Settings = AT_ONCE) -> Desk:
    """a was asked at 1000 ms to revoke partitions 2 and 3, for which b waits."""
    desk = Desk(settings)
    assert desk.join("a").assignment == parts(0, 1, 2, 3)
    desk.kernel.run_until(1000)
    assert desk.join("b").assignment == parts()
    assert desk.beat("a", 2).assignment == parts(0, 1)
    assert (desk.member("a").state, desk.member("a").pending) == (
        MemberState.UNREVOKED_PARTITIONS,
        dict.fromkeys(parts(2, 3), 2),
    )
    return desk


def static_member() -> Desk:
    """a has the instance id i and all partitions, at epoch 2."""
    desk = Desk()
    desk.join("a", "i")
    return desk


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (Heartbeat("a", 1), KafkaError.GROUP_ID_NOT_FOUND),
        (Heartbeat("a", -1), KafkaError.GROUP_ID_NOT_FOUND),
        (joining(""), KafkaError.INVALID_REQUEST),
        (replace(joining(""), version=0), KafkaError.NONE),
        (joining("a", ""), KafkaError.INVALID_REQUEST),
        (replace(joining("a"), rebalance_timeout_ms=None), KafkaError.INVALID_REQUEST),
        (replace(joining("a"), owned=None), KafkaError.INVALID_REQUEST),
        (replace(joining("a"), owned=parts(0)), KafkaError.INVALID_REQUEST),
        (replace(joining("a"), topics=None), KafkaError.INVALID_REQUEST),
        (replace(joining("a"), topics=None, regex="t.*"), KafkaError.NONE),
        (replace(joining("a"), regex="(t"), KafkaError.INVALID_REGULAR_EXPRESSION),
        (replace(joining("a"), assignor="sticky"), KafkaError.UNSUPPORTED_ASSIGNOR),
        (Heartbeat("a", -2), KafkaError.INVALID_REQUEST),
        (Heartbeat("a", -3), KafkaError.INVALID_REQUEST),
    ],
)
def test_what_a_group_that_does_not_exist_answers(request_: Heartbeat, error: KafkaError) -> None:
    assert Desk().error(request_) is error


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (Heartbeat("stranger", 2), KafkaError.UNKNOWN_MEMBER_ID),
        (Heartbeat("a", 3), KafkaError.FENCED_MEMBER_EPOCH),
        (Heartbeat("a", 1), KafkaError.FENCED_MEMBER_EPOCH),
        (Heartbeat("a", 0), KafkaError.INVALID_REQUEST),
        (Heartbeat("a", 2, "j"), KafkaError.UNKNOWN_MEMBER_ID),
        (Heartbeat("b", 2, "i"), KafkaError.FENCED_INSTANCE_ID),
        (Heartbeat("b", -1, "i"), KafkaError.FENCED_INSTANCE_ID),
        (Heartbeat("b", -2, "j"), KafkaError.UNKNOWN_MEMBER_ID),
        (joining("b", "i"), KafkaError.UNRELEASED_INSTANCE_ID),
        (joining("a", "i"), KafkaError.UNRELEASED_INSTANCE_ID),
        (joining("a"), KafkaError.NONE),
        (Heartbeat("a", 2, "i"), KafkaError.NONE),
    ],
)
def test_what_a_group_with_a_static_member_at_epoch_2_answers(request_: Heartbeat, error: KafkaError) -> None:
    assert static_member().error(request_) is error


def test_a_full_group_accepts_no_member_and_keeps_those_it_has() -> None:
    desk = Desk(Settings(max_size=1))
    desk.join("a")
    assert desk.error(joining("b")) is KafkaError.GROUP_MAX_SIZE_REACHED
    assert desk.error(joining("a")) is KafkaError.NONE


def test_a_member_that_missed_the_last_reply_is_not_fenced() -> None:
    desk = two_members()
    assert desk.beat("a", 2, parts(0, 1)).epoch == 3
    assert desk.error(Heartbeat("a", 2)) is KafkaError.FENCED_MEMBER_EPOCH
    assert desk.error(Heartbeat("a", 2, owned=parts(0, 1, 2))) is KafkaError.FENCED_MEMBER_EPOCH
    assert desk.beat("a", 2, parts(0, 1)) == HeartbeatReply(KafkaError.NONE, "a", 3, 5_000, None)


def test_a_partition_goes_to_the_next_owner_only_when_the_last_says_that_it_has_revoked_it() -> None:
    desk = two_members()
    assert desk.beat("b", 3).assignment is None
    assert desk.beat("a", 2, parts(0, 1, 3)).epoch == 2
    assert desk.beat("b", 3).assignment is None
    assert desk.beat("a", 2, parts(0, 1)).epoch == 3
    assert desk.beat("b", 3).assignment == parts(2, 3)
    assert desk.epochs == ("Stable", 3, 3)


def test_a_session_ends_to_the_millisecond_and_the_next_heartbeat_of_another_brings_the_target() -> None:
    desk = two_members()
    desk.beat("a", 2, parts(0, 1))
    desk.kernel.run_until(20_000)
    desk.beat("a", 3)
    desk.kernel.run_until(45_999)
    assert desk.epochs == ("Reconciling", 3, 3)  # b was last heard of at 1000 ms
    desk.kernel.run_until(46_000)
    assert desk.epochs == ("Assigning", 4, 3)
    assert desk.beat("a", 3).assignment == parts(0, 1, 2, 3)
    assert desk.epochs == ("Stable", 4, 4)


def test_a_member_that_does_not_revoke_in_time_is_removed_though_it_sends_heartbeats() -> None:
    desk = two_members()
    desk.kernel.run_until(20_999)  # asked at 1000 ms, its rebalance timeout is 20 s
    assert desk.beat("a", 2, parts(0, 1, 2, 3)).epoch == 2
    desk.kernel.run_until(21_000)
    assert desk.error(Heartbeat("a", 2)) is KafkaError.UNKNOWN_MEMBER_ID
    assert desk.beat("b", 3).assignment == parts(0, 1, 2, 3)


def test_a_target_waits_for_the_assignment_interval_and_then_for_a_heartbeat() -> None:
    desk = Desk(Settings(assignment_interval_ms=1_000))
    desk.kernel.run_until(50)
    assert desk.join("a").epoch == 2  # the first one is free
    assert desk.join("b").epoch == 2
    assert desk.epochs == ("Assigning", 3, 2)
    desk.kernel.run_until(1_049)
    assert desk.beat("b", 2).epoch == 2
    desk.kernel.run_until(1_050)
    assert desk.epochs == ("Assigning", 3, 2)
    assert desk.beat("b", 2).epoch == 3
    assert desk.epochs == ("Reconciling", 3, 3)


def test_a_static_member_that_is_back_has_its_partitions_and_no_other_member_notices() -> None:
    desk = static_member()
    assert desk.ask(Heartbeat("a", -2, "i")) == HeartbeatReply(KafkaError.NONE, "a", -2)
    assert desk.epochs == ("Reconciling", 2, 2)
    assert desk.join("b", "i") == HeartbeatReply(KafkaError.NONE, "b", 2, 5_000, parts(0, 1, 2, 3))
    assert desk.epochs == ("Stable", 2, 2)
    assert desk.error(Heartbeat("a", 2, "i")) is KafkaError.FENCED_INSTANCE_ID


def test_a_static_member_that_is_not_back_in_time_is_removed_by_its_old_session() -> None:
    desk = static_member()
    desk.kernel.run_until(10_000)
    desk.ask(Heartbeat("a", -2, "i"))
    desk.kernel.run_until(44_999)
    assert desk.epochs == ("Reconciling", 2, 2)
    desk.kernel.run_until(45_000)
    assert desk.epochs == ("Empty", 3, 2)


def test_more_partitions_count_from_the_next_heartbeat_on() -> None:
    desk = Desk()
    desk.join("a")
    desk.coordinator.see(desk.topics.changed([Topic("t", 6)]))
    assert desk.epochs == ("Stable", 2, 2)
    assert desk.beat("a", 2).assignment == parts(0, 1, 2, 3, 4, 5)
    assert desk.epochs == ("Stable", 3, 3)


def test_a_topic_that_nobody_reads_changes_nothing() -> None:
    desk = Desk()
    desk.join("a")
    desk.coordinator.see(desk.topics.changed([TOPIC, Topic("u", 6)]))
    assert desk.beat("a", 2) == HeartbeatReply(KafkaError.NONE, "a", 2, 5_000, None)


def test_a_recreated_topic_is_another_topic() -> None:
    desk = Desk()
    desk.join("a")
    created_again = Topic("t", 1, topic_id="00000000-0000-4000-8000-000000000001")
    desk.coordinator.see(desk.topics.changed([created_again]))
    assert desk.beat("a", 2).assignment == NOBODY  # first it must give up the old one
    assert desk.beat("a", 2, NOBODY).assignment == frozenset({TopicIdPartition("AAAAAAAAQACAAAAAAAAAAQ", 0)})


def test_an_expression_is_resolved_after_the_heartbeat_and_counts_from_the_next_on() -> None:
    desk = Desk()
    assert desk.ask(replace(joining("a"), topics=None, regex="[tu]")) == HeartbeatReply(
        KafkaError.NONE, "a", 1, 5_000, NOBODY
    )
    desk.kernel.run_until(0)
    assert desk.epochs == ("Assigning", 2, 1)
    assert desk.beat("a", 1).assignment == parts(0, 1, 2, 3)


def test_new_topics_are_matched_at_a_heartbeat_more_than_ten_seconds_after_the_last_round() -> None:
    desk = Desk()
    desk.ask(replace(joining("a"), topics=None, regex="[tu]"))
    desk.kernel.run_until(0)
    desk.coordinator.see(desk.topics.changed([TOPIC, Topic("u", 1)]))
    for at_ms, epoch in ((10_000, 2), (10_001, 3)):
        desk.kernel.run_until(at_ms)
        desk.beat("a", desk.member("a").epoch, parts(0, 1, 2, 3))
        desk.kernel.run_until(at_ms)
        assert desk.epochs[1] == epoch


def test_the_assignor_that_most_members_ask_for_plans() -> None:
    desk = Desk()
    desk.ask(replace(joining("b"), assignor="range"))
    desk.ask(replace(joining("a"), assignor="range"))
    desk.ask(replace(joining("c"), assignor="uniform"))
    group = desk.coordinator.group
    assert group is not None
    assert {name: set(owned) for name, owned in group.target.items()} == {
        "a": parts(0, 1),
        "b": parts(2),
        "c": parts(3),
    }


@pytest.mark.parametrize(
    ("epoch", "partition", "version", "error"),
    [
        (3, 3, 9, KafkaError.NONE),  # its own epoch: whatever partition
        (4, 0, 9, KafkaError.STALE_MEMBER_EPOCH),
        (2, 0, 9, KafkaError.NONE),  # held since epoch 2
        (1, 0, 9, KafkaError.STALE_MEMBER_EPOCH),
        (2, 3, 9, KafkaError.STALE_MEMBER_EPOCH),  # given back
        (-1, 0, 9, KafkaError.STALE_MEMBER_EPOCH),
        (3, 0, 8, KafkaError.UNSUPPORTED_VERSION),
    ],
)
def test_who_may_commit(epoch: int, partition: int, version: int, error: KafkaError) -> None:
    desk = two_members()
    desk.beat("a", 2, parts(0, 1))
    commit = Commit(((TopicPartition("t", partition), 7),), "a", epoch, version=version)
    assert desk.error(commit) is error
    assert desk.coordinator.committed == ({TopicPartition("t", partition): 7} if error is KafkaError.NONE else {})


@pytest.mark.parametrize(("version", "error"), [(9, KafkaError.GROUP_ID_NOT_FOUND), (8, KafkaError.ILLEGAL_GENERATION)])
def test_a_commit_to_a_group_that_does_not_exist(version: int, error: KafkaError) -> None:
    assert Desk().error(Commit(((TopicPartition("t", 0), 7),), "a", 1, version=version)) is error


def test_a_consumer_without_a_group_makes_one_that_outlives_its_offsets_until_the_next_check() -> None:
    desk = Desk()
    of_a_member = Commit(((TopicPartition("t", 0), 8),), "a", 1)
    assert desk.error(Commit(((TopicPartition("t", 0), 7),))) is KafkaError.NONE
    desk.coordinator.see(desk.topics.changed([]))
    assert desk.coordinator.committed == {}
    assert desk.error(of_a_member) is KafkaError.UNKNOWN_MEMBER_ID
    assert desk.error(Heartbeat("a", 1)) is KafkaError.GROUP_ID_NOT_FOUND
    desk.kernel.run_until(600_000)
    assert desk.error(of_a_member) is KafkaError.GROUP_ID_NOT_FOUND


def test_offsets_go_with_their_topic_and_the_group_with_its_last_offset() -> None:
    desk = Desk(replace(AT_ONCE, offsets_retention_ms=60_000, offsets_retention_check_interval_ms=600_000))
    desk.join("a")
    desk.ask(Commit(((TopicPartition("t", 0), 7), (TopicPartition("u", 0), 8)), "a", 2))
    desk.coordinator.see(desk.topics.changed([TOPIC, Topic("u", 1)]).changed([TOPIC]))
    assert desk.coordinator.committed == {TopicPartition("t", 0): 7, TopicPartition("u", 0): 8}
    desk.coordinator.see(Topics.of([TOPIC]).changed([Topic("u", 1)]))
    assert desk.coordinator.committed == {TopicPartition("u", 0): 8}
    desk.ask(Heartbeat("a", -1))
    desk.kernel.run_until(599_999)
    assert desk.epochs == ("Empty", 3, 2)
    desk.kernel.run_until(600_000)
    assert (desk.coordinator.group, desk.coordinator.committed) == (None, {})


def test_a_new_coordinator_goes_on_in_the_middle_of_a_reconciliation_with_fresh_timeouts() -> None:
    desk = two_members()
    desk.kernel.run_until(15_000)
    heir = Desk(kernel=Kernel(), log=InstantLog(list(desk.log.records)))
    assert heir.epochs == ("Reconciling", 3, 3)
    heir.kernel.run_until(19_999)
    assert heir.member("a").state is MemberState.UNREVOKED_PARTITIONS
    heir.kernel.run_until(20_000)
    assert heir.error(Heartbeat("a", 2)) is KafkaError.UNKNOWN_MEMBER_ID


def test_the_example_of_the_package_is_true() -> None:
    outcome = doctest.testmod(consumer)
    assert (outcome.failed, outcome.attempted) == (0, 9)


def test_a_group_is_empty_when_its_last_member_leaves() -> None:
    desk = Desk()
    desk.join("a")
    assert desk.ask(Heartbeat("a", -1)) == HeartbeatReply(KafkaError.NONE, "a", -1)
    assert desk.coordinator.group is not None
    assert desk.coordinator.group.state is GroupState.EMPTY
    assert desk.join("b").epoch == 4


def test_a_member_refused_because_the_group_is_full_gets_no_id() -> None:
    """Kafka draws it after that check, so that the next newcomer has the id that this one would have had."""
    desk = Desk(replace(AT_ONCE, max_size=1))
    desk.join("a")
    newcomer = replace(joining("", "i"), version=0)  # which lets the coordinator choose its id
    assert desk.error(newcomer) is KafkaError.GROUP_MAX_SIZE_REACHED
    desk.ask(Heartbeat("a", -1))
    assert the(HeartbeatReply, desk.ask(newcomer)).member_id == "new-1"
