"""Why is it so: the same plan again, or the reason why not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

import assignors
from assignors.client.sticky import user_data
from assignors.model import TopicPartition as TP
from lag.generations.explanation import Comparison, Difference, explain
from lag.generations.live_group import group_of
from lag.model import GroupSnapshot, GroupType, Member, Problem, Scope, Topic
from tests.support.installed import Yours

TOPICS = {"orders": Topic("orders", "142265b8-7b32-4ee0-a7f1-6d9836042013", 6)}


def tps(*numbers: int, topic: str = "orders") -> tuple[TP, ...]:
    return tuple(TP(topic, number) for number in numbers)


def member(name: str, assigned: tuple[TP, ...], **fields: object) -> Member:
    return Member(name, f"client-{name}", topics=("orders",), assigned=assigned, **fields)  # type: ignore[arg-type]


def classic(*members: Member, **fields: object) -> GroupSnapshot:
    kept: dict[str, object] = {
        "cluster": "test", "group_id": "g", "type": GroupType.CLASSIC, "state": "Stable", "coordinator": 1,
        "assignor": "range", "epoch": None, "members": members, "partitions": (), "at_ms": 0,
    }  # fmt: skip
    return GroupSnapshot(**(kept | fields))  # type: ignore[arg-type]


def modern(*members: Member, **fields: object) -> GroupSnapshot:
    kept: dict[str, object] = {"type": GroupType.CONSUMER, "assignor": "range", "epoch": 5, "assignment_epoch": 5}
    return classic(*members, **(kept | fields))


def test_plan_that_the_assignor_gives_again_is_the_same() -> None:
    found = explain(classic(member("a", tps(0, 1, 2)), member("b", tps(3, 4, 5))), TOPICS)
    assert (found.verdict, found.differences, found.reasons) == (Comparison.SAME, (), ())
    assert (found.partitions, found.moves_now, found.stay_if_fresh) == (6, 0, 6)
    assert found.sentence == (
        "The assignor computes exactly this assignment from what the members own: range cuts each topic into "
        "contiguous ranges, members in order of instance id, else of member id. Member ids are random, so after a "
        "restart the same clients may be in a different order."
    )


def test_static_members_keep_their_order_over_a_restart() -> None:
    found = explain(
        classic(member("z", tps(0, 1, 2), instance_id="1"), member("b", tps(3, 4, 5), instance_id="2")), TOPICS
    )
    assert found.verdict is Comparison.SAME
    assert "random" not in found.sentence


def test_cooperative_group_is_planned_from_what_was_claimed_not_from_what_came_of_it() -> None:
    """`a` and `b` had two each of four; the topic has grown since, and the rebalance dealt the new ones to both."""
    stated = {"generation": 3, "subscription_version": 3, "user_data": b"\0\0\0\3"}
    group = classic(
        member("a", tps(0, 2, 4), owned=tps(0, 2), **stated),
        member("b", tps(1, 3, 5), owned=tps(1, 3), **stated),
        assignor="cooperative-sticky",
    )
    assert explain(group, TOPICS).verdict is Comparison.SAME
    crossed = replace(group.members[0], assigned=tps(0, 2, 5)), replace(group.members[1], assigned=tps(1, 3, 4))
    found = explain(replace(group, members=crossed), TOPICS)
    assert found.differences == (
        Difference(TP("orders", 4), ("b",), ("a",)),
        Difference(TP("orders", 5), ("a",), ("b",)),
    )
    assert found.moves_now == 0  # balanced, so a rebalance now would leave all where it is
    assert (
        found.sentence
        == "2 of 6 partitions have a different owner than cooperative-sticky computes from what it last knew."
    )
    assert found.reasons == ("No reason found: the leader or broker may run a different version of the assignor.",)


def test_sticky_group_is_planned_from_its_user_data() -> None:
    data = user_data.encode(tps(0, 1, 2), 3), user_data.encode(tps(3, 4, 5), 3)
    members = [member("a", tps(0, 1, 2), user_data=data[0]), member("b", tps(3, 4, 5), user_data=data[1])]
    found = explain(classic(*members, assignor="sticky"), TOPICS)
    assert (found.verdict, found.stay_if_fresh) == (Comparison.SAME, 4)  # fresh, a gets 0 2 4, b gets 1 3 5
    silent = [replace(m, user_data=None, owned=m.assigned, subscription_version=0) for m in members]
    assert explain(classic(*silent, assignor="sticky"), TOPICS).verdict is Comparison.DIFFERS


def test_user_data_that_java_cannot_read_is_named() -> None:
    data = [b"\0\1" + user_data.encode(tps(*mine), 3) for mine in ((0, 1, 2), (3, 4, 5))]
    members = [member("a", tps(0, 1, 2), user_data=data[0]), member("b", tps(3, 4, 5), user_data=data[1])]
    (reason,) = explain(classic(*members, assignor="sticky"), TOPICS).reasons
    assert reason.startswith(
        "client-a (and 1 more) writes different user data than the Java consumer: Java's sticky reads"
    )


def test_broker_planned_group_is_planned_from_its_target() -> None:
    group = modern(
        member("a", tps(0, 1, 2, 3), target=tps(0, 1, 2), epoch=4), member("b", tps(4, 5), target=tps(3, 4, 5), epoch=4)
    )
    found = explain(group, TOPICS)
    assert found.differences == (Difference(TP("orders", 3), ("a",), ("b",)),)
    assert found.reasons == ("Rebalancing: 2 of 2 members do not have their target assignment yet.",)


def test_uniform_group_keeps_what_it_has_though_a_fresh_start_would_not() -> None:
    members = member("a", tps(0, 1, 4), target=tps(0, 1, 4)), member("b", tps(2, 3, 5), target=tps(2, 3, 5))
    group = modern(*members, assignor="uniform")
    found = explain(group, TOPICS)
    fresh = tuple(replace(m, owned=()) for m in group_of(group, TOPICS).members)
    plan = assignors.get("uniform").assign(replace(group_of(group, TOPICS), members=fresh)).by_member
    assert (found.verdict, found.moves_now) == (Comparison.SAME, 0)
    assert found.stay_if_fresh == sum(len({*plan[m.member_id]} & {*m.assigned}) for m in members) < 6


def test_uniform_group_by_name_and_by_pattern_is_planned_as_a_heterogeneous_one() -> None:
    """Seven partitions dealt one by one; members that all name the topic have them in one piece each."""
    seven = {"orders": replace(TOPICS["orders"], partitions=7)}
    have = {"m0": tps(0, 3, 6), "m1": tps(1, 4), "m2": tps(2, 5)}
    *named, last = (member(name, mine, target=mine) for name, mine in have.items())
    by_pattern = modern(*named, replace(last, topics=(), topic_regex="ord.*"), assignor="uniform")
    assert (explain(by_pattern, seven).verdict, explain(by_pattern, seven).stay_if_fresh) == (Comparison.SAME, 7)
    assert explain(modern(*named, last, assignor="uniform"), seven).stay_if_fresh == 2


def test_share_group_compares_all_the_owners_of_a_partition() -> None:
    one = {"orders": replace(TOPICS["orders"], partitions=1)}
    members = tuple(member(name, tps(0)) for name in "ab")
    group = classic(*members, type=GroupType.SHARE, assignor="simple", epoch=3)
    assert explain(group, one).verdict is Comparison.SAME
    half = explain(replace(group, members=(members[0], replace(members[1], assigned=()))), one)
    assert half.differences == (Difference(TP("orders", 0), ("a",), ("a", "b")),)


@pytest.mark.parametrize(
    ("group", "topics", "reason"),
    [
        (
            classic(member("a", tps(0, 1)), member("b", tps(2, 3))),
            TOPICS,
            "Topic orders has 2 partitions without an owner: it grew or was created after the last rebalance.",
        ),
        (
            classic(member("a", tps(0, 1, 2)), member("b", (*tps(3, 4, 5), TP("old", 0)))),
            TOPICS,
            "Topic old, which is assigned, no longer exists.",
        ),
        (
            classic(member("a", tps(0, 1, 2)), replace(member("b", tps(3, 4, 5)), topics=())),
            TOPICS,
            "client-b has partitions of topics that it does not subscribe to.",
        ),
        (
            classic(
                member("a", tps(3, 4, 5), owned=(), instance_id="pod-a"),
                member("b", tps(0, 1, 2), owned=tps(0, 1, 2), generation=2),
                assignor="cooperative-sticky",
            ),
            {"orders": replace(TOPICS["orders"], partitions=7)},
            "pod-a is static and has rejoined since the last rebalance; what it reported then is lost.",
        ),
        (
            classic(
                member("a", tps(3, 4, 5), subscription_version=0),
                member("b", tps(0, 1, 2), owned=(), subscription_version=0),
                assignor="cooperative-sticky",
            ),
            TOPICS,
            "client-a (and 1 more) is an older client, whose subscription (version 0) has no owned partitions.",
        ),
        (
            classic(member("b", tps(0, 1, 2)), member("a", tps(3, 4, 5), subscription_version=1)),
            TOPICS,
            "The group has subscriptions of version 1 (Java since 3.5: 3): an older or different client may have "
            "computed the assignment.",
        ),
        (
            modern(member("b", tps(0, 1, 2)), member("a", tps(3, 4, 5)), epoch=6, state="Assigning"),
            TOPICS,
            "Members or topics have changed since the target was computed: "
            "the group is at epoch 6, the target at epoch 5.",
        ),
        (
            modern(member("b", tps(0, 1, 2)), member("a", tps(3, 4, 5)), state="Reconciling"),
            TOPICS,
            "Rebalancing: the group is Reconciling.",
        ),
        (
            modern(member("b", tps(0, 1, 2)), member("a", tps(3, 4, 5))),
            {"orders": replace(TOPICS["orders"], topic_id=None)},
            "The cluster has no topic ids, on which the broker's assignment depends.",
        ),
        (
            modern(replace(member("b", tps(0, 1, 2)), topic_regex="o.*"), member("a", tps(3, 4, 5))),
            TOPICS,
            "Members subscribe by regular expression; the broker reports only what is assigned.",
        ),
        (
            classic(
                member("b", tps(0, 1, 2)),
                member("a", tps(3, 4, 5)),
                complete=False,
                problems=(Problem("stale", Scope.GROUP, "g", "its coordinator has not answered"),),
            ),
            TOPICS,
            "The group was read only in part: its coordinator has not answered.",
        ),
    ],
)
def test_likely_reason_is_given_with_its_evidence(group: GroupSnapshot, topics: dict[str, Topic], reason: str) -> None:
    found = explain(group, topics)
    assert found.verdict is Comparison.DIFFERS
    assert reason in found.reasons


def test_librdkafkas_order_of_receivers_is_named() -> None:
    """One of three left; its partitions 4 and 5 went to the others, the first one to the higher id."""
    stated = {"generation": 3, "subscription_version": 3, "user_data": user_data.encode(tps(0, 1), 3)}
    group = classic(
        member("a", tps(0, 1, 5), owned=tps(0, 1), **stated),
        member("b", tps(2, 3, 4), owned=tps(2, 3), **stated),
        assignor="cooperative-sticky",
    )
    (reason,) = explain(group, TOPICS).reasons
    assert reason.startswith("client-a (and 1 more) writes different user data than the Java consumer: librdkafka does")


@pytest.mark.parametrize(
    ("group", "stated"),
    [
        (classic(state="Empty", assignor=None), "The group has no members, so nothing is assigned."),
        (modern(member("a", ()), type=GroupType.STREAMS), "The broker assigns tasks to a streams group"),
        (classic(member("a", ()), state="PreparingRebalance"), "The group is rebalancing. Until it is stable"),
        (classic(member("a", ()), assignor="by-hand"), "Its assignor, 'by-hand', is not known here; What if"),
        (classic(member("a", ()), assignor=None), "The group reports no assignor"),
        (classic(member("a", (), problem="it cannot be decoded")), "Member a: it cannot be decoded."),
        (classic(member("a", ()), member("a", ())), "range cannot assign this group: Member id 'a' appears twice."),
    ],
)
def test_group_that_cannot_be_planned_says_why_not(group: GroupSnapshot, stated: str) -> None:
    found = explain(group, TOPICS)
    assert (found.verdict, found.differences) == (Comparison.CANNOT, ())
    assert found.sentence.startswith(stated)


def test_a_plugin_is_not_run_to_say_why(install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("hangs")
    found = explain(classic(member("a", tps(0, 1, 2, 3, 4, 5)), assignor="hangs"), TOPICS)
    assert (found.verdict, found.sentence) == (
        Comparison.CANNOT,
        "Its assignor, 'hangs', is a plugin; only What if runs plugins, in a separate process.",
    )
    assert yours.processes == set()
