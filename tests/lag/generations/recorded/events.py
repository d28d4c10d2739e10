"""Group events in few words, as the coordinator would write them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from assignors.whatif.moves import MoveKind
from lag.generations.recorded import GenerationRecorder, RecordedGeneration, TimedEvent
from lag.records import GroupEvent
from lag.records.consumer_protocol import MemberAssignment, Subscription, TopicPartitions
from lag.records.group_values import (
    ClassicMember,
    ConsumerGroupCurrentMemberAssignment,
    ConsumerGroupMemberMetadata,
    ConsumerGroupMetadata,
    GroupMetadata,
    OwnedPartitions,
    TargetAssignmentMember,
    TargetAssignmentMetadata,
    TopicIdPartitions,
)
from lag.records.message_schema import Message

ORDERS = UUID(int=1)
NAMES = {ORDERS: "orders"}
STABLE, UNREVOKED, UNRELEASED = 0, 1, 2


def written(at_ms: int, record_type: int, value: Message | None, member_id: str | None = None) -> TimedEvent:
    return TimedEvent(at_ms, GroupEvent(0, record_type, "", "g", member_id, value=value))


def in_part(timed: TimedEvent, *problems: str) -> TimedEvent:
    """The event, of which these parts could not be decoded."""
    return timed._replace(event=replace(timed.event, problems=problems))


def classic(
    at_ms: int,
    generation: int,
    members: Mapping[str, Sequence[int]],
    *,
    protocol: str = "range",
    instances: Mapping[str, str] | None = None,
    topics: tuple[str, ...] = ("orders",),
    joined_ms: int | None = None,
) -> TimedEvent:
    """Members a, b, ... (client ids c-a, c-b, ...) with their partitions of the topic orders."""
    reported = tuple(
        _classic_member(name, owned, (instances or {}).get(name), topics) for name, owned in members.items()
    )
    return written(at_ms, 2, GroupMetadata(
        protocol_type="consumer", generation=generation, protocol=protocol if members else None, leader=None,
        current_state_timestamp=joined_ms, members=reported,
    ))  # fmt: skip


def _classic_member(name: str, owned: Sequence[int], instance: str | None, topics: tuple[str, ...]) -> ClassicMember:
    given = MemberAssignment((TopicPartitions("orders", tuple(owned)),))
    return ClassicMember(
        member_id=name, instance_id=instance, client_id=f"c-{name}", client_host="/h", session_timeout_ms=1,
        subscription_bytes=b"", assignment_bytes=b"", subscription=Subscription(topics), assignment=given,
    )  # fmt: skip


def epoch(at_ms: int, number: int, topics_hash: int = 0) -> TimedEvent:
    return written(at_ms, 3, ConsumerGroupMetadata(number, topics_hash))


def member(at_ms: int, name: str, instance: str | None = None) -> TimedEvent:
    value = ConsumerGroupMemberMetadata(instance, None, f"c-{name}", "/h", ("orders",), None, 1, None)
    return written(at_ms, 5, value, name)


def target(at_ms: int, name: str, *owned: int, topic_id: UUID = ORDERS) -> TimedEvent:
    return written(at_ms, 7, TargetAssignmentMember((TopicIdPartitions(topic_id, owned),)), name)


def planned(at_ms: int, number: int) -> TimedEvent:
    return written(at_ms, 6, TargetAssignmentMetadata(number))


def current(
    at_ms: int, name: str, number: int, state: int, owned: Sequence[int], leaving: Sequence[int] = ()
) -> TimedEvent:
    has, gives = ((OwnedPartitions(ORDERS, tuple(mine)),) if mine else () for mine in (owned, leaving))
    return written(at_ms, 8, ConsumerGroupCurrentMemberAssignment(number, number - 1, state, has, gives), name)


def gone(at_ms: int, name: str) -> list[TimedEvent]:
    """The three tombstones of a member."""
    return [written(at_ms, kind, None, name) for kind in (8, 7, 5)]


def recorded(*events: TimedEvent, whole: bool = True, **limits: int) -> list[RecordedGeneration]:
    recorder = GenerationRecorder(NAMES.get, **limits)
    recorder.take(events, whole=whole)
    return recorder.recorded("g")


def reported(generations: Sequence[RecordedGeneration]) -> list[tuple[int, int, str]]:
    return [(one.generation.number, one.generation.at_ms, one.generation.event) for one in generations]


def plan(one: RecordedGeneration) -> dict[str, list[int]]:
    return {name: [tp.partition for tp in tps] for name, tps in one.generation.after.by_member.items()}


def gained(one: RecordedGeneration) -> list[int]:
    return [move.tp.partition for move in one.generation.moves.of(MoveKind.GAINED)]
