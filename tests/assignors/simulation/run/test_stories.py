"""Stories whose every millisecond follows from Kafka's rules."""

import pytest

from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Hold, Message, Timeline
from assignors.whatif.events import (
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
    Subscribe,
    UseAssignor,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import (
    ASSIGNED,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    FOUND,
    HEARTBEAT,
    JOINED,
    QUICK,
    RTT,
    SESSION,
    L,
    calls,
    downtime,
    holders,
    lane,
    members,
    played,
    scenario,
    t,
)

BOTH = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])


def beat_after(at_ms: int) -> int:
    """When members that joined at 0 send their first heartbeat that arrives after that time."""
    return JOINED + HEARTBEAT * (-(-(at_ms + 1 - L - JOINED) // HEARTBEAT))


def last_beat_arrived(before_ms: int) -> int:
    """When the last heartbeat of a process arrived that stops at that time."""
    return JOINED + HEARTBEAT * ((before_ms - JOINED) // HEARTBEAT) + L


@BOTH
def test_the_first_join_takes_four_round_trips_and_the_initial_delay(protocol: RebalanceProtocol) -> None:
    """FindCoordinator, JoinGroup twice (KIP-394), SyncGroup; two members that come together wait two delays."""
    one = played(scenario(2, members("a"), {}, QUICK | {"group.initial.rebalance.delay.ms": 3_000}), protocol)
    two = played(scenario(2, members("a", "b"), {}, QUICK | {"group.initial.rebalance.delay.ms": 3_000}), protocol)
    assert lane(one, "a")[:2] == [("joining", 0, ASSIGNED + 3_000), ("consuming", ASSIGNED + 3_000, one.end_ms)]
    assert lane(two, "b")[0] == ("joining", 0, ASSIGNED + 6_000)
    assert [message.error for message in one.messages if message.kind == "JoinGroup" and message.error] == [
        "MEMBER_ID_REQUIRED",
        "NONE",
    ]


def test_the_messages_of_the_first_join() -> None:
    messages = played(scenario(1, members("a"), {}), EAGER).messages[:8]
    to, back = ("a", "coordinator"), ("coordinator", "a")
    assert messages == (
        Message("a", "brokers", "FindCoordinator", None, 0, L),
        Message("brokers", "a", "FindCoordinator", "NONE", L, RTT),
        Message(*to, "JoinGroup", None, FOUND, FOUND + L),
        Message(*back, "JoinGroup", "MEMBER_ID_REQUIRED", FOUND + L, FOUND + RTT),
        Message(*to, "JoinGroup", None, FOUND + RTT, JOINED - L),
        Message(*back, "JoinGroup", "NONE", JOINED - L, JOINED),
        Message(*to, "SyncGroup", None, JOINED, JOINED + L),
        Message(*back, "SyncGroup", "NONE", JOINED + L, ASSIGNED),
    )


def crashed(protocol: RebalanceProtocol) -> tuple[Timeline, int, int]:
    """The third of three members dies; when the others hear of the rebalance, and when they have their plan."""
    expired_ms = last_beat_arrived(31_000) + SESSION
    heard_ms = beat_after(expired_ms) + RTT
    return played(scenario(6, members("a", "b", "c"), {31_000: Crash("c")}), protocol), heard_ms, heard_ms + 2 * RTT


@BOTH
def test_a_crash_is_noticed_when_the_session_ends_and_its_partitions_wait_so_long(protocol: RebalanceProtocol) -> None:
    story, _, planned_ms = crashed(protocol)
    orphans = [number for number, owner in holders(story, 30_999).items() if owner == "c"]
    assert len(orphans) == 2
    assert {number: downtime(story)[number] for number in orphans} == dict.fromkeys(orphans, planned_ms - 31_000)
    assert lane(story, "c")[-1] == ("down", 31_000, story.end_ms)
    assert story.unsettled is None


def test_after_a_crash_eager_members_stop_and_cooperative_ones_go_on() -> None:
    eager, heard_ms, planned_ms = crashed(EAGER)
    cooperative = crashed(COOPERATIVE)[0]
    kept = [number for number, owner in holders(eager, 30_999).items() if owner != "c"]
    assert [downtime(eager)[number] for number in kept] == [planned_ms - heard_ms] * 4
    assert lane(eager, "a")[2] == ("paused", heard_ms, planned_ms)
    kept = [number for number, owner in holders(cooperative, 30_999).items() if owner != "c"]
    assert [downtime(cooperative)[number] for number in kept] == [0] * 4
    assert lane(cooperative, "a")[2] == ("rejoining", heard_ms, planned_ms)
    assert [call for call in calls(cooperative, "a") if call[0] > ASSIGNED] == [(planned_ms, "onPartitionsAssigned", 1)]


@BOTH
def test_a_leave_is_noticed_at_once(protocol: RebalanceProtocol) -> None:
    story = played(scenario(2, members("a", "b"), {31_000: Leave("b")}), protocol)
    planned_ms = beat_after(31_000 + L) + RTT + 2 * RTT
    orphan = next(number for number, owner in holders(story, 30_999).items() if owner == "b")
    assert downtime(story)[orphan] == planned_ms - 31_000
    assert calls(story, "b")[-1] == (31_000, "onPartitionsRevoked", 1)


def test_a_newcomer_stops_an_eager_group_for_two_round_trips() -> None:
    story = played(scenario(4, members("a", "b"), {31_000: Join(members("c")[0])}), EAGER)
    heard_ms = beat_after(31_000 + FOUND + RTT + L) + RTT
    assert downtime(story) == dict.fromkeys(range(4), 2 * RTT)
    assert lane(story, "a")[2] == ("paused", heard_ms, heard_ms + 2 * RTT)
    assert summarize(story).longest_pause_ms == 2 * RTT


def test_a_newcomer_costs_a_cooperative_group_what_moves_and_that_for_a_heartbeat_interval() -> None:
    """The loser revokes and rejoins at once; the others hear of it at their next heartbeat, whose phase is new."""
    story = played(scenario(4, members("a", "b"), {31_000: Join(members("c")[0])}), COOPERATIVE)
    heard_ms = beat_after(31_000 + FOUND + RTT + L) + RTT
    joined_ms, revoked_ms = heard_ms + RTT, heard_ms + 2 * RTT
    gained_ms = joined_ms + HEARTBEAT + RTT + 2 * RTT
    moved = [call.partitions for call in story.callbacks if call.at_ms == revoked_ms and "Revoked" in call.name]
    assert moved in [[t(number)] for number in range(4)]
    assert downtime(story) == {number: gained_ms - revoked_ms if t(number) == moved[0] else 0 for number in range(4)}
    assert (summarize(story).rebalances, summarize(story).moved, summarize(story).paused_ms) == (3, 1, 0)


def test_one_busy_member_stops_the_world_for_forty_seconds() -> None:
    """The join phase of an eager group ends when the last member polls."""
    heard_ms = beat_after(31_000 + FOUND + RTT + L) + RTT
    polls_ms = heard_ms + 40_000 - 2 * RTT
    slow = {30_000: Freeze("b"), 31_000: Join(members("c")[0]), polls_ms: Resume("b")}
    story = played(scenario(4, members("a", "b"), slow), EAGER)
    assert lane(story, "a")[2] == ("paused", heard_ms, heard_ms + 40_000)
    assert lane(story, "b")[2:4] == [("stalled", 30_000, polls_ms), ("paused", polls_ms, heard_ms + 40_000)]
    assert summarize(story).longest_pause_ms == 40_000


def test_the_same_busy_member_stops_only_its_own_partitions_of_a_cooperative_group() -> None:
    """Both of its partitions for the 41 s in which it does not poll; one of them moves after that."""
    slow = {30_000: Freeze("b"), 31_000: Join(members("c")[0]), 71_000: Resume("b")}
    story = played(scenario(4, members("a", "b"), slow), COOPERATIVE)
    assert summarize(story).paused_ms == 0
    assert downtime(story) == {0: 0, 1: 41_000, 2: 0, 3: 44_040}


@BOTH
def test_work_beyond_max_poll_interval_leaves_the_group_and_goes_on_as_a_zombie(protocol: RebalanceProtocol) -> None:
    limit = 60_000
    slow = {30_000: Freeze("b"), 100_000: Resume("b")}
    story = played(scenario(2, members("a", "b"), slow, QUICK | {"max.poll.interval.ms": limit}), protocol)
    left = [message.sent_ms for message in story.messages if message[:3] == ("b", "coordinator", "LeaveGroup")]
    assert left == [30_000 + limit]
    assert lane(story, "b")[2:4] == [("stalled", 30_000, left[0]), ("zombie", left[0], 100_000)]
    assert calls(story, "b")[1] == (100_000, "onPartitionsLost", 1)
    assert holders(story, 99_999) == {0: "a", 1: "a"}
    assert list(holders(story, 99_999, Hold.ZOMBIE).values()) == ["b"]
    assert story.unsettled is None


def test_a_static_member_that_is_busy_too_long_keeps_its_place_for_a_further_session() -> None:
    limit = 60_000
    story = played(
        scenario(2, members("a", "b", static=True), {30_000: Freeze("b")}, QUICK | {"max.poll.interval.ms": limit}),
        EAGER,
    )
    silent_ms = last_beat_arrived_of_static(30_000 + limit)
    gone_ms = next(span.start_ms for span in story.group if span.state == "PreparingRebalance" and span.generation)
    assert not [message for message in story.messages if message.kind == "LeaveGroup"]
    assert gone_ms == silent_ms + SESSION


def last_beat_arrived_of_static(before_ms: int) -> int:
    """Static members join in one step: their beats are a round trip earlier."""
    return last_beat_arrived(before_ms + RTT) - RTT


@BOTH
def test_processing_that_always_takes_too_long_never_comes_to_rest(protocol: RebalanceProtocol) -> None:
    slow = QUICK | {"max.poll.interval.ms": 60_000, "simulated.processing.ms": 80_000}
    story = played(scenario(1, members("a"), {}, slow), protocol)
    assert story.unsettled == "a processes for longer than max.poll.interval.ms"
    starts = [ms for ms, name, _ in calls(story, "a") if name == "onPartitionsAssigned"][:3]
    lost = [ms for ms, name, _ in calls(story, "a") if name == "onPartitionsLost"][:3]
    assert [end - start for start, end in zip(starts, lost, strict=True)] == [80_000] * 3


def test_a_busy_cooperative_member_is_expelled_while_the_reply_to_its_join_waits() -> None:
    """Its heartbeats rest until it has seen that reply, in poll: with batches longer than a session it gets no rest.

    Eager members poll for it, as they have nothing to process.
    """
    busy = QUICK | {"simulated.processing.ms": SESSION + 5_000}
    story = scenario(2, members("a"), {31_000: Join(members("b")[0])}, busy)
    assert "zombie" in {state for state, _, _ in lane(played(story, COOPERATIVE), "a")}
    assert "zombie" not in {state for state, _, _ in lane(played(story, EAGER), "a")}


@BOTH
def test_a_static_member_that_restarts_in_time_costs_its_own_partitions_the_restart(
    protocol: RebalanceProtocol,
) -> None:
    story = played(scenario(2, members("a", "b", static=True), {31_000: Restart("b")}), protocol)
    own = next(number for number, owner in holders(story, 30_999).items() if owner == "b")
    assert summarize(story).rebalances == 1
    assert downtime(story) == {own: 5_000 + 3 * RTT, 1 - own: 0}


@BOTH
def test_a_static_member_that_restarts_too_late_costs_two_rebalances(protocol: RebalanceProtocol) -> None:
    late = QUICK | {"simulated.restart.ms": SESSION + HEARTBEAT}
    story = played(scenario(2, members("a", "b", static=True), {31_000: Restart("b")}, late), protocol)
    gone_ms = last_beat_arrived_of_static(31_000) + SESSION
    begins = [span.start_ms for span in story.group if span.state == "PreparingRebalance"]
    assert begins[1:3] == [gone_ms, 31_000 + SESSION + HEARTBEAT + RTT + L]


@BOTH
def test_a_dynamic_member_that_restarts_leaves_and_joins(protocol: RebalanceProtocol) -> None:
    story = played(scenario(2, members("a", "b"), {31_000: Restart("b")}), protocol)
    assert summarize(story).rebalances >= 3
    assert [plan.cause for plan in story.plans][:2] == ["first assignment", "restart b"]


@BOTH
def test_a_stopped_process_is_expelled_and_a_zombie_until_its_heartbeat_is_refused(
    protocol: RebalanceProtocol,
) -> None:
    """It has heard nothing for a session, so it looks for the coordinator first."""
    stop = {31_000: Freeze("b"), 61_000: Resume("b")}
    story = played(scenario(2, members("a", "b"), stop, QUICK | {"simulated.freeze": "process"}), protocol)
    assert lane(story, "b")[2:4] == [("frozen", 31_000, 61_000), ("zombie", 61_000, 61_000 + 2 * RTT)]
    assert calls(story, "b")[1] == (61_000 + 2 * RTT, "onPartitionsLost", 1)
    own = next(number for number, owner in holders(story, 30_999).items() if owner == "b")
    planned_ms = beat_after(last_beat_arrived(31_000) + SESSION) + RTT + 2 * RTT
    assert holders(story, planned_ms)[own] == "a"
    assert downtime(story)[own] >= planned_ms - 31_000


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
def test_a_process_that_is_frozen_within_its_session_consumes_nothing_until_it_resumes(
    protocol: RebalanceProtocol,
) -> None:
    patient = {**QUICK, "session.timeout.ms": 400_000}
    story = played(scenario(4, members("a", "b"), {60_000: Freeze("a"), 360_000: Resume("a")}, patient), protocol)
    assert sorted(downtime(story).values()) == [0, 0, 300_000, 300_000]


@BOTH
def test_a_short_pause_of_the_garbage_collector_goes_unnoticed(protocol: RebalanceProtocol) -> None:
    pause = {31_000: Freeze("b"), 31_000 + SESSION - HEARTBEAT - 1_000: Resume("b")}
    story = played(scenario(2, members("a", "b"), pause, QUICK | {"simulated.freeze": "process"}), protocol)
    own = next(number for number, owner in holders(story, 30_999).items() if owner == "b")
    assert summarize(story).rebalances == 1
    assert downtime(story) == {own: SESSION - HEARTBEAT - 1_000, 1 - own: 0}


@BOTH
def test_consuming_goes_on_while_there_is_no_coordinator(protocol: RebalanceProtocol) -> None:
    story = played(scenario(2, members("a", "b"), {31_000: CoordinatorDown(), 51_000: CoordinatorUp()}), protocol)
    assert [(span.state, span.start_ms) for span in story.group[-2:]] == [
        ("no coordinator", 31_000),
        ("Stable", 51_500),
    ]
    assert (summarize(story).rebalances, summarize(story).down_ms, story.unsettled) == (1, 0, None)
    assert {message.error for message in story.messages if message.kind == "FindCoordinator" and message.error} == {
        "NONE",
        "COORDINATOR_NOT_AVAILABLE",
    }


@BOTH
def test_a_member_that_dies_with_the_coordinator_costs_a_fresh_session(protocol: RebalanceProtocol) -> None:
    events = {31_000: CoordinatorDown(), 31_001: Crash("b"), 51_000: CoordinatorUp()}
    story = played(scenario(2, members("a", "b"), events), protocol)
    again = next(span for span in story.group if span.state == "PreparingRebalance" and span.start_ms > 51_000)
    assert again.start_ms == 51_000 + 500 + SESSION


def test_a_coordinator_that_never_comes_back_is_reported() -> None:
    story = played(scenario(1, members("a"), {31_000: CoordinatorDown()}), EAGER)
    assert story.unsettled == "there is no coordinator"


@BOTH
def test_growth_is_noticed_by_the_leader_when_its_metadata_are_old(protocol: RebalanceProtocol) -> None:
    age = 120_000
    story = played(
        scenario(2, members("a", "b"), {31_000: AddPartitions("t", 4)}, QUICK | {"metadata.max.age.ms": age}), protocol
    )
    again = next(span for span in story.group if span.state == "PreparingRebalance" and span.generation)
    assert again.start_ms == age + L
    assert set(holders(story, story.end_ms - 1)) == {0, 1, 2, 3}


def test_a_missing_topic_is_asked_for_every_second() -> None:
    reader = Member("a", topics=("t", "u"))
    story = played(scenario(1, [reader], {31_500: CreateTopic(Topic("u", 1))}), EAGER)
    again = next(span for span in story.group if span.state == "PreparingRebalance" and span.generation)
    assert again.start_ms == 32_000 + L
    assert {row.partition for row in story.ownership if row.hold is Hold.OWNED} == {
        *t(0),
        TopicPartition("u", 0),
    }


def test_a_deleted_topic_is_noticed_by_the_leader_that_reads_it() -> None:
    story = played(scenario(1, members("a"), {31_000: DeleteTopic("t")}), EAGER)
    assert calls(story, "a")[1:] == [
        (31_100, "onPartitionsRevoked", 1),
        (31_100 + 2 * RTT, "onPartitionsAssigned", 0),
    ]
    assert [row.end_ms for row in story.ownership] == [ASSIGNED, 31_000]


@BOTH
def test_a_new_subscription_is_sent_at_the_next_poll(protocol: RebalanceProtocol) -> None:
    group = (Member("a", topics=("t",)), Member("b", topics=("t",)))
    story = played(scenario(2, group, {31_000: Subscribe("b", ())}), protocol)
    assert calls(story, "b")[-1] == (31_000, "onPartitionsRevoked", 1)
    assert lane(story, "b")[-1][0] == "joining"
    assert holders(story, story.end_ms - 1) == {0: "a", 1: "a"}
    assert story.unsettled is None


def test_a_group_that_is_full_refuses_the_newcomer() -> None:
    full = QUICK | {"group.max.size": 1}
    story = played(scenario(1, members("a"), {31_000: Join(members("b")[0])}, full), EAGER)
    assert [(failure.member, failure.error) for failure in story.failures] == [("b", "GROUP_MAX_SIZE_REACHED")]
    assert lane(story, "b")[-1][0] == "failed"
    assert (summarize(story).rebalances, story.unsettled) == (1, None)


def test_static_members_that_all_change_their_assignor_at_once_are_refused() -> None:
    story = played(scenario(2, members("a", "b", static=True), {31_000: UseAssignor("roundrobin")}), EAGER)
    assert {failure.error for failure in story.failures} == {"INCONSISTENT_GROUP_PROTOCOL"}


def test_dynamic_members_that_change_their_assignor_start_over() -> None:
    story = played(scenario(2, members("a", "b"), {31_000: UseAssignor("range")}), EAGER)
    assert [(plan.assignor, len(plan.members)) for plan in story.plans] == [("sticky", 2), ("sticky", 0), ("range", 2)]


@BOTH
def test_a_group_that_exists_already_goes_on_without_a_rebalance(protocol: RebalanceProtocol) -> None:
    group = (Member("a", topics=("t",), owned=t(0), generation=7), Member("b", topics=("t",), owned=t(1)))
    story = played(scenario(2, group, {31_000: Leave("b")}), protocol)
    assert holders(story, 0) == {0: "a", 1: "b"}
    assert [plan.generation for plan in story.plans] == [7, 8]
    assert [plan.cause for plan in story.plans] == ["initial state", "leave b"]


def test_what_cannot_happen_is_reported_with_its_event() -> None:
    with pytest.raises(AssignorError, match=r"Event 1 at 5 s \(resume a\): 'a' is not frozen"):
        played(scenario(1, members("a"), {5_000: Resume("a")}), EAGER)
    with pytest.raises(AssignorError, match=r"Event 1 at 5 s \(crash z\): No member is named 'z'"):
        played(scenario(1, members("a"), {5_000: Crash("z")}), EAGER)


SPREAD = {name: value for name, value in QUICK.items() if name != "simulated.heartbeat.spread.ms"}


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
def test_heartbeats_of_members_that_joined_together_are_spread_over_the_interval_by_the_seed(
    protocol: RebalanceProtocol,
) -> None:
    story = scenario(4, members("a", "b", "c", "d"), {60_000: Crash("a")}, SPREAD)
    interval_ms = HEARTBEAT if protocol is not CONSUMER else 5_000
    seen = set()
    for seed in range(4):
        timeline = played(story, protocol, seed=seed)
        beats = {its.source: its.sent_ms for its in timeline.messages if 40_000 <= its.sent_ms < 60_000}
        phases = {at_ms % interval_ms for name, at_ms in beats.items() if name != "coordinator"}
        assert len(phases) == 4
        seen |= phases
    assert len(seen) == 16


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
def test_after_a_crash_the_last_member_hears_of_the_rebalance_up_to_a_heartbeat_later(
    protocol: RebalanceProtocol,
) -> None:
    story = scenario(4, members("a", "b", "c", "d"), {60_000: Crash("a")}, SPREAD)
    down = [max(downtime(played(story, protocol, seed=seed)).values()) for seed in range(12)]
    assert all(SESSION - HEARTBEAT < ms <= SESSION + HEARTBEAT + 4 * RTT for ms in down)
    together = max(downtime(played(scenario(4, story.members, {60_000: Crash("a")}), protocol)).values())
    assert max(down) > together + HEARTBEAT // 2


def test_the_same_seed_gives_the_same_timeline_and_another_one_other_phases() -> None:
    story = scenario(4, members("a", "b"), {31_000: Join(members("c")[0]), 50_000: Crash("a")})
    assert played(story, COOPERATIVE, seed=3) == played(story, COOPERATIVE, seed=3)
    group = (Member("a", topics=("t",), owned=t(0, 1, 2, 3)),)
    runs = [played(scenario(4, group, {}), EAGER, seed=seed, until_ms=HEARTBEAT) for seed in range(5)]
    beats = {run.messages[0].sent_ms for run in runs}
    assert len(beats) == 5
    assert max(beats) < HEARTBEAT
