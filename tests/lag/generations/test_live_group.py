"""A live group as an assignor's group and as a scenario: what is known goes in, what is not is reported."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

import assignors
from assignors.model import Member as PlannedMember
from assignors.model import Topic as PlannedTopic
from assignors.model import TopicPartition as TP
from assignors.scenario import check_bytes, dump
from assignors.whatif.events import Event, Join, Scenario
from lag.generations.live_group import (
    LiveScenario,
    NoWhatIfError,
    TargetPartitions,
    assignor_of,
    generation_of,
    group_of,
    revision,
    scenario_of,
)
from lag.model import GroupSnapshot, GroupType, Member, Problem, Scope, Topic
from lag.verdict.health import Health
from tests.lag.make import cluster, deleted, end, group, judged

TOPICS = {"orders": Topic("orders", "id-orders", 3), "spare": Topic("spare", "id-spare", 9)}


def snapshot(*members: Member, **fields: object) -> GroupSnapshot:
    kept: dict[str, object] = {
        "cluster": "test", "group_id": "billing", "type": GroupType.CLASSIC, "state": "Stable", "coordinator": 1,
        "assignor": "range", "epoch": None, "members": members, "partitions": (), "at_ms": 0,
    }  # fmt: skip
    return GroupSnapshot(**(kept | fields))  # type: ignore[arg-type]


def consumer(**fields: object) -> GroupSnapshot:
    return snapshot(**({"type": GroupType.CONSUMER, "assignor": "uniform", "epoch": 7} | fields))


@pytest.mark.parametrize(
    ("type_", "named", "ours"),
    [
        (GroupType.CLASSIC, "range", "range"),
        (GroupType.CLASSIC, "cooperative-sticky", "cooperative-sticky"),
        (GroupType.CLASSIC, "uniform", None),
        (GroupType.CLASSIC, "stream", None),
        (GroupType.CLASSIC, None, None),
        (GroupType.CONSUMER, "range", "server-range"),
        (GroupType.CONSUMER, "uniform", "uniform"),
        (GroupType.SHARE, "simple", "share-simple"),
        (GroupType.STREAMS, "sticky", None),
    ],
)
def test_brokers_names_of_assignors_become_ours(type_: GroupType, named: str | None, ours: str | None) -> None:
    assert assignor_of(snapshot(type=type_, assignor=named)) == ours


def test_generation_is_the_epoch_else_the_one_after_the_newest_claim() -> None:
    joined, stayed = Member("a"), Member("b", generation=11)
    assert generation_of(consumer(members=(stayed,))) == 7
    assert generation_of(snapshot(joined, stayed)) == 12
    assert generation_of(snapshot(joined)) is None


def test_members_own_what_is_assigned_now_whatever_they_claimed() -> None:
    has = Member(
        "m1", "c1", "10.0.0.1", "pod-1", "rack-a", topics=("orders",), assigned=(TP("orders", 0),),
        owned=(TP("orders", 2),), generation=4, user_data=b"old",
    )  # fmt: skip
    idle = Member("m2", "c2", topics=("orders",), owned=(), generation=4)
    found = group_of(snapshot(has, idle), TOPICS)
    assert found.members == (
        PlannedMember("m1", "pod-1", "c1", "10.0.0.1", "rack-a", ("orders",), (TP("orders", 0),), 5),
        PlannedMember("m2", None, "c2", topics=("orders",)),
    )
    assert (found.group_id, found.assignor) == ("billing", "range")


def test_topics_are_those_subscribed_or_owned_that_exist() -> None:
    member = Member("m", topics=("orders", "gone"), assigned=(TP("late", 0),))
    racks = (("a", "b"), ("b",))
    topics = TOPICS | {"late": Topic("late", None, 2, racks=racks)}
    assert group_of(snapshot(member), topics).topics == {
        "late": PlannedTopic("late", 2, racks),
        "orders": PlannedTopic("orders", 3, None, "id-orders"),
    }


def test_expression_stands_for_the_topics_that_its_members_have() -> None:
    one = Member("m1", topic_regex="o.*", assigned=(TP("orders", 0),), target=(TP("orders", 0), TP("oats", 1)))
    same = Member("m2", topics=("named",), topic_regex="o.*")
    other = Member("m3", topic_regex="s.*", assigned=(TP("spare", 0),))
    found = group_of(consumer(members=(one, same, other)), TOPICS)
    assert [(member.topics, member.pattern) for member in found.members] == [
        (("oats", "orders"), "o.*"), (("named", "oats", "orders"), "o.*"), (("spare",), "s.*"),
    ]  # fmt: skip


def health_of(*polls: Mapping[str, int | None], logs: int = 100, **spec: Any) -> Health:
    """Polls ten seconds apart of a group "billing" on orders 0 to 2, whose logs grow by 50 records each time."""
    made = []
    for number, committed in enumerate(polls):
        ends = {f"orders-{p}": end(logs + 50 * number) for p in range(3)}
        groups = {"billing": group(committed, **spec)}
        made.append(cluster(groups, ends, number + 1, number * 10_000))
    return judged(made)


def started(health: Health) -> LiveScenario:
    found = health.snapshot.group("billing")
    assert found is not None
    return scenario_of(found, health)


def test_lag_and_rates_go_along_and_unknown_ones_stay_out() -> None:
    health = health_of(
        {"orders-0": 0, "orders-1": 100, "orders-2": None},
        {"orders-0": 80, "orders-1": 150, "orders-2": None},
        logs=1000,
    )
    live = started(health)
    loads = live.scenario.loads
    assert loads.lag_records == {TP("orders", 0): 970, TP("orders", 1): 900}
    assert loads.produced_per_s == {TP("orders", p): 5.0 for p in range(3)}
    assert loads.default_capacity_per_s == 13.0  # the one member commits 80 and 50 records in ten seconds
    assert live.notes == (
        "The lag of 1 of 3 partitions is unknown and left out.",
        "Capacity is the highest rate of a member that had records waiting, over 10 s: 13.0 records a second.",
    )


def test_capacity_is_that_of_the_fastest_member() -> None:
    before, after = {f"orders-{p}": 0 for p in range(3)}, {"orders-0": 10, "orders-1": 40, "orders-2": 20}
    live = started(health_of(before, after, logs=1000, members=3))
    assert live.scenario.loads.default_capacity_per_s == 4.0


def test_members_that_keep_up_show_what_arrives_and_not_what_they_can_do() -> None:
    """Thirty seconds of work at 13 records a second are 390 records; one fewer than that waits."""
    before, after = {"orders-0": 0, "orders-1": 100}, {"orders-0": 80, "orders-1": 150}
    keeps_up, is_behind = (started(health_of(before, after, logs=logs)) for logs in (259, 260))
    assert keeps_up.scenario.loads.default_capacity_per_s is None
    assert keeps_up.notes == ("The members keep up, so their capacity is not known: enter it to get drain times.",)
    assert is_behind.scenario.loads.default_capacity_per_s == 13.0


def test_capacity_that_no_member_has_shown_is_unknown() -> None:
    live = started(health_of({"orders-0": 5, "orders-1": 5, "orders-2": 5}))
    assert live.scenario.loads.default_capacity_per_s is None
    assert live.notes[-1] == "No member committed in this time, so their capacity is not known."


def test_group_without_members_starts_empty_with_the_topics_it_committed_to() -> None:
    live = started(health_of({"orders-0": 5}, members=0, state="Empty"))
    assert (live.scenario.members, set(live.scenario.topics)) == ((), {"orders"})
    assert live.notes[0] == "The group has no members: it starts empty, with the topics it has committed to."


def exported(live: LiveScenario) -> Scenario:
    return check_bytes(dump(without_ids(live.scenario)).encode(), "live.yaml").scenario


def without_ids(scenario: Scenario) -> Scenario:
    """Ids of topics made by hand are none."""
    return replace(scenario, topics={n: replace(topic, topic_id=None) for n, topic in scenario.topics.items()})


def test_a_deleted_topic_that_is_still_assigned_is_left_out_and_reported() -> None:
    has = Member("m0", topics=("orders", "gone"), assigned=(TP("orders", 0), TP("gone", 1), TP("gone", 0)))
    live = started(health_of({f"orders-{p}": 5 for p in range(3)}, members=(has,)))
    assert live.scenario.members[0].owned == (TP("orders", 0),)
    assert live.notes[0] == "gone-1, gone-0 are assigned but do not exist: they are left out."
    assert without_ids(live.scenario) == exported(live)


def test_a_topic_recreated_smaller_leaves_what_it_had_out() -> None:
    has = (
        Member("m0", topics=("orders",), assigned=(TP("orders", 3),), generation=4),
        Member("m1", topics=("orders",)),
    )
    live = started(health_of({f"orders-{p}": 5 for p in range(3)}, members=has))
    assert [(member.owned, member.generation) for member in live.scenario.members] == [((), None), ((), None)]
    assert live.notes[0] == "orders-3 is assigned but does not exist: it is left out."
    assert without_ids(live.scenario) == exported(live)


def test_lag_of_a_topic_that_no_member_reads_any_more_is_left_out_and_reported() -> None:
    """It had no place in the file: the export raised KeyError."""
    ends = {"orders-0": end(100), "old-0": end(50), "old-1": end(60)}
    members = (Member("m0", topics=("orders",), assigned=(TP("orders", 0),)),)
    committed = {"orders-0": 90, "old-0": 50, "old-1": 50}
    live = started(judged([cluster({"billing": group(committed, members=members)}, ends)]))
    assert live.scenario.loads.lag_records == {TP("orders", 0): 10}
    assert live.notes[0] == "The lag of 2 of 3 partitions is left out: no member subscribes to their topics."
    assert without_ids(live.scenario) == exported(live)


def subscribed(*members: Member) -> LiveScenario:
    spare = (Member("spare", topics=("orders", "spare"), assigned=(TP("spare", 0),)),)
    committed = {"orders-0": 5, "orders-1": 5, "spare-0": 5}
    ends = {key: end(100) for key in committed}
    return started(judged([cluster({"billing": group(committed, members=(*members, *spare))}, ends)]))


@pytest.mark.parametrize("regex", ["ord.*", "(o+)+rders", r"o\pL+"])
def test_members_by_pattern_stay_so_in_the_scenario_and_its_file(regex: str) -> None:
    by_name = Member("m0", topics=("orders",), assigned=(TP("orders", 0),))
    live = subscribed(by_name, Member("m1", topic_regex=regex, assigned=(TP("orders", 1),)))
    assert [(m.topics, m.pattern) for m in live.scenario.members[:2]] == [(("orders",), None), (("orders",), regex)]
    assert live.notes == ("No member committed in this time, so their capacity is not known.",)
    assert without_ids(live.scenario) == exported(live)


@pytest.mark.parametrize(
    ("regex", "named"),
    [
        ("(orders", ()),  # no RE2 expression
        (".*", ()),  # matches a topic that the broker did not give to the member
        ("ord.*", ("orders",)),  # a scenario cannot say both
    ],
)
def test_a_pattern_that_is_not_matched_here_becomes_the_topics_that_it_found(
    regex: str, named: tuple[str, ...]
) -> None:
    live = subscribed(Member("m1", topics=named, topic_regex=regex, assigned=(TP("orders", 1),)))
    assert [(m.topics, m.pattern) for m in live.scenario.members[:1]] == [(("orders",), None)]
    reported = "subscribe to the topics that they have now, because their regular expression cannot be matched here"
    assert live.notes[0] == f"1 of 2 members {reported}."
    assert without_ids(live.scenario) == exported(live)


def test_group_whose_topics_are_gone_cannot_start() -> None:
    health = judged([cluster({"billing": group({"gone-0": 5}, members=0, state="Empty")}, {"gone-0": deleted()})])
    with pytest.raises(NoWhatIfError, match=r"No topic of billing exists\. Write a scenario"):
        started(health)


NOWHERE = judged([cluster({"billing": group({})}, {"orders-0": end(1)})])


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (snapshot(type=GroupType.STREAMS), "billing is a streams group: its broker assigns tasks, not partitions"),
        (snapshot(state="PreparingRebalance"), "not known: its state is PreparingRebalance"),
        (
            snapshot(problems=(Problem("unauthorized", Scope.GROUP, "billing", "not authorised to describe it"),)),
            "not known: not authorised to describe it",
        ),
        (snapshot(Member("m"), state="CompletingRebalance"), "rebalancing; until it is stable"),
        (snapshot(Member("m")), "No member of billing is known to subscribe to a topic"),
        (snapshot(Member("m", problem="cannot be decoded")), "subscribe to a topic: cannot be decoded"),
    ],
)
def test_group_with_too_few_facts_cannot_start_a_what_if(found: GroupSnapshot, reason: str) -> None:
    with pytest.raises(NoWhatIfError, match=reason):
        scenario_of(found, NOWHERE)


def test_what_is_estimated_or_not_settled_is_marked() -> None:
    health = health_of({"orders-0": 5, "orders-1": 5, "orders-2": 5})
    found = health.snapshot.groups[0]
    moving = replace(
        found,
        type=GroupType.CONSUMER,
        assignor="my-own",
        state="Reconciling",
        members=(
            Member("m1", topic_regex="o.*", assigned=(TP("orders", 0),), target=()),
            Member("m2", problem="cannot be decoded"),
        ),
    )
    topics = {"orders": replace(health.snapshot.topics["orders"], topic_id=None)}
    live = scenario_of(moving, replace(health, snapshot=replace(health.snapshot, topics=topics)))
    assert live.scenario.assignor == "uniform"
    assert live.notes == (
        "'my-own' is not known here; uniform is used instead.",
        "The group is rebalancing (Reconciling): its members' assignment is not final.",
        "The subscription or assignment of 1 of 2 members cannot be decoded.",
        "No member committed in this time, so their capacity is not known.",
        "The cluster has no topic ids; the broker's assignment depends on them and may differ.",
    )


def test_revision_changes_with_members_assignment_and_epoch_only() -> None:
    one, two = Member("a", assigned=(TP("orders", 0),)), Member("b")
    before = consumer(members=(one, two))
    assert revision(before) == revision(replace(before, members=(two, one), state="Assigning", at_ms=9, coordinator=2))
    different = [
        replace(before, epoch=8),
        replace(before, members=(one,)),
        replace(before, members=(one, replace(two, assigned=(TP("orders", 1),)))),
        replace(before, members=(one, replace(two, topics=("orders",)))),
    ]
    assert len({revision(found) for found in (before, *different)}) == 5


def test_scenario_starts_where_the_group_is() -> None:
    members = tuple(Member(f"m{n}", topics=("orders",), assigned=(TP("orders", n),)) for n in range(3))
    live = started(health_of({"orders-0": 5, "orders-1": 5, "orders-2": 5}, members=members))
    scenario = live.scenario
    assert {m.member_id: m.owned for m in scenario.members} == {m.member_id: m.assigned for m in members}
    assert scenario.assignor in assignors.names()
    assert live.revision == revision(snapshot(*members))


@pytest.mark.parametrize(("other", "is_noted"), [("orders", False), ("spare", True)])
def test_a_share_group_whose_members_may_have_topics_without_partitions_says_so(other: str, is_noted: bool) -> None:
    members = (
        Member("m1", topics=("orders", "spare"), assigned=(TP("orders", 0), TP("spare", 0))),
        Member("m2", topics=("orders",), assigned=(TP(other, 1),)),
    )
    ends = {f"{topic}-{number}": end(9) for topic in ("orders", "spare") for number in range(3)}
    made = group({"orders-0": 1, "spare-0": 1}, members, type=GroupType.SHARE)
    live = started(judged([cluster({"billing": made}, ends, 1, 0)]))
    assert any("lost all partitions" in note for note in live.notes) is is_noted


THIRTEEN = {f"t{at}": PlannedTopic(f"t{at}", 1) for at in range(13)}
JOIN_M2 = Event(1_000, Join(PlannedMember("m2", topics=tuple(THIRTEEN))))


def by_hand(member: PlannedMember) -> Member:
    """What a poll reports of the member of a share group."""
    return Member(member.member_id, topics=member.topics, assigned=tuple(member.owned))


def as_recorded(member: PlannedMember, names: Sequence[str]) -> TargetPartitions:
    """The record of the member's target assignment (ShareGroupTargetAssignmentMember) with these topics."""
    return tuple((name, tuple(tp.partition for tp in member.owned if tp.topic == name)) for name in names)


@pytest.fixture
def two_of_share() -> tuple[PlannedMember, ...]:
    """m0 had all topics when m1 joined; in Kafka it keeps those that went to m1, without partitions."""
    m0, m1 = (PlannedMember(name, topics=tuple(THIRTEEN)) for name in ("m0", "m1"))
    *_, last = assignors.fold(Scenario("billing", "share-simple", THIRTEEN, (m0,), (Event(1_000, Join(m1)),)))
    return last.members


def live_of_share(members: Sequence[PlannedMember], targets: Mapping[str, TargetPartitions]) -> LiveScenario:
    ends = {f"{name}-0": end(9) for name in THIRTEEN}
    made = group({}, [by_hand(member) for member in members], type=GroupType.SHARE)
    health = judged([cluster({"billing": made}, ends, 1, 0)])
    topics = {name: replace(topic, topic_id=None) for name, topic in health.snapshot.topics.items()}
    snapshot = replace(health.snapshot, topics=topics)
    found = snapshot.group("billing")
    assert found is not None
    return scenario_of(found, replace(health, snapshot=snapshot), targets)


def planned(scenario: Scenario) -> dict[str, list[str]]:
    """Topics by member once m2 has joined."""
    *_, last = assignors.fold(replace(scenario, events=(JOIN_M2,)))
    return {member: [tp.topic for tp in owned] for member, owned in last.after.by_member.items()}


def test_what_a_share_group_assigns_next_follows_from_its_records(two_of_share: tuple[PlannedMember, ...]) -> None:
    targets = {m.member_id: as_recorded(m, m.owned_topics or [tp.topic for tp in m.owned]) for m in two_of_share}
    live = live_of_share(two_of_share, targets)
    javas = {"m0": "t3 t5 t10 t6 t2", "m1": "t8 t11 t4 t12", "m2": "t7 t9 t1 t0"}
    assert planned(live.scenario) == {member: topics.split() for member, topics in javas.items()}
    assert planned(live_of_share(two_of_share, {}).scenario) != planned(live.scenario)
    assert not any("lost all partitions" in note for note in live.notes)


def test_a_share_group_whose_records_are_not_of_now_says_that_its_assignment_may_differ(
    two_of_share: tuple[PlannedMember, ...],
) -> None:
    m0, m1 = two_of_share
    targets = {"m1": as_recorded(m1, tuple(THIRTEEN))}
    not_of_now: list[dict[str, TargetPartitions]] = [
        {},
        {"m0": as_recorded(m1, tuple(THIRTEEN))},
        {"m0": as_recorded(m0, (*THIRTEEN, "gone"))},
    ]
    for other in not_of_now:
        live = live_of_share(two_of_share, targets | other)
        assert any("lost all partitions" in note for note in live.notes)
        assert live.scenario.members[0].owned_topics == ()
