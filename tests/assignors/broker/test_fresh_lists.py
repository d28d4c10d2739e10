"""Mixed subscriptions, nothing owned: most lists at once, the same as Kafka's algorithm gives step by step."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from assignors.broker.group_spec import server_group
from assignors.broker.uniform.assignor import UNIFORM
from assignors.broker.uniform.fresh import Fresh
from assignors.broker.uniform.heterogeneous import Heterogeneous
from assignors.broker.uniform.mixed import fast_mixed_plan
from assignors.layout import Codes
from assignors.model import Assignment, Group, Member, Topic

Subscriptions = Callable[[Sequence[str], int, int], tuple[str, ...]]


def buckets(names: Sequence[str], number: int, members: int) -> tuple[str, ...]:
    return tuple(names[number % 2 :: 2])


def last_has_one(names: Sequence[str], number: int, members: int) -> tuple[str, ...]:
    return tuple(names[:1]) if number == members - 1 else tuple(names)


def of_topics(subscriptions: Subscriptions, topics: Sequence[Topic], members: int) -> Group:
    names = [topic.name for topic in topics]
    everyone = (Member(f"m{number}", topics=subscriptions(names, number, members)) for number in range(members))
    return Group("group", tuple(everyone), {topic.name: topic for topic in topics})


def listed(plan: Assignment) -> list[tuple[str, list[object]]]:
    return [(member, list(owned)) for member, owned in plan.by_member.items()]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lists were found at once, plan by plan."""
    counts: list[int] = []
    lists = Fresh.lists

    def counted(fresh: Fresh) -> dict[int, Codes]:
        found = lists(fresh)
        counts.append(len(found))
        return found

    monkeypatch.setattr(Fresh, "lists", counted)
    return counts


@pytest.mark.parametrize(
    ("subscriptions", "topics", "partitions", "members", "least"),
    [
        pytest.param(buckets, 20, 40, 16, 16, id="all alike"),
        pytest.param(last_has_one, 60, 31, 31, 20, id="maps of two capacities"),
        pytest.param(buckets, 4, 600, 8, 0, id="sets with crowded buckets"),
        pytest.param(last_has_one, 3, 97, 5, 0, id="few members, large sets"),
    ],
)
def test_lists_found_at_once_equal_those_of_exact_maps(
    at_once: list[int], subscriptions: Subscriptions, topics: int, partitions: int, members: int, least: int
) -> None:
    made = of_topics(subscriptions, [Topic(f"t{number}", partitions) for number in range(topics)], members)
    seen = server_group(made)
    assert listed(fast_mixed_plan(seen)) == listed(Heterogeneous(seen).plan())
    assert at_once[0] >= least


def test_subscriptions_that_crowd_a_bucket_of_a_map_go_through_exact_maps(at_once: list[int]) -> None:
    """Ids with one hash code: the ninth topic of a bucket makes it a tree or doubles the table."""
    ids = [str(UUID(int=(high << 64) | high)) for high in range(1, 31)]
    made = of_topics(buckets, [Topic(f"t{at}", 8, topic_id=one) for at, one in enumerate(ids)], 8)
    seen = server_group(made)
    assert listed(fast_mixed_plan(seen)) == listed(Heterogeneous(seen).plan())
    assert at_once == [0]


def test_what_is_owned_of_a_topic_that_is_no_longer_subscribed_is_given_to_others() -> None:
    """The lists were read before, with the subscription of that time."""
    made = of_topics(buckets, [Topic(name, 6) for name in "abcd"], 4)
    for _ in range(2):
        plan = UNIFORM.assign(made).by_member
        made = replace(made, members=tuple(replace(m, owned=plan[m.member_id]) for m in made.members))
    first = made.members[0]
    changed = replace(made, members=(replace(first, topics=first.topics[:1]), *made.members[1:]))
    seen = server_group(changed)
    assert listed(UNIFORM.assign(changed)) == listed(Heterogeneous(seen).plan())
    assert {tp.topic for tp in UNIFORM.assign(changed).by_member["m0"]} == {first.topics[0]}
