"""Plans that Kafka 4.3.1 made, on JDK 17 and on JDK 21 and 25; no Java takes part here."""

import json
from pathlib import Path
from typing import Any

import pytest

from assignors.broker.server_range import ServerRangeAssignor
from assignors.broker.share_simple import ShareSimpleAssignor
from assignors.broker.uniform.assignor import UniformAssignor
from assignors.javahash import UUIDS, JavaHashSet
from assignors.model import Assignor, Group, Member, Topic, TopicPartition
from assignors.topic_ids import kafka_text, topic_uuid

FIXTURE = Path(__file__).parents[2] / "fixtures" / "server_assignors.jsonl"
CASES = [json.loads(line) for line in FIXTURE.read_text().splitlines()]
LETTERS = "abcdefghijklmno"  # as names, Java's sets iterate over them in this order


def names_of(case: dict[str, Any]) -> dict[str, str]:
    """A letter for each topic id, so that the set of names iterates as the recorded set of ids did."""
    ids = [topic_uuid(Topic("", 0, topic_id=topic_id)) for topic_id, _ in case["topics"]]
    order = JavaHashSet(UUIDS)
    for listed in [member["subscribed"] for member in case["members"]]:
        for topic_id in listed:
            order.add(topic_uuid(Topic("", 0, topic_id=topic_id)))
    ranked = [*order, *(uuid for uuid in ids if uuid not in order)]
    return dict(zip(map(kafka_text, ranked), LETTERS, strict=False))


def group_of(case: dict[str, Any]) -> Group:
    """The group of a recorded case; its topics are named by letters."""
    names = names_of(case)
    topics = {names[topic_id]: Topic(names[topic_id], count, topic_id=topic_id) for topic_id, count in case["topics"]}
    members = (
        Member(
            member["id"],
            member.get("instance"),
            topics=tuple(names[topic_id] for topic_id in member["subscribed"]),
            owned=[TopicPartition(names.get(topic, topic), p) for topic, listed in member["owned"] for p in listed],
        )
        for member in case["members"]
    )
    return Group("group", tuple(members), topics)


def plan_of(case: dict[str, Any], result: str) -> dict[str, list[TopicPartition]]:
    """What Kafka's maps and sets listed, in order."""
    names = names_of(case)
    recorded = {
        member: [TopicPartition(names[topic], p) for topic, listed in topics for p in listed]
        for member, topics in case[result]
    }
    return recorded or {member["id"]: [] for member in case["members"]}


def assignor_of(case: dict[str, Any], jdk: int) -> Assignor:
    """The assignor that made the case, on that JDK."""
    makers = (UniformAssignor, ServerRangeAssignor, ShareSimpleAssignor)
    return next(made for maker in makers if (made := maker(jdk)).name == case["assignor"])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_recorded_plan_comes_out_again(case: dict[str, Any]) -> None:
    plan = assignor_of(case, 21).assign(group_of(case)).by_member
    assert [(member, list(owned)) for member, owned in plan.items()] == list(plan_of(case, "result").items())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_plan_recorded_on_jdk_17_comes_out_again(case: dict[str, Any]) -> None:
    result = "result_jdk17" if "result_jdk17" in case else "result"
    plan = assignor_of(case, 17).assign(group_of(case)).by_member
    assert [(member, list(owned)) for member, owned in plan.items()] == list(plan_of(case, result).items())


def test_the_recorded_cases_hold_two_that_depend_on_the_jdk() -> None:
    assert [case["name"] for case in CASES if "result_jdk17" in case] == ["uh-set-order-leak", "uh-12-topics"]
