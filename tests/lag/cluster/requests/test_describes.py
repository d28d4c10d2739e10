"""The messages that we add to kafka-python, as Kafka's own classes write them: no field is missed or misread."""

import json
import random
from collections.abc import Sequence
from typing import Any

import jpype
import pytest

from assignors.model import TopicPartition as TP
from lag.cluster.requests import messages
from lag.cluster.requests.describe import describe_groups
from lag.cluster.requests.poll_client import PollClient
from lag.cluster.requests.responses import GroupDescription
from lag.model import GroupType, Member
from tests.oracle import records
from tests.support.event_loop import run_beside
from tests.support.java import start_jvm

NAMES = [
    f"{api}{kind}"
    for api in ("ConsumerGroupDescribe", "ShareGroupDescribe", "StreamsGroupDescribe", "DescribeShareGroupOffsets")
    for kind in ("Request", "Response")
]
MESSAGES_EACH = 20


def java(name: str) -> Any:
    start_jvm()
    return jpype.JClass(name)


def in_bytes(message: Any, version: int) -> bytes:
    """As it goes over the wire, without header."""
    util = java("org.apache.kafka.common.protocol.MessageUtil")
    return bytes(util.toVersionPrefixedBytes(jpype.JShort(version), message))[2:]


@pytest.mark.parametrize("name", NAMES)
def test_message_of_java_is_read_and_written_again_byte_for_byte(name: str) -> None:
    theirs, ours = java(f"org.apache.kafka.common.message.{name}Data"), getattr(messages, name)
    assert int(theirs.HIGHEST_SUPPORTED_VERSION) == ours.max_version
    for version in range(int(theirs.LOWEST_SUPPORTED_VERSION), ours.max_version + 1):
        for seed in range(MESSAGES_EACH):
            written = in_bytes(records.message(random.Random(seed), theirs.class_, version), version)
            assert bytes(ours.decode(written, version=version).encode()) == written, (version, seed)


# -- streams groups ----------------------------------------------------------------------------------------------------


def tasks(subtopology: str, *partitions: int) -> dict[str, object]:
    return {"subtopologyId": subtopology, "partitions": partitions}


def topic(name: str) -> dict[str, object]:
    return {"name": name, "partitions": 3, "replicationFactor": 1, "topicConfigs": []}


def holds(active: Sequence[object], standby: Sequence[object] = (), warmup: Sequence[object] = ()) -> dict[str, object]:
    return {"activeTasks": active, "standbyTasks": standby, "warmupTasks": warmup}


TOPOLOGY = {
    "epoch": 2,
    "subtopologies": [
        {
            "subtopologyId": "0",
            "sourceTopics": ["orders", "refunds"],
            "repartitionSinkTopics": ["by-customer"],
            "stateChangelogTopics": [topic("store-changelog")],
            "repartitionSourceTopics": [],
        },
        {
            "subtopologyId": "1",
            "sourceTopics": ["customers"],
            "repartitionSinkTopics": [],
            "stateChangelogTopics": [],
            "repartitionSourceTopics": [topic("by-customer")],
        },
    ],
}
MEMBER = {
    "memberId": "m1",
    "memberEpoch": 8,
    "instanceId": "static-1",
    "rackId": "r1",
    "clientId": "app-thread-1",
    "clientHost": "/10.0.0.1",
    "topologyEpoch": 2,
    "processId": "p1",
    "userEndpoint": {"host": "10.0.0.1", "port": 8080},
    "clientTags": [{"key": "zone", "value": "a"}],
    "taskOffsets": [{"subtopologyId": "0", "partition": 1, "offset": 41}],
    "taskEndOffsets": [{"subtopologyId": "0", "partition": 1, "offset": 42}],
    "assignment": holds([tasks("1", 2), tasks("0", 1, 0)], standby=[tasks("0", 2)], warmup=[tasks("1", 0)]),
    "targetAssignment": holds([tasks("1", 2)]),
    "isClassic": False,
}
BARE = MEMBER | {
    "memberId": "m2",
    "instanceId": None,
    "rackId": None,
    "userEndpoint": None,
    "assignment": holds([]),
    "targetAssignment": holds([tasks("0", 0, 1)]),
}


def described(topology: object) -> GroupDescription:
    """What becomes of a listed streams group when its coordinator, as Java does, describes it so."""
    group = {
        "errorCode": 0,
        "errorMessage": None,
        "groupId": "shop",
        "groupState": "Reconciling",
        "groupEpoch": 9,
        "assignmentEpoch": 8,
        "topology": topology,
        "members": [MEMBER, BARE],
        "authorizedOperations": -2147483648,
    }
    answer = as_java_writes({"throttleTimeMs": 0, "groups": [group]})
    found = GroupDescription("shop", GroupType.STREAMS, "Unknown", coordinator=1)
    run_beside(lambda: describe_groups(Answering(answer), 1, [found]))
    return found


def as_java_writes(document: object) -> bytes:
    name = "org.apache.kafka.common.message.StreamsGroupDescribeResponseData"
    tree = java("com.fasterxml.jackson.databind.ObjectMapper")().readTree(json.dumps(document))
    return in_bytes(java(f"{name}JsonConverter").read(tree, jpype.JShort(0)), 0)


class Answering(PollClient):
    """Whatever is asked, the answer is this."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def send(self, node: int, request: messages.Message) -> messages.Message:
        assert (node, request.name, list(request.group_ids)) == (1, "StreamsGroupDescribeRequest", ["shop"])
        return messages.StreamsGroupDescribeResponse.decode(self._answer, version=0)


def test_streams_group_is_read_as_its_coordinator_describes_it() -> None:
    group = described(TOPOLOGY)
    topics = ("by-customer", "customers", "orders", "refunds")
    assert (group.state, group.epoch, group.assignment_epoch, group.assignor) == ("Reconciling", 9, 8, None)
    assert group.problems == []
    assert group.members == (
        Member(
            "m1", "app-thread-1", "10.0.0.1", instance_id="static-1", rack="r1", epoch=8, topics=topics,
            assigned=(
                TP("by-customer", 2), TP("customers", 2), TP("orders", 0), TP("orders", 1), TP("refunds", 0),
                TP("refunds", 1),
            ),
            target=(TP("by-customer", 2), TP("customers", 2)),
        ),
        Member(
            "m2", "app-thread-1", "10.0.0.1", epoch=8, topics=topics, assigned=(),
            target=(TP("orders", 0), TP("orders", 1), TP("refunds", 0), TP("refunds", 1)),
        ),
    )  # fmt: skip


@pytest.mark.parametrize("topology", [None, {"epoch": 0, "subtopologies": None}])
def test_streams_group_whose_topology_is_not_known_has_members_that_own_nothing(topology: object) -> None:
    group = described(topology)
    assert [(m.member_id, m.epoch, m.topics, m.assigned, m.target) for m in group.members] == [
        ("m1", 8, (), (), ()),
        ("m2", 8, (), (), ()),
    ]
