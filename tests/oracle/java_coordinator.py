"""Kafka's classic coordinator behind our requests and replies: what `ClassicCoordinator` is compared with."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import jpype

from assignors.model import TopicPartition
from assignors.simulation.classic.messages import (
    Answer,
    Commit,
    CommitReply,
    Heartbeat,
    HeartbeatReply,
    Join,
    JoinedMember,
    JoinReply,
    Leave,
    Leaver,
    LeaveReply,
    Reply,
    Request,
    Sync,
    SyncReply,
    refusal,
)
from assignors.simulation.classic.settings import Settings
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from tests.oracle.coordinator_shard import Blob, Shard, java_bytes, request_context, text

GROUP = "g"

Read = Callable[[Any], Reply]


def properties(settings: Settings) -> dict[str, int]:
    """The same settings under Kafka's names."""
    return {
        "group.min.session.timeout.ms": settings.min_session_timeout_ms,
        "group.max.session.timeout.ms": settings.max_session_timeout_ms,
        "group.initial.rebalance.delay.ms": settings.initial_rebalance_delay_ms,
        "group.max.size": settings.max_size,
        "offsets.retention.minutes": settings.offsets_retention_ms // 60_000,
        "offsets.retention.check.interval.ms": settings.offsets_retention_check_interval_ms,
    }


class JavaCoordinator:
    """Asked as ours is, but not about session bounds: those are checked above the shard. The JVM must run."""

    def __init__(self, kernel: Kernel, settings: Settings, log: Sequence[Blob] = ()) -> None:
        self.shard = Shard(kernel, properties(settings), log)

    def handle(self, request: Request, answer: Answer) -> None:
        """Ask it; the answer gets our kind of reply."""
        match request:
            case Join():
                context = request_context("JOIN_GROUP", request.version, request.client_id)
                error = self._park("classicGroupJoin", context, _join(request), answer, _join_reply)
            case Sync():
                context = request_context("SYNC_GROUP", 5, "c")
                error = self._park("classicGroupSync", context, _sync(request), answer, _sync_reply)
            case Heartbeat():
                context = request_context("HEARTBEAT", 4, "c")
                error = self._call("classicGroupHeartbeat", context, _heartbeat(request), answer, _heartbeat_reply)
            case Leave():
                context = request_context("LEAVE_GROUP", request.version, "c")
                read = partial(_leave_reply, request.version)
                error = self._call("classicGroupLeave", context, _leave(request), answer, read)
            case Commit():
                context = request_context("OFFSET_COMMIT", request.version, "c")
                error = self._call("commitOffset", context, _commit(request), answer, _commit_reply)
        if error is not None:
            answer(_refused(request, KafkaError[error]))

    def _park(self, name: str, context: Any, request: Any, answer: Answer, read: Read) -> str | None:
        return self.shard.park(name, context, request, lambda value: answer(read(value)))

    def _call(self, name: str, context: Any, request: Any, answer: Answer, read: Read) -> str | None:
        return self.shard.call(name, context, request, lambda value: answer(read(value)))

    def committed(self) -> dict[TopicPartition, int]:
        """Committed offsets."""
        return {
            TopicPartition(str(topic.name()), int(partition.partitionIndex())): int(partition.committedOffset())
            for topic in self.shard.committed(GROUP).topics()
            for partition in topic.partitions()
        }

    def assignments(self) -> dict[str, bytes]:
        """Assignment bytes by member id."""
        group = self.shard.group(GROUP)
        return {} if group is None else {str(m.memberId()): bytes(m.assignment()) for m in group.allMembers()}

    def look(self) -> tuple[Any, ...] | None:
        """The group in Java's words, members in Java's order; None when it does not exist."""
        group = self.shard.group(GROUP)
        if group is None:
            return None
        return (
            str(group.stateAsString()),
            int(group.generationId()),
            text(group.protocolType().orElse(None)),
            text(group.protocolName().orElse(None)),
            text(group.leaderOrNull()),
            _ids(group.allMemberIds()),
            int(group.numAwaitingJoinResponse()),
            int(group.numPendingJoinMembers()),
            frozenset(_ids(group.allPendingSyncMembers())),
            bool(group.newMemberAdded()),
        )


def _ids(found: Any) -> tuple[str, ...]:
    return tuple(part for part in str(found)[1:-1].split(", ") if part)


@lru_cache(None)
def _message(name: str) -> Any:
    return jpype.JClass("org.apache.kafka.common.message." + name)


def _join(request: Join) -> Any:
    protocols = _message("JoinGroupRequestData$JoinGroupRequestProtocolCollection")()
    for name, metadata in request.protocols:
        made = _message("JoinGroupRequestData$JoinGroupRequestProtocol")()
        protocols.add(made.setName(name).setMetadata(java_bytes(metadata)))
    made = _message("JoinGroupRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    made.setGroupInstanceId(request.instance_id).setSessionTimeoutMs(request.session_timeout_ms)
    made.setRebalanceTimeoutMs(request.rebalance_timeout_ms).setProtocolType(request.protocol_type)
    return made.setProtocols(protocols)


def _sync(request: Sync) -> Any:
    made = _message("SyncGroupRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    made.setGenerationId(request.generation).setGroupInstanceId(request.instance_id)
    made.setProtocolType(request.protocol_type).setProtocolName(request.protocol)
    for member_id, assignment in request.assignments:
        part = _message("SyncGroupRequestData$SyncGroupRequestAssignment")()
        made.assignments().add(part.setMemberId(member_id).setAssignment(java_bytes(assignment)))
    return made


def _heartbeat(request: Heartbeat) -> Any:
    made = _message("HeartbeatRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    return made.setGenerationId(request.generation).setGroupInstanceId(request.instance_id)


def _leave(request: Leave) -> Any:
    made = _message("LeaveGroupRequestData")().setGroupId(GROUP)
    for leaver in request.members:
        identity = _message("LeaveGroupRequestData$MemberIdentity")()
        made.members().add(identity.setMemberId(leaver.member_id).setGroupInstanceId(leaver.instance_id))
    return made


def _commit(request: Commit) -> Any:
    made = _message("OffsetCommitRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    made.setGenerationIdOrMemberEpoch(request.generation).setGroupInstanceId(request.instance_id)
    for partition, offset in request.offsets:
        part = _message("OffsetCommitRequestData$OffsetCommitRequestPartition")().setPartitionIndex(partition.partition)
        part.setCommittedOffset(jpype.JLong(offset)).setCommittedMetadata("")
        topic = _message("OffsetCommitRequestData$OffsetCommitRequestTopic")().setName(partition.topic)
        topic.partitions().add(part)
        made.topics().add(topic)
    return made


def _join_reply(value: Any) -> JoinReply:
    members = tuple(
        JoinedMember(str(m.memberId()), text(m.groupInstanceId()), bytes(m.metadata())) for m in value.members()
    )
    return JoinReply(
        KafkaError(value.errorCode()),
        str(value.memberId()),
        int(value.generationId()),
        text(value.leader()) or None,
        text(value.protocolType()),
        text(value.protocolName()) or None,
        bool(value.skipAssignment()),
        members,
    )


def _heartbeat_reply(value: Any) -> HeartbeatReply:
    return HeartbeatReply(KafkaError(value.errorCode()))


def _sync_reply(value: Any) -> SyncReply:
    error, protocol = KafkaError(value.errorCode()), text(value.protocolName()) or None
    return SyncReply(error, bytes(value.assignment()), text(value.protocolType()), protocol)


def _leave_reply(version: int, value: Any) -> LeaveReply:
    data = jpype.JClass("org.apache.kafka.common.requests.LeaveGroupResponse")(value, jpype.JShort(version)).data()
    members = tuple(
        (Leaver(str(m.memberId()), text(m.groupInstanceId())), KafkaError(m.errorCode())) for m in data.members()
    )
    return LeaveReply(KafkaError(data.errorCode()), members)


def _commit_reply(value: Any) -> CommitReply:
    errors = {KafkaError(p.errorCode()) for topic in value.topics() for p in topic.partitions()}
    (error,) = errors
    return CommitReply(error)


def _refused(request: Request, error: KafkaError) -> Reply:
    if not isinstance(request, Leave) or error is not KafkaError.UNKNOWN_MEMBER_ID:
        return refusal(request, error)
    # GroupCoordinatorService: a group that does not exist has none of them.
    if request.version < 3:
        return LeaveReply(error)
    return LeaveReply(KafkaError.NONE, tuple((leaver, error) for leaver in request.members))
