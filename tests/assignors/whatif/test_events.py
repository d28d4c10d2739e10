"""What each event does to a group."""

from dataclasses import replace

import pytest

import assignors
from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.whatif.events import (
    Action,
    AddPartitions,
    ChangeRack,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Event,
    Freeze,
    GcPause,
    Heal,
    Join,
    Leave,
    Loads,
    Restart,
    Resume,
    Scenario,
    Slow,
    Split,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.generations import in_turn
from assignors.whatif.moves import MoveKind
from tests.support.scenes import join, member, plans, scenario

CLASSIC = ("range", "roundrobin", "sticky", "cooperative-sticky")
CONSUMER = ("uniform", "server-range")


@pytest.mark.parametrize("name", CLASSIC)
def test_a_dynamic_restart_is_a_leave_and_a_join(name: str) -> None:
    made = assignors.fold(scenario(name, "A B", Restart("A")))
    assert made[1].event == "A restarts: it leaves"
    assert set(made[1].after.by_member) == {"B"}
    assert made[2].event == "A rejoins after its restart"
    as_two = assignors.fold(scenario(name, "A B", Leave("A"), join("A")))
    assert plans(made) == plans(as_two)


@pytest.mark.parametrize("name", [*CLASSIC, *CONSUMER])
def test_a_static_restart_is_a_step_without_a_rebalance(name: str) -> None:
    there = (member("A", instance_id="pod-1"), member("B"))
    made = assignors.fold(scenario(name, there, Restart("A"), join("C")))
    assert (made[1].number, made[1].event) == (
        1,
        "A restarts; it is static, so it keeps its partitions without a rebalance",
    )
    assert made[1].after == made[0].after
    assert (made[1].quality.rebalances, made[1].quality.paused, made[1].quality.moved) == (0, 3, 0)
    without = assignors.fold(scenario(name, there, join("C")))
    assert plans(made)[2:] == plans(without)[1:]


def test_share_groups_know_no_static_members() -> None:
    made = assignors.fold(scenario("share-simple", (member("A", instance_id="pod-1"), member("B")), Restart("A")))
    assert [generation.event for generation in made[1:]] == ["A restarts: it leaves", "A rejoins after its restart"]


def test_static_members_are_gone_when_their_session_ends() -> None:
    there = (member("A", instance_id="a"), member("B", instance_id="b"), member("C"))
    wanted = replace(
        scenario("range", there, Leave("A"), Freeze("B")),
        protocol={"session.timeout.ms": 6000, "max.poll.interval.ms": 90_000},
    )
    made = assignors.fold(wanted)
    assert [generation.event for generation in made[1:]] == [
        "A closes; it is static, so it is removed when its 6 s session times out",
        "B stops polling; it is removed after max.poll.interval.ms, 90 s, and then its 6 s session, because it is "
        "static",
    ]
    assert [set(generation.after.by_member) for generation in made] == [{"A", "B", "C"}, {"B", "C"}, {"C"}]


def test_a_frozen_member_rejoins_and_has_lost_its_claims() -> None:
    made = assignors.fold(scenario("sticky", "A B", Freeze("A"), Resume("A")))
    assert plans(made) == [
        {"A": "t-0 t-2 t-4", "B": "t-1 t-3 t-5"},
        {"B": "t-1 t-3 t-5 t-0 t-2 t-4"},
        {"B": "t-0 t-1 t-2", "A": "t-3 t-4 t-5"},
    ]
    assert made[1].event == "A stops polling; it is removed after max.poll.interval.ms, 300 s"


def test_a_split_member_is_out_as_a_frozen_one_is_and_rejoins_when_it_heals() -> None:
    made = assignors.fold(scenario("sticky", "A B", Split("A"), Heal("A")))
    assert plans(made) == plans(assignors.fold(scenario("sticky", "A B", Freeze("A"), Resume("A"))))
    assert [generation.event for generation in made[1:]] == [
        "A is cut off from the coordinator; it is removed when its 45 s session times out",
        "A reaches the coordinator again and rejoins",
    ]


@pytest.mark.parametrize("value", ["soon", -5, 1e400, True, ""])
def test_a_session_that_is_no_time_is_refused(value: str | float) -> None:
    with pytest.raises(AssignorError, match=r"The scenario's session\.timeout\.ms is .*, which is not a whole number"):
        assignors.fold(replace(scenario("range", "A", Crash("A")), protocol={"session.timeout.ms": value}))


def test_a_pause_matters_when_it_lasts_as_long_as_the_session() -> None:
    assert len(assignors.fold(scenario("sticky", "A B", Slow("A", 60_000), GcPause("A", 44_999)))) == 1
    made = assignors.fold(scenario("sticky", "A B", GcPause("A", 45_000)))
    assert [generation.event for generation in made[1:]] == [
        "A is paused for 45 s; it is removed when its 45 s session times out",
        "A continues and rejoins",
    ]


@pytest.mark.parametrize("name", [*CLASSIC, *CONSUMER])
def test_a_pattern_reads_what_matches_as_topics_come_and_go(name: str) -> None:
    there = (Member("A", pattern="t.*"), member("B"))
    course = (CreateTopic(Topic("t2", 2)), CreateTopic(Topic("v", 1)), DeleteTopic("t"), Subscribe("B", pattern="v|u"))
    made = assignors.fold(scenario(name, there, *course))
    read = [{tp.topic for tp in made[-1].after.by_member[who]} for who in "AB"]
    assert read == [{"t2"}, {"v"}]
    assert [one.topics for one in made[-1].members] == [("t2",), ("v",)]
    created = [generation for generation in made if generation.event.startswith("v is created")]
    assert created == []


def test_a_member_that_joins_by_pattern_gets_what_is_there_then() -> None:
    course = (CreateTopic(Topic("t2", 1)), Join(Member("B", pattern="t2|t3")), Leave("A"))
    made = assignors.fold(scenario("range", "A", *course))
    assert made[-1].after.by_member == {"B": (TopicPartition("t2", 0),)}


def test_all_members_leave_and_one_comes_back() -> None:
    made = assignors.fold(scenario("sticky", "A", Leave("A"), join("B")))
    assert [(generation.number, plan) for generation, plan in zip(made, plans(made), strict=True)] == [
        (1, {"A": "t-0 t-1 t-2 t-3 t-4 t-5"}),
        (2, {}),
        (3, {"B": "t-0 t-1 t-2 t-3 t-4 t-5"}),
    ]


def test_events_that_no_member_notices_make_no_generation() -> None:
    quiet = (
        AddPartitions("u", 9),
        CreateTopic(Topic("v", 3)),
        DeleteTopic("u"),
        Subscribe("A", ("t",)),
        ChangeRack("A", None),
        UseAssignor("range"),
    )
    made = assignors.fold(scenario("range", "A B", *quiet, AddPartitions("t", 8), topics="t:6 u:2"))
    assert [generation.event for generation in made] == ["first assignment", "t grows to 8 partitions"]
    assert {name: topic.partitions for name, topic in made[1].topics.items()} == {"t": 8, "v": 3}


def test_a_topic_is_created_for_those_who_wait_for_it_and_deleted_again() -> None:
    there = (member("A", "t u"), member("B", "t u"))
    made = assignors.fold(scenario("range", there, CreateTopic(Topic("u", 2)), DeleteTopic("u")))
    assert plans(made) == [
        {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"},
        {"A": "t-0 t-1 t-2 u-0", "B": "t-3 t-4 t-5 u-1"},
        {"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"},
    ]
    assert [str(move.tp) for move in made[2].moves.of(MoveKind.REVOKED)] == ["u-0", "u-1"]
    assert made[2].quality.moved == 0  # they are gone, not moved


def test_racks_of_new_partitions_are_unknown() -> None:
    wanted = scenario("range", (member("A", rack="a"), member("B", rack="b")), AddPartitions("t", 4))
    wanted = replace(wanted, topics={"t": Topic("t", 2, racks=(("b",), ("a",)))})
    made = assignors.fold(wanted)
    assert plans(made)[0] == {"A": "t-1", "B": "t-0"}
    assert made[1].topics["t"].racks == [("b",), ("a",), (), ()]
    assert [generation.quality.rack_hits for generation in made] == [(2, 2), (2, 2)]


def test_a_member_moves_to_another_rack() -> None:
    wanted = scenario(
        "range", (member("A", rack="a"), member("B", rack="b")), ChangeRack("A", "b"), ChangeRack("B", "a")
    )
    made = assignors.fold(replace(wanted, topics={"t": Topic("t", 2, racks=(("a",), ("b",)))}))
    assert plans(made) == [{"A": "t-0", "B": "t-1"}, {"A": "t-1", "B": "t-0"}, {"A": "t-1", "B": "t-0"}]
    assert [generation.event for generation in made[1:]] == ["A moves to rack b", "B moves to rack a"]


def test_a_cooperative_member_drops_a_topic() -> None:
    there = (member("A", "t u"), member("B", "t u"))
    made = assignors.fold(scenario("cooperative-sticky", there, Subscribe("A", ("t",)), topics="t:2 u:2"))
    assert plans(made)[-1] == {"A": "t-0 t-1", "B": "u-1 u-0"}
    assert [generation.event for generation in made[1:]] == ["A subscribes to t", "A subscribes to t (rebalance 2)"]
    assert made[1].moves[2].target == "B"  # u-0 goes over at once: A gave it up before it joined


@pytest.mark.parametrize("new", ["sticky", "cooperative-sticky"])
def test_a_change_between_client_assignors_forgets_who_owned_what(new: str) -> None:
    made = assignors.fold(scenario("range", "A B", UseAssignor(new)))
    assert plans(made) == [{"A": "t-0 t-1 t-2", "B": "t-3 t-4 t-5"}, {"A": "t-0 t-2 t-4", "B": "t-1 t-3 t-5"}]
    assert made[1].quality.paused == 6
    assert [generation.assignor for generation in made] == ["range", new]


@pytest.mark.parametrize(("old", "new"), [("roundrobin", "uniform"), ("uniform", "cooperative-sticky")])
def test_a_change_between_clients_and_broker_keeps_who_owned_what(old: str, new: str) -> None:
    made = assignors.fold(scenario(old, "A B", UseAssignor(new)))
    assert {who: set(held) for who, held in made[1].after.by_member.items()} == {
        who: set(held) for who, held in made[0].after.by_member.items()
    }
    assert (made[1].quality.moved, made[1].quality.paused) == (0, 0)


def test_a_share_group_starts_over() -> None:
    made = assignors.fold(scenario("uniform", "A B", UseAssignor("share-simple")))
    fresh = assignors.fold(scenario("share-simple", "A B"))
    assert plans(made)[1] == plans(fresh)[0]


def test_events_wait_for_the_coordinator_and_are_one_rebalance() -> None:
    actions = (CoordinatorDown(), join("C"), Crash("A"), AddPartitions("t", 8), CoordinatorUp(), Leave("B"))
    made = in_turn(scenario("range", "A B", *actions, every_ms=1_000))
    assert [generation.event for generation in made[1:]] == [
        "the coordinator is back: C joins; A crashes; it is removed when its 45 s session times out; "
        "t grows to 8 partitions",
        "B leaves",
    ]
    assert plans(made)[1] == {"B": "t-0 t-1 t-2 t-3", "C": "t-4 t-5 t-6 t-7"}
    assert [(generation.number, generation.at_ms) for generation in made] == [(1, 0), (2, 5000), (3, 6000)]


def test_events_of_an_outage_without_length_are_one_rebalance_and_nothing_else() -> None:
    its = scenario("range", "A B", CoordinatorDown(), join("C"), join("D"), CoordinatorUp())
    made = assignors.fold(replace(its, events=tuple(replace(event, at_ms=20_000) for event in its.events)))
    assert [generation.event for generation in made[1:]] == ["C joins; D joins"]
    assert made[1].quality.rebalances == 1


def test_a_coordinator_that_comes_back_to_the_same_group_changes_nothing() -> None:
    assert len(assignors.fold(scenario("range", "A B", CoordinatorDown(), CoordinatorUp()))) == 1
    assert len(assignors.fold(scenario("range", "A B", CoordinatorDown(), join("C")))) == 1


def test_a_dynamic_restart_while_the_coordinator_is_down_loses_the_claims() -> None:
    made = in_turn(scenario("sticky", "A B", CoordinatorDown(), Restart("A"), CoordinatorUp()))
    assert plans(made)[1] == {"B": "t-1 t-3 t-5", "A": "t-0 t-2 t-4"}
    assert len(made) == 2


def test_a_static_restart_while_the_coordinator_is_down_pauses_only() -> None:
    there = (member("A", instance_id="pod-1"), member("B"))
    made = in_turn(scenario("range", there, CoordinatorDown(), Restart("A"), CoordinatorUp()))
    assert [(generation.number, generation.quality.paused) for generation in made] == [(1, 0), (1, 3)]


def test_events_of_one_instant_are_one_rebalance_each() -> None:
    both = Scenario("s", "range", {"t": Topic("t", 6)}, (member("A"),), (Event(5, join("B")), Event(5, join("C"))))
    assert [generation.at_ms for generation in in_turn(both)] == [0, 5, 5]


def test_capacity_comes_along_with_a_member_that_joins() -> None:
    loads = Loads(
        lag_records={TopicPartition("t", at): 100.0 for at in range(6)},
        produced_per_s={TopicPartition("t", at): 1.0 for at in range(6)},
        capacity_per_s={"A": 10.0},
    )
    wanted = scenario("range", "A", Join(member("B"), capacity_per_s=28.0))
    made = assignors.fold(replace(wanted, loads=loads))
    # A alone: 600 records at 10 - 6 a second. Then 300 each, at 10 - 3 and 28 - 3 a second.
    assert made[0].quality.drain.seconds == 150.0
    assert made[1].quality.drains["B"].seconds == 12.0
    assert made[1].quality.drain.seconds == pytest.approx(300 / 7)


@pytest.mark.parametrize(
    ("action", "stated"),
    [
        (Leave("Ab"), "Event 2 at 2 s (leave Ab): No member is named 'Ab'. Did you mean 'A'?"),
        (Crash("B"), "Event 2 at 2 s (crash B): 'B' has left at 1s. It must join again first."),
        (Freeze("x"), "Event 2 at 2 s (freeze x): No member is named 'x'. Choose from A, C, B."),
        (Resume("A"), "Event 2 at 2 s (resume A): 'A' is not frozen."),
        (Heal("A"), "Event 2 at 2 s (heal A): 'A' is not cut off."),
        (GcPause("B", 5), "(gc pause B): 'B' has left at 1s."),
        (Slow("Ab", 5), "(slow Ab): No member is named 'Ab'. Did you mean 'A'?"),
        (join("A"), "Event 2 at 2 s (join A): 'A' is already in the group."),
        (Subscribe("B", ()), "(subscribe B): 'B' has left at 1s."),
        (AddPartitions("tt", 9), "(add partitions tt): There is no topic 'tt' at this time. Did you mean 't'?"),
        (AddPartitions("t", 6), "(add partitions t): t already has 6 partitions, and Kafka cannot remove partitions."),
        (CreateTopic(Topic("t", 1)), "(create topic t): The topic t already exists."),
        (DeleteTopic("u"), "(delete topic u): There is no topic 'u' at this time."),
        (UseAssignor("stiky"), "(use assignor stiky): No assignor is named 'stiky'. Did you mean 'sticky'?"),
        (CoordinatorUp(), "Event 2 at 2 s (coordinator up): The coordinator is already up."),
    ],
)  # fmt: skip
def test_an_event_that_cannot_happen_is_named(action: Action, stated: str) -> None:
    there = (member("A"), member("B"), member("C", instance_id="pod"))
    with pytest.raises(AssignorError) as error:
        assignors.fold(scenario("range", there, Leave("B"), action, every_ms=1_000))
    assert stated in str(error.value)


def test_a_member_that_is_frozen_or_split_off_must_come_back_first() -> None:
    for action, instead in ((Leave("A"), True), (Freeze("A"), True), (join("A"), False)):
        frozen, split = ("is frozen", "is cut off") if instead else ("is already in the group",) * 2
        with pytest.raises(AssignorError, match=rf"'A' {frozen}\."):
            assignors.fold(scenario("range", "A B", Freeze("A"), action))
        with pytest.raises(AssignorError, match=rf"'A' {split}\."):
            assignors.fold(scenario("range", "A B", Split("A"), action))
    with pytest.raises(AssignorError, match="is already down"):
        assignors.fold(scenario("range", "A", CoordinatorDown(), CoordinatorDown()))
