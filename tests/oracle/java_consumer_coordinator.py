"""Kafka's KIP-848 coordinator behind our requests and replies: what `ConsumerCoordinator` is compared with."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, cast

import jpype

from assignors.model import TopicPartition
from assignors.simulation.classic.messages import Commit, CommitReply
from assignors.simulation.consumer import Settings, TopicIdPartition, Topics
from assignors.simulation.consumer.messages import Answer, Heartbeat, HeartbeatReply, Request, refusal
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Kernel
from assignors.topic_ids import topic_uuid
from tests.oracle.coordinator_shard import (
    EPOCH_MS,
    Blob,
    Shard,
    array_list,
    configs,
    error_name,
    java,
    request_context,
    text,
)
from tests.oracle.java_coordinator import GROUP
from tests.oracle.java_topics import JavaTopics
from tests.oracle.server_assignors import java_integers, java_uuid

_SERVICE = "org.apache.kafka.coordinator.group.GroupCoordinatorService"
_MEMBER = re.compile(
    r"memberId='(?P<id>.*?)', memberEpoch=(?P<epoch>-?\d+), previousMemberEpoch=(?P<previous>-?\d+), "
    r"state='(?P<state>\w+)', instanceId='(?P<instance>.*?)', rackId='null', rebalanceTimeoutMs=(?P<timeout>-?\d+), "
    r"clientId='(?P<client>.*?)', clientHost='.*?', subscribedTopicNames=\[(?P<topics>.*?)\], "
    r"subscribedTopicRegex='(?P<regex>.*?)', serverAssignorName='(?P<assignor>.*?)', "
    r"assignedPartitions=\{(?P<assigned>.*?)\}, partitionsPendingRevocation=\{(?P<pending>.*?)\}, "
    r"classicMemberMetadata='null'"
)
_TOPIC = re.compile(r"([\w-]{22})=[\[{](.*?)[\]}]")
_TARGET = re.compile(r"([^{}, =]+)=Assignment\(partitions=\{(.*?)\}\)")
_REGEX = re.compile(r"RegularExpressionMetadata\(topics=\[(.*?)\], version=(\d+), timestamp=(\d+)\)")


def properties(settings: Settings) -> dict[str, int | str]:
    """The same settings under Kafka's names."""
    return {
        "group.consumer.session.timeout.ms": settings.session_timeout_ms,
        "group.consumer.heartbeat.interval.ms": settings.heartbeat_interval_ms,
        "group.consumer.assignment.interval.ms": settings.assignment_interval_ms,
        "group.consumer.max.size": settings.max_size,
        "group.consumer.assignors": ",".join(settings.assignors),
        "group.consumer.regex.refresh.interval.ms": settings.regex_refresh_interval_ms,
        "offsets.retention.minutes": settings.offsets_retention_ms // 60_000,
        "offsets.retention.check.interval.ms": settings.offsets_retention_check_interval_ms,
    }


class JavaConsumerCoordinator:
    """Asked as ours is. The JVM must run."""

    def __init__(self, kernel: Kernel, settings: Settings, topics: Topics, log: Sequence[Blob] = ()) -> None:
        self._topics = topics
        self._images = JavaTopics(topics)
        self._properties = tuple(sorted(properties(settings).items()))
        self.shard = Shard(kernel, dict(self._properties), log, self._images.image)
        self._looked: dict[str, tuple[int, Any]] = {}

    def see(self, topics: Topics) -> None:
        """The cluster's topics are these now."""
        self._topics = topics
        delta, deleted = self._images.change(topics)
        self.shard.see(delta, self._images.image, deleted)

    def handle(self, request: Request, answer: Answer) -> None:
        """Ask it; the answer gets our kind of reply."""
        if isinstance(request, Commit):
            context = request_context("OFFSET_COMMIT", request.version, "c")
            made = _commit(request, self._topics)
            error = self.shard.call("commitOffset", context, made, lambda value: answer(_commit_reply(value)))
        else:
            context = request_context("CONSUMER_GROUP_HEARTBEAT", request.version, request.client_id)
            made = _heartbeat(request)
            error = self._invalid(made, request.version) or self.shard.call(
                "consumerGroupHeartbeat", context, made, lambda value: answer(_heartbeat_reply(value))
            )
        if error is not None:
            answer(refusal(request, KafkaError[error]))

    def _invalid(self, request: Any, version: int) -> str | None:
        """What GroupCoordinatorService refuses before it asks the shard."""
        service, check = _service(self._properties)
        try:
            check.invoke(service, [request, java("java.lang.Integer").valueOf(version)])
        except jpype.JException as error:
            return error_name(error.getCause())
        return None

    def committed(self) -> dict[TopicPartition, int]:
        """Committed offsets."""
        return {
            TopicPartition(str(topic.name()), int(partition.partitionIndex())): int(partition.committedOffset())
            for topic in self.shard.committed(GROUP).topics()
            for partition in topic.partitions()
        }

    def look(self) -> tuple[Any, ...] | None:
        """The group in Java's words, members in Java's order; None when it is not a KIP-848 one."""
        return cast(tuple[Any, ...] | None, self._since_last_record("look", self._look))

    def look_closer(self) -> tuple[Any, ...]:
        """The target and the resolved expressions of that group, and the committed offsets."""
        return cast(tuple[Any, ...], self._since_last_record("look closer", self._look_closer))

    def _since_last_record(self, what: str, look: Callable[[], Any]) -> Any:
        """Most steps write no record, and looking at Java takes long."""
        if self._looked.get(what, (-1, None))[0] != self.shard.replayed:
            self._looked[what] = (self.shard.replayed, look())
        return self._looked[what][1]

    def _look(self) -> tuple[Any, ...] | None:
        group = self.shard.group(GROUP)
        if group is None or str(group.type()) != "consumer":
            return None
        at_ms = int(group.assignmentTimestamp())
        return (
            str(group.stateAsString()),
            int(group.groupEpoch()),
            int(group.assignmentEpoch()),
            at_ms - EPOCH_MS if at_ms else None,
            str(group.subscriptionType()) == "Homogeneous",
            _members(_printed(group.members())),
        )

    def _look_closer(self) -> tuple[Any, ...]:
        group = self.shard.group(GROUP)
        if group is None or str(group.type()) != "consumer":
            return {}, frozenset(), self.committed()
        targets = _targets(_printed(group.targetAssignment()))
        return targets, _regexes(_printed(group.resolvedRegularExpressions())), self.committed()


def _printed(made: Any) -> str:
    return str(java("java.util.LinkedHashMap")(made).toString())


@lru_cache(1000)
def _members(printed: str) -> tuple[tuple[Any, ...], ...]:
    return tuple(
        (
            found["id"],
            None if found["instance"] == "null" else found["instance"],
            found["client"],
            int(found["timeout"]),
            frozenset(_parts(found["topics"])),
            found["regex"],
            None if found["assignor"] == "null" else found["assignor"],
            int(found["epoch"]),
            int(found["previous"]),
            found["state"],
            _held(found["assigned"]),
            _held(found["pending"]),
        )
        for found in _MEMBER.finditer(printed)
    )


def _parts(listed: str) -> list[str]:
    return listed.split(", ") if listed else []


def _held(printed: str) -> dict[TopicIdPartition, int]:
    pairs = [(uuid, part.split("=")) for uuid, inside in _TOPIC.findall(printed + "}") for part in _parts(inside)]
    return {TopicIdPartition(uuid, int(number)): int(epoch) for uuid, (number, epoch) in pairs}


@lru_cache(1000)
def _targets(printed: str) -> dict[str, frozenset[TopicIdPartition]]:
    return {
        member_id: frozenset(
            TopicIdPartition(uuid, int(number)) for uuid, inside in _TOPIC.findall(topics) for number in _parts(inside)
        )
        for member_id, topics in _TARGET.findall(printed)
    }


@lru_cache(1000)
def _regexes(printed: str) -> frozenset[tuple[frozenset[str], int, int]]:
    return frozenset(
        (frozenset(_parts(topics)), int(version), int(at_ms) - EPOCH_MS)
        for topics, version, at_ms in _REGEX.findall(printed)
    )


@lru_cache(64)
def _service(given: tuple[tuple[str, int | str], ...]) -> tuple[Any, Any]:
    """A bare service, for its private check of requests."""
    config, manager = configs(given)
    kind = java(_SERVICE).class_
    constructor = next(made for made in kind.getDeclaredConstructors() if made.getParameterCount() == 8)
    constructor.setAccessible(True)
    service = constructor.newInstance([java("utils.LogContext")(), config, None, None, manager, None, None, None])
    name = "throwIfConsumerGroupHeartbeatRequestIsInvalid"
    check = next(method for method in kind.getDeclaredMethods() if method.getName() == name)
    check.setAccessible(True)
    return service, check


@lru_cache(None)
def _message(name: str) -> Any:
    return jpype.JClass("org.apache.kafka.common.message." + name)


@lru_cache(1000)
def _java_id(uuid_text: str) -> Any:
    return java("Uuid").fromString(uuid_text)


def _heartbeat(request: Heartbeat) -> Any:
    made = _message("ConsumerGroupHeartbeatRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    made.setMemberEpoch(request.epoch).setInstanceId(request.instance_id).setSubscribedTopicRegex(request.regex)
    made.setRebalanceTimeoutMs(-1 if request.rebalance_timeout_ms is None else request.rebalance_timeout_ms)
    made.setSubscribedTopicNames(None if request.topics is None else _strings(request.topics))
    made.setServerAssignor(request.assignor)
    return made.setTopicPartitions(None if request.owned is None else _owned(request.owned))


def _strings(names: Sequence[str]) -> Any:
    return array_list([java("java.lang.String")(name) for name in names])


def _owned(owned: frozenset[TopicIdPartition]) -> Any:
    by_topic: dict[str, list[int]] = {}
    for uuid, number in sorted(owned):
        by_topic.setdefault(uuid, []).append(number)
    kind = _message("ConsumerGroupHeartbeatRequestData$TopicPartitions")
    return array_list(
        [kind().setTopicId(_java_id(uuid)).setPartitions(java_integers(numbers)) for uuid, numbers in by_topic.items()]
    )


def _commit(request: Commit, topics: Topics) -> Any:
    made = _message("OffsetCommitRequestData")().setGroupId(GROUP).setMemberId(request.member_id)
    made.setGenerationIdOrMemberEpoch(request.generation).setGroupInstanceId(request.instance_id)
    for partition, offset in request.offsets:
        part = _message("OffsetCommitRequestData$OffsetCommitRequestPartition")().setPartitionIndex(partition.partition)
        part.setCommittedOffset(jpype.JLong(offset)).setCommittedMetadata("")
        topic = _message("OffsetCommitRequestData$OffsetCommitRequestTopic")().setName(partition.topic)
        if partition.topic in topics.by_name:  # as KafkaApis does
            topic.setTopicId(java_uuid(topic_uuid(topics.by_name[partition.topic])))
        topic.partitions().add(part)
        made.topics().add(topic)
    return made


def _commit_reply(value: Any) -> CommitReply:
    (error,) = {KafkaError(p.errorCode()) for topic in value.topics() for p in topic.partitions()}
    return CommitReply(error)


def _heartbeat_reply(value: Any) -> HeartbeatReply:
    given = value.assignment()
    assignment = None if given is None else frozenset(_partitions(given))
    error, member_id = KafkaError(value.errorCode()), text(value.memberId()) or ""
    return HeartbeatReply(error, member_id, int(value.memberEpoch()), int(value.heartbeatIntervalMs()), assignment)


def _partitions(given: Any) -> list[TopicIdPartition]:
    return [
        TopicIdPartition(str(topic.topicId()), int(number))
        for topic in given.topicPartitions()
        for number in topic.partitions()
    ]
