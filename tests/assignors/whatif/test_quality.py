"""Figures of a step from one assignment to the next."""

import math
from collections.abc import Mapping

import pytest

import assignors
from assignors.model import Assignment, Group, Member, Topic, TopicPartition
from assignors.whatif.drain import Drain
from assignors.whatif.events import Loads
from assignors.whatif.quality import Quality, measure
from assignors.whatif.skew import Skew
from tests.support.scenes import member

NOTHING = Assignment(None, {})


def assigned(**lists: str) -> Assignment:
    return Assignment(1, {name: member(name, owned=held).owned for name, held in lists.items()})


def group(*members: Member, assignor: str = "range", **topics: Topic) -> Group:
    return Group("g", members, topics, assignor)


def by_number(topic: str, *values: float) -> dict[TopicPartition, float]:
    return {TopicPartition(topic, number): value for number, value in enumerate(values)}


A, B, C = (member(name) for name in "ABC")
T4 = Topic("t", 4)
BEFORE = assigned(A="t-0 t-1", B="t-2 t-3")


def quality(before: Assignment, after: Assignment, of: Group, loads: Loads | None = None) -> Quality:
    return measure(before, after, of, loads or Loads())


def test_balance_and_idle_members() -> None:
    found = quality(NOTHING, assigned(A="t-0 t-1 t-3", B="t-2", C=""), group(A, B, C, t=Topic("t", 5)))
    assert (found.partitions, found.assigned, found.unassigned) == (5, 4, 1)
    assert (found.members, found.idle_members) == (3, ("C",))
    assert (found.fewest, found.most, found.spread) == (0, 3, 3)


def test_what_is_kept_moves_or_pauses() -> None:
    after = assigned(A="t-0", B="t-2", C="t-1")
    eager = quality(BEFORE, after, group(A, B, C, t=T4))
    assert (eager.kept, eager.moved, eager.unassigned, eager.paused) == (2, 2, 1, 4)
    for assignor, pauses in (("cooperative-sticky", 2), ("uniform", 2), ("share-simple", 0)):
        assert quality(BEFORE, after, group(A, B, C, assignor=assignor, t=T4)).paused == pauses


def test_stickiness_counts_only_what_could_be_kept() -> None:
    all_stay = quality(BEFORE, assigned(A="t-0 t-3", B="t-1 t-2"), group(A, B, t=T4))
    assert all_stay.stickiness == 2 / 4
    left = quality(BEFORE, assigned(A="t-0 t-1 t-2 t-3"), group(A, t=T4))
    assert (left.stickiness, left.moved) == (1.0, 2)
    unsubscribed = quality(BEFORE, assigned(A="", B="t-2 t-3 t-0 t-1"), group(member("A", "u"), B, t=T4))
    assert unsubscribed.stickiness == 1.0
    shrunk = quality(BEFORE, assigned(A="t-0", B="t-1"), group(A, B, t=Topic("t", 2)))
    assert (shrunk.stickiness, shrunk.moved) == (1 / 2, 1)  # t-2 and t-3 are gone


def test_there_is_no_stickiness_where_nothing_could_be_kept_or_nothing_was_planned() -> None:
    assert quality(NOTHING, BEFORE, group(A, B, t=T4)).stickiness is None
    assert measure(BEFORE, BEFORE, group(A, B, t=T4), Loads(), rebalances=0, pauses=0).stickiness is None


def test_an_empty_group_has_figures_too() -> None:
    found = quality(BEFORE, NOTHING, group(t=T4))
    assert (found.partitions, found.members, found.fewest, found.most, found.spread) == (0, 0, 0, 0, 0)
    assert (found.moved, found.kept, found.drain) == (4, 0, Drain(None, "the group has no members"))


def test_topics_with_equal_counts_and_subscribers_are_co_partitioned() -> None:
    both = group(member("A", "t u v"), member("B", "t u v"), t=Topic("t", 2), u=Topic("u", 2), v=Topic("v", 3))
    together = quality(NOTHING, assigned(A="t-0 u-0 v-0 v-2", B="t-1 u-1 v-1"), both)
    assert together.co_partitioned == (2, 2)
    assert quality(NOTHING, assigned(A="t-0 u-1 v-0", B="t-1 u-0"), both).co_partitioned == (0, 2)
    assert quality(NOTHING, assigned(A="t-0 u-0", B="u-1"), both).co_partitioned == (1, 2)
    assert quality(NOTHING, assigned(A="v-0"), both).co_partitioned == (0, 2)  # with nobody is not together


def test_a_topic_with_other_subscribers_is_not_co_partitioned() -> None:
    one_more = group(member("A", "t u"), member("B", "t"), t=Topic("t", 2), u=Topic("u", 2))
    assert quality(NOTHING, assigned(A="t-0 u-0 u-1", B="t-1"), one_more).co_partitioned is None
    shared = group(member("A", "t u"), member("B", "t u"), t=Topic("t", 1), u=Topic("u", 1))
    assert quality(NOTHING, assigned(A="t-0 u-0", B="t-0 u-0"), shared).co_partitioned is None


@pytest.mark.parametrize(("name", "expected"), [("range", (10, 10)), ("sticky", (0, 10))])
def test_range_keeps_joins_together_and_sticky_does_not(name: str, expected: tuple[int, int]) -> None:
    topics = {"t": Topic("t", 5), "u": Topic("u", 5), "v": Topic("v", 5), "w": Topic("w", 4), "x": Topic("x", 5)}
    # t, u, v, x have 5 partitions each; those of A and B, and those of C and D, are subscribed to together
    members = (*(member(who, "t u w") for who in "AB"), *(member(who, "v x") for who in "CD"))
    of = Group("g", members, topics, name)
    assert quality(NOTHING, assignors.get(name).assign(of), of).co_partitioned == expected


def test_rack_hits_count_where_both_racks_are_known() -> None:
    racks = (("a", "b"), ("b",), (), ("a",))
    of = group(member("A", rack="a"), member("B"), member("C", rack="c"), t=Topic("t", 4, racks=racks))
    found = quality(NOTHING, assigned(A="t-0 t-1 t-2", C="t-3"), of)
    assert found.rack_hits == (1, 3)  # t-0 is near, t-1 and t-3 are not, t-2's rack is unknown
    assert quality(NOTHING, assigned(B="t-0 t-1 t-2 t-3"), of).rack_hits is None
    assert quality(NOTHING, assigned(A="t-0"), group(member("A", rack="a"), t=T4)).rack_hits is None


def test_skew_is_the_most_beside_the_mean_of_members() -> None:
    loads = Loads(weights=by_number("t", 100, 0, 20), lag_records={TopicPartition("gone", 0): 5.0})
    found = quality(NOTHING, assigned(A="t-0 t-1", B="t-2 t-3", C=""), group(A, B, C, t=T4), loads)
    # Of 120 on 3 members the mean is 40.
    assert found.skews == {"weight": Skew(total=120, most=100, member="A", ratio=2.5, known=3, partitions=4)}


def test_skew_of_nothing_and_of_shared_partitions() -> None:
    idle = quality(NOTHING, BEFORE, group(A, B, t=T4), Loads(produced_per_s=by_number("t", 0, 0)))
    assert idle.skews == {"produced_per_s": Skew(0, 0, "A", None, 2, 4)}
    shared = quality(NOTHING, assigned(A="t-0 t-1", B="t-0"), group(A, B, t=T4), Loads(weights=by_number("t", 10, 3)))
    assert shared.skews["weight"] == Skew(13, 6.5, "A", 1.0, 2, 2)  # B reads 6.5 of the 10 of t-0


def test_a_partition_that_only_one_member_reads_makes_it_hot_whatever_it_shares() -> None:
    loads = Loads(weights=by_number("t", 2, 10))
    shared = quality(NOTHING, assigned(A="t-0 t-1", B="t-0"), group(A, B, t=T4), loads)
    assert shared.skews["weight"] == Skew(12, 10, "A", 10 / 6, 2, 2)


def drains(loads: Loads, after: Assignment = BEFORE) -> tuple[Drain, Mapping[str, Drain]]:
    found = quality(NOTHING, after, group(*(member(name) for name in after.by_member), t=T4), loads)
    return found.drain, found.drains


LAG, RATE = by_number("t", 60, 30, 0, 10), by_number("t", 2, 1, 4, 1)


def test_the_slowest_member_is_the_drain_of_the_group() -> None:
    of_group, each = drains(Loads(lag_records=LAG, produced_per_s=RATE, default_capacity_per_s=6))
    assert each == {"A": Drain(90 / (6 - 3), None, "A"), "B": Drain(10 / (6 - 5), None, "B")}
    assert of_group == Drain(30, None, "A")


def test_a_member_that_does_not_keep_up_never_drains() -> None:
    capacity = {"A": 3.0, "B": 5.5}
    of_group, each = drains(Loads(lag_records=LAG, produced_per_s=RATE, capacity_per_s=capacity))
    assert each["B"] == Drain(20, None, "B")
    assert of_group == Drain(math.inf, "3 records a second arrive, and it can process 3", "A")


def test_what_is_unknown_makes_no_number() -> None:
    assert drains(Loads())[0] == Drain(None, "the lag of 2 of its 2 partitions is unknown", "A")
    assert drains(Loads(lag_records=LAG))[1]["B"].reason == "the produce rate of 2 of its 2 partitions is unknown"
    no_capacity = Loads(lag_records=LAG, produced_per_s=RATE, capacity_per_s={"A": 6.0})
    of_group, each = drains(no_capacity)
    assert each["A"].seconds == 30
    assert of_group == Drain(None, "how much a member can process is unknown", "B")


def test_a_member_without_partitions_is_done_and_one_without_lag_too() -> None:
    loads = Loads(lag_records=by_number("t", 0, 0, 0, 0), produced_per_s=RATE, capacity_per_s={"A": 8.0})
    of_group, each = drains(loads, assigned(A="t-0 t-1 t-2 t-3", B=""))
    assert each == {"A": Drain(0, None, "A"), "B": Drain(0, None, "B")}
    assert of_group.seconds == 0


def test_lag_without_an_owner_never_drains() -> None:
    loads = Loads(lag_records=LAG, produced_per_s=RATE, default_capacity_per_s=100)
    of_group, _ = drains(loads, assigned(A="t-0"))
    assert of_group == Drain(math.inf, "3 partitions with lag or new records have no owner")
