"""The client's four assignors beside Kafka's own classes: equal lists, in equal order, and equal refusals."""

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assignors.model import Group, Member, Topic, TopicPartition
from tests.oracle import client_cases
from tests.oracle.client_assignors import LIVELOCK, NAMES, ClientOracle, JavaAssignors, compare, ours
from tests.oracle.tally import run
from tests.support.java import start_jvm
from tests.support.random_examples import random_examples

SEED = 20_261_121
CASES = 12_000


@pytest.fixture(scope="module")
def java(java_classes: Callable[[str], Any]) -> JavaAssignors:
    return JavaAssignors()


def test_random_groups_are_planned_as_java_plans_them(java: JavaAssignors) -> None:
    tally = run(ClientOracle(), SEED, cases=CASES)
    assert tally.cases.total() >= CASES
    assert tally.refused > 50  # the dirt is there
    assert tally.differences[:1] == []


def test_the_seed_alone_decides_what_is_tried(java: JavaAssignors) -> None:
    first, second = (client_cases.draw(random.Random("7/3")) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("name", NAMES)
def test_buckets_that_turn_into_trees_change_the_order_as_in_java(name: str, java: JavaAssignors) -> None:
    # 5 places of "Aa" or "BB" make 32 ids of one hash code.
    ids = ["".join(("Aa", "BB")[number >> place & 1] for place in range(5)) for number in range(32)]
    random.Random(3).shuffle(ids)
    topics = {id_ + "-t": Topic(id_ + "-t", 5) for id_ in ids[:20]}
    pool = [TopicPartition(name, number) for name in topics for number in range(5)]
    members = tuple(
        Member(id_, topics=tuple(topics), owned=tuple(pool[at::11]) if at < 11 else (), generation=1)
        for at, id_ in enumerate(ids)
    )
    mine, theirs = compare(java, name, Group("g", members, topics))
    assert mine == theirs


def test_moves_within_a_topic_come_back_in_the_order_of_a_tree(java: JavaAssignors) -> None:
    # Partitions 16 apart share a bucket of the HashSets that remember moves.
    topics = {"t": Topic("t", 600), "u": Topic("u", 40)}
    both = [Member(f"m{at}", topics=("t", "u"), generation=5) for at in range(5)]
    some = [Member(f"n{at}", topics=("t",), generation=5) for at in range(4)]
    for seed in range(12):
        r = random.Random(seed)
        strided = [TopicPartition("t", number) for number in range(r.randrange(16), 600, 16)]
        rest = [TopicPartition("t", number) for number in range(600) if TopicPartition("t", number) not in strided]
        r.shuffle(rest)
        owned = [tuple(rest[at :: len(some) + 2]) for at in range(len(some))]
        members = [replace(m, owned=own) for m, own in zip(some, owned, strict=True)]
        old = replace(both[0], owned=tuple(strided), generation=4)
        group = Group("g", (old, replace(both[1], owned=tuple(strided)), *both[2:], *members), topics)
        mine, theirs = compare(java, "sticky", group)
        assert mine == theirs


@pytest.mark.parametrize("name", NAMES)
def test_a_group_without_members(name: str, java: JavaAssignors) -> None:
    mine, theirs = compare(java, name, Group("g", (), {"t": Topic("t", 3)}))
    assert mine == theirs
    assert (
        mine
        == {
            "range": {},
            "roundrobin": "IllegalArgumentException",
            "sticky": "ArithmeticException",
            "cooperative-sticky": "ArithmeticException",
        }[name]
    )


@pytest.mark.parametrize("name", NAMES)
def test_topics_that_do_not_exist_or_have_no_partitions(name: str, java: JavaAssignors) -> None:
    members = tuple(Member(id_, topics=("t", "gone", "empty")) for id_ in ("a", "b"))
    mine, theirs = compare(java, name, Group("g", members, {"t": Topic("t", 1), "empty": Topic("empty", 0)}))
    assert mine == theirs == {"a": [TopicPartition("t", 0)], "b": []}


_TOPICS = st.dictionaries(st.sampled_from(["t", "u", "AaBB", "BBAa"]), st.integers(0, 7), min_size=1, max_size=4)
_RACK = st.sampled_from([None, "", "a", "b"])


@st.composite
def _groups(pick: st.DrawFn) -> Group:
    counts = pick(_TOPICS)
    names = st.sampled_from(sorted(counts))
    partition = st.builds(TopicPartition, names, st.integers(-1, 8))
    replicas = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True)
    topics = {
        name: Topic(name, count, pick(st.none() | st.lists(replicas, min_size=count, max_size=count)))
        for name, count in counts.items()
    }
    ids = pick(
        st.lists(st.sampled_from([f"c{at}" for at in range(12)] + ["AaAa", "BBBB", "AaBB"]), unique=True, min_size=1)
    )
    members = tuple(
        Member(
            id_,
            rack=pick(_RACK),
            topics=tuple(pick(st.lists(names, max_size=4))),
            owned=tuple(pick(st.lists(partition, max_size=6))),
            generation=pick(st.none() | st.integers(0, 3)),
            user_data=pick(st.none() | st.none() | st.binary(max_size=20)),
        )
        for id_ in ids
    )
    return Group("g", members, topics)


@random_examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(group=_groups())
def test_any_small_group_is_planned_as_java_plans_it(java: JavaAssignors, group: Group) -> None:
    for name in NAMES:
        mine, theirs = compare(java, name, group)
        assert mine == theirs, name


@pytest.mark.parametrize("family", ["bucket5", "lastone", "overlap", "mod4"])
def test_families_of_mixed_subscriptions_when_one_leaves_and_one_joins(family: str, java: JavaAssignors) -> None:
    group = client_cases.mixed_family(family, topics=8, partitions=50, members=24)
    fresh = ours("cooperative-sticky", group)
    assert isinstance(fresh, dict)
    assert fresh == java.assign("cooperative-sticky", group)
    settled = [replace(m, owned=tuple(fresh[m.member_id]), generation=1) for m in group.members]
    newcomer = Member("newcomer", topics=group.members[0].topics)
    after = replace(group, members=(*settled[1:], newcomer))
    for name in ("sticky", "cooperative-sticky"):
        mine, theirs = compare(java, name, after)
        assert mine == theirs


@pytest.mark.process
def test_a_group_from_which_java_never_returns_is_refused() -> None:
    members = (
        _member("c0", "t2 t0", "t2-0 t0-1 t2-1 t2-5", 2),
        _member("c1", "t0", "", 1),
        _member("c2", "t2 t1", "t2-4 t2-6 t2-3", 3),
        _member("c3", "t2", "t2-6 t0-3", 2),
    )
    group = Group("g", members, {"t0": Topic("t0", 4), "t1": Topic("t1", 5), "t2": Topic("t2", 7)})
    assert ours("sticky", group) == LIVELOCK
    # Only a process of its own can be stopped. Without the last member's claims it answers, and soon.
    harmless = replace(group, members=(*members[:3], replace(members[3], owned=())))
    with _java_plans(harmless, group) as answers:
        assert answers.poll(200)
        assert answers.recv() == ours("sticky", harmless)
        assert answers.poll(6) is False


def _member(member_id: str, topics: str, owned: str, generation: int) -> Member:
    pairs = (part.rsplit("-", 1) for part in owned.split())
    mine = tuple(TopicPartition(topic, int(number)) for topic, number in pairs)
    return Member(member_id, topics=tuple(topics.split()), owned=mine, generation=generation)


@contextmanager
def _java_plans(*groups: Group) -> Iterator[Connection]:
    """Where Java's plans arrive, one after the other, from a process that is ended at the end."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_ask_java, args=(sender, groups))
    process.start()
    try:
        yield receiver
    finally:
        process.kill()
        process.join()
        receiver.close()
        sender.close()


def _ask_java(sender: Connection, groups: Iterable[Group]) -> None:
    start_jvm()
    java = JavaAssignors()
    for group in groups:
        sender.send(java.assign("sticky", group))
