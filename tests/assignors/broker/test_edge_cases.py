"""What the broker's assignors do with odd and bad groups; and the fast ways beside the exact ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from uuid import UUID

import pytest

from assignors.broker import server_range_arrays
from assignors.broker.group_spec import server_group
from assignors.broker.server_range import SERVER_RANGE, ranges, static_first
from assignors.broker.server_range_arrays import fast_ranges
from assignors.broker.share_simple import SHARE_SIMPLE
from assignors.broker.spec_arrays import UncleanError
from assignors.broker.uniform import containers
from assignors.broker.uniform.assignor import UNIFORM
from assignors.broker.uniform.equal import fast_plan
from assignors.broker.uniform.heterogeneous import Heterogeneous
from assignors.broker.uniform.homogeneous import Homogeneous
from assignors.broker.uniform.mixed import fast_mixed_plan
from assignors.javahash import CrowdedError
from assignors.model import Assignor, AssignorError, Group, Member, Topic, TopicPartition
from assignors.simulation.consumer.group import is_homogeneous
from assignors.simulation.consumer.records import RegexRecord
from tests.oracle.server_groups import chains

ALL: list[Assignor] = [UNIFORM, SERVER_RANGE, SHARE_SIMPLE]
EVERY = pytest.mark.parametrize("assignor", ALL, ids=lambda assignor: assignor.name)


def group(*members: Member, **topics: int) -> Group:
    """A group with topics of so many partitions."""
    return Group("group", members, {name: Topic(name, count) for name, count in topics.items()})


def owning(member_id: str, *partitions: int) -> Member:
    """A member that subscribes to `a` and owns some of it."""
    return Member(member_id, topics=("a",), owned=[TopicPartition("a", number) for number in partitions])


@EVERY
def test_a_group_without_members_gets_an_empty_plan(assignor: Assignor) -> None:
    assert assignor.assign(group(a=3)).by_member == {}


@EVERY
def test_members_that_subscribe_to_nothing_have_nothing(assignor: Assignor) -> None:
    plan = assignor.assign(group(Member("m0", owned=[TopicPartition("a", 0)]), Member("m1"), a=3))
    assert {member: list(owned) for member, owned in plan.by_member.items()} == {"m0": [], "m1": []}


@pytest.mark.parametrize(
    ("patterns", "homogeneous"),
    [
        ((None, None, None), True),
        (("orders", "orders", "orders"), True),
        ((None, None, "orders"), False),
        (("orders", "orders", "order."), False),
    ],
)
def test_members_read_alike_when_all_name_the_topics_or_all_have_one_pattern(
    patterns: tuple[str | None, ...], homogeneous: bool
) -> None:
    members = [Member(f"m{at}", topics=("orders",), pattern=pattern) for at, pattern in enumerate(patterns)]
    regexes = Counter(pattern for pattern in patterns if pattern)
    by_name = Counter("orders" for pattern in patterns if not pattern)
    resolved = {pattern: RegexRecord(pattern, ("orders",), 1, 0) for pattern in regexes}
    assert server_group(group(*members, orders=7)).homogeneous is homogeneous
    assert is_homogeneous(regexes, by_name, resolved, 3) is homogeneous  # as the simulated coordinator counts


def test_a_member_that_subscribes_by_pattern_makes_the_group_heterogeneous() -> None:
    names = [Member(f"m{at}", topics=("orders",)) for at in range(2)]
    made = group(*names, Member("m2", topics=("orders",), pattern="orders"), orders=7)
    plan = UNIFORM.assign(made).by_member
    numbers = {member: [tp.partition for tp in owned] for member, owned in plan.items()}
    assert numbers == {"m0": [0, 3, 6], "m1": [1, 4], "m2": [2, 5]}


@EVERY
def test_a_topic_that_does_not_exist_is_left_out(assignor: Assignor) -> None:
    plan = assignor.assign(group(Member("m0", topics=("gone", "a")), a=1))
    assert list(plan.by_member["m0"]) == [TopicPartition("a", 0)]


@EVERY
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (group(owning("m0"), owning("m0"), a=1), "Member id 'm0' appears twice"),
        (group(owning("m0"), a=-1), "Topic 'a' has -1 partitions"),
        (group(owning("m0"), a=10**12), "more than the 100000000"),
        (Group("g", (owning("m0"),), {"a": Topic("a", 1, topic_id="nonsense")}), "'nonsense' for a topic id"),
        (Group("g", (owning("m0"),), {"a": Topic("a", 1, topic_id="é" * 22)}), "for a topic id"),
    ],
    ids=["two members of one id", "negative partitions", "a billion partitions", "no topic id", "not base64"],
)
def test_a_bad_group_is_refused_with_a_sentence(assignor: Assignor, bad: Group, message: str) -> None:
    with pytest.raises(AssignorError, match=message):
        assignor.assign(bad)


@EVERY
def test_two_topics_of_one_id_are_refused(assignor: Assignor) -> None:
    topics = {name: Topic(name, 1, topic_id="q6lCBgVqOKRKTHAPNzudtg") for name in ("a", "b")}
    with pytest.raises(AssignorError, match="appears twice"):
        assignor.assign(Group("g", (owning("m0"),), topics))


def test_uniform_refuses_a_partition_that_is_gone_among_equal_subscriptions() -> None:
    with pytest.raises(AssignorError, match="Partitions were left unassigned"):
        UNIFORM.assign(group(owning("m0", 7), owning("m1"), a=2))


def test_uniform_refuses_a_partition_that_is_gone_among_different_subscriptions() -> None:
    with pytest.raises(AssignorError, match="a-7, but the topic has 2 partitions"):
        UNIFORM.assign(group(owning("m0", 7), Member("m1", topics=("a", "b")), a=2, b=1))


def test_share_simple_refuses_when_kafkas_iterator_runs_dry() -> None:
    with pytest.raises(AssignorError, match="NoSuchElementException"):
        SHARE_SIMPLE.assign(group(owning("m0"), owning("m1", 2), a=1))


def test_static_members_come_first_in_ranges() -> None:
    members = (Member("a", topics=("a",)), Member("z", "static", topics=("a",)))
    plan = SERVER_RANGE.assign(group(*members, a=3)).by_member
    assert list(plan["z"]) == [TopicPartition("a", 0), TopicPartition("a", 1)]
    assert list(plan["a"]) == [TopicPartition("a", 2)]


def test_a_member_that_keeps_what_it_has_keeps_the_very_list() -> None:
    made = group(*(owning(f"m{number}") for number in range(4)), a=8)
    plan = UNIFORM.assign(made).by_member
    members = tuple(replace(member, owned=plan[member.member_id]) for member in made.members)
    again = UNIFORM.assign(replace(made, members=members)).by_member
    assert all(again[member] is owned for member, owned in plan.items())


@pytest.mark.parametrize(("seed", "block"), [(11, 1 << 17), (12, 4)])
def test_fast_ways_equal_the_exact_ones(seed: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "_LARGEST_BLOCK", block)
    monkeypatch.setattr(server_range_arrays, "_BLOCK", block)
    compared = {"uniform": 0, "mixed": 0, "range": 0}
    for chain in islice(chains(seed, patterns=0.2), 300):
        for _ in range(chain.steps):
            seen = server_group(chain.group)
            uniform, exact = (fast_plan, Homogeneous) if seen.homogeneous else (fast_mixed_plan, Heterogeneous)
            try:
                ours = uniform(seen)
                theirs = exact(seen).plan()
                members = static_first(seen.members)
                in_ranges = fast_ranges(seen, members), ranges(seen, members)
            except (CrowdedError, UncleanError):
                break
            assert list(ours.by_member.items()) == list(theirs.by_member.items())
            assert list(in_ranges[0].by_member.items()) == list(in_ranges[1].by_member.items())
            compared["uniform" if seen.homogeneous else "mixed"] += 1
            compared["range"] += 1
            chain.go_on(ours)
    assert min(compared.values()) > 100


@pytest.mark.parametrize(
    "others", [("a", "b", "c"), ("a", "c")], ids=["equal subscriptions", "different subscriptions"]
)
def test_a_plan_from_before_the_topics_were_recreated_is_read_again(others: tuple[str, ...]) -> None:
    """Java's maps have the ids as keys: with new ids, what a member owns is listed in another order."""
    subscriptions = {"m0": ("a", "b", "c"), "m1": others, "m2": others, "m3": others}

    def planned(owned: Mapping[str, Sequence[TopicPartition]], seed: int) -> dict[str, Sequence[TopicPartition]]:
        ids = Random(seed)
        topics = {name: Topic(name, 20, topic_id=str(UUID(bytes=ids.randbytes(16)))) for name in "abc"}
        members = tuple(Member(m, topics=subscriptions[m], owned=owned[m]) for m in owned)
        return dict(UNIFORM.assign(Group("group", members, topics)).by_member)

    first = planned({"m0": (), "m1": ()}, seed=1)
    known = planned({**first, "m2": ()}, seed=1)
    for seed in range(1, 20):
        again = planned({**known, "m3": ()}, seed)
        copied = {member: list(owned) for member, owned in known.items()}
        expected = planned({**copied, "m3": ()}, seed)
        assert {m: list(owned) for m, owned in again.items()} == {m: list(owned) for m, owned in expected.items()}
