"""Faults of the network and of single processes, to the millisecond: splits, pauses, slow members."""

import pytest

from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.simulation import kernel as kernels
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Hold, Timeline
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    CreateTopic,
    Freeze,
    GcPause,
    Heal,
    Join,
    Restart,
    Resume,
    Slow,
    Split,
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
)

CLASSIC = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
EVERY = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
SPLIT = 31_000
LAST_BEAT = JOINED + HEARTBEAT * ((SPLIT - JOINED) // HEARTBEAT)
"""Of a classic member, before the split."""
KIP848_SESSION, KIP848_HEARTBEAT = 45_000, 5_000


def own(story: Timeline, member: str) -> int:
    """The partition that this member has before the fault."""
    return next(number for number, owner in holders(story, SPLIT - 1).items() if owner == member)


@CLASSIC
def test_a_split_member_is_out_when_its_session_ends_and_goes_on_as_a_zombie(protocol: RebalanceProtocol) -> None:
    """It hears of it with its first heartbeat after the split."""
    out_ms = LAST_BEAT + L + SESSION
    story = played(scenario(2, members("a", "b"), {SPLIT: Split("b"), out_ms + 1_000: Heal("b")}), protocol)
    reported_ms = next(at for at in range(JOINED, story.end_ms, HEARTBEAT) if at > out_ms + 1_000 + FOUND) + RTT
    assert lane(story, "b")[2:4] == [("split", SPLIT, out_ms), ("zombie", out_ms, reported_ms)]
    assert calls(story, "b")[1] == (reported_ms, "onPartitionsLost", 1)
    assert story.unsettled is None
    assert set(holders(story, story.end_ms - 1).values()) == {"a", "b"}


def test_a_split_kip_848_member_hears_of_it_as_soon_as_it_is_through() -> None:
    joined_ms = FOUND + RTT
    last_ms = joined_ms + KIP848_HEARTBEAT * ((SPLIT - joined_ms) // KIP848_HEARTBEAT) + L
    out_ms, healed_ms = last_ms + KIP848_SESSION, 91_000
    story = played(scenario(1, members("a", "b"), {SPLIT: Split("a"), healed_ms: Heal("a")}), CONSUMER)
    reported_ms = healed_ms + FOUND + RTT
    assert lane(story, "a")[1:4] == [
        ("consuming", joined_ms, SPLIT),
        ("split", SPLIT, out_ms),
        ("zombie", out_ms, reported_ms),
    ]
    assert calls(story, "a")[1] == (reported_ms, "onPartitionsLost", 1)
    assert (holders(story, healed_ms), holders(story, healed_ms, Hold.ZOMBIE)) == ({0: "b"}, {0: "a"})
    assert story.unsettled is None


@EVERY
def test_a_split_that_heals_within_the_session_costs_lost_messages_and_nothing_else(
    protocol: RebalanceProtocol,
) -> None:
    story = played(scenario(2, members("a", "b"), {61_000: Split("b"), 66_000: Heal("b")}), protocol)
    without = played(scenario(2, members("a", "b"), {}), protocol, until_ms=story.end_ms)
    assert summarize(story).rebalances == summarize(without).rebalances
    assert downtime(story) == downtime(without)
    lost = {message.kind for message in story.messages if message.arrived_ms is None}
    assert lost == {"ConsumerGroupHeartbeat" if protocol is CONSUMER else "Heartbeat"}


@EVERY
def test_a_split_that_never_heals_leaves_a_zombie_and_a_group_at_rest(protocol: RebalanceProtocol) -> None:
    story = played(scenario(1, members("a", "b"), {61_000: Split(holder(protocol))}), protocol)
    assert story.unsettled is None
    assert lane(story, holder(protocol))[-1][0] == "zombie"
    end_ms = story.end_ms - 1
    assert holders(story, end_ms, Hold.ZOMBIE) == {0: holder(protocol)}
    assert holders(story, end_ms) == {0: "b" if holder(protocol) == "a" else "a"}


def holder(protocol: RebalanceProtocol) -> str:
    """Who gets the only partition of two members."""
    (owner,) = holders(played(scenario(1, members("a", "b"), {}), protocol, until_ms=60_000), 59_000).values()
    return owner or ""


@EVERY
def test_a_join_that_was_lost_is_sent_again_when_the_split_heals(protocol: RebalanceProtocol) -> None:
    events = {31_000: Join(members("c")[0]), 31_000 + FOUND - L: Split("c"), 50_000: Heal("c")}
    story = played(scenario(3, members("a", "b"), events), protocol)
    assert lane(story, "c")[:2] == [("joining", 31_000, 31_010), ("split", 31_010, 50_000)]
    assert story.unsettled is None
    assert sorted(map(str, holders(story, story.end_ms - 1).values())) == ["a", "b", "c"]


@CLASSIC
def test_a_pause_beyond_the_session_expels_and_a_shorter_one_does_not(protocol: RebalanceProtocol) -> None:
    short = played(scenario(2, members("a", "b"), {31_000: GcPause("b", SESSION - HEARTBEAT)}), protocol)
    assert lane(short, "b")[1:] == [
        ("consuming", ASSIGNED, 31_000),
        ("frozen", 31_000, 31_000 + SESSION - HEARTBEAT),
        ("consuming", 31_000 + SESSION - HEARTBEAT, short.end_ms),
    ]
    assert downtime(short) == {own(short, "b"): SESSION - HEARTBEAT, own(short, "a"): 0}
    long = played(scenario(2, members("a", "b"), {31_000: GcPause("b", 30_000)}), protocol)
    assert lane(long, "b")[2:4] == [("frozen", 31_000, 61_000), ("zombie", 61_000, 61_000 + FOUND + RTT)]
    assert long.unsettled is None


def test_nothing_else_happens_to_a_process_that_stands_still() -> None:
    with pytest.raises(AssignorError, match=r"Event 2 at 32 s \(slow a\): 'a' is paused until 36s\."):
        played(scenario(1, members("a"), {31_000: GcPause("a", 5_000), 32_000: Slow("a", 1_000)}), EAGER)
    with pytest.raises(AssignorError, match=r"Event 1 at 5 s \(heal a\): 'a' is not cut off\."):
        played(scenario(1, members("a"), {5_000: Heal("a")}), EAGER)


@EVERY
@pytest.mark.parametrize(
    ("what", "title", "state"),
    [
        (Freeze("a"), "freeze a", "stalled"),
        (GcPause("a", 60_000), "gc pause a", "frozen"),
        (Restart("a"), "restart a", "down"),
    ],
)
def test_a_process_that_is_down_cannot_stand_still_or_be_restarted(
    protocol: RebalanceProtocol, what: Action, title: str, state: str
) -> None:
    """It restarts until 25 s."""
    with pytest.raises(AssignorError) as refused:
        played(scenario(1, members("a", "b"), {20_000: Restart("a"), 22_000: what}), protocol)
    assert str(refused.value) == (
        f"Event 2 at 22 s ({title}): member 'a' is down at this time. Move this event to a later time."
    )
    later = played(scenario(1, members("a", "b"), {20_000: Restart("a"), 25_001: what}), protocol, until_ms=26_000)
    assert lane(later, "a")[-1] == (state, 25_001, 26_000)


@EVERY
@pytest.mark.parametrize("frozen", ["polling", "process"])
@pytest.mark.parametrize(("what", "title"), [(Freeze("a"), "freeze a"), (GcPause("a", 1_000), "gc pause a")])
def test_a_frozen_process_cannot_stand_still_once_more(
    protocol: RebalanceProtocol, frozen: str, what: Action, title: str
) -> None:
    """The end of the pause would resume it."""
    story = scenario(1, members("a"), {20_000: Freeze("a"), 22_000: what}, QUICK | {"simulated.freeze": frozen})
    with pytest.raises(AssignorError) as refused:
        played(story, protocol)
    assert str(refused.value) == (f"Event 2 at 22 s ({title}): 'a' is frozen. Resume it first.")


@EVERY
@pytest.mark.parametrize("resumed_ms", [23_000, 30_000])
def test_a_change_of_the_assignor_ends_a_freeze(protocol: RebalanceProtocol, resumed_ms: int) -> None:
    """The process restarts until 27 s, and has nothing to resume."""
    events = {20_000: Freeze("a"), 22_000: UseAssignor("roundrobin"), resumed_ms: Resume("a")}
    story = played(scenario(1, members("a"), events), protocol)
    assert story.unsettled is None
    assert [state for state, start_ms, _ in lane(story, "a") if start_ms > 22_000][-1] == "consuming"


@EVERY
def test_retries_that_take_no_time_end_the_story_and_are_reported(
    protocol: RebalanceProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS_AT_ONCE", 1_000)
    timeless = {"retry.backoff.ms": 0, "simulated.latency.ms": 0}
    events = {20_000: CoordinatorDown(), 21_000: CoordinatorUp()}
    timeline = played(scenario(2, members("a"), events, timeless), protocol)
    assert timeline.unsettled == (
        "more than 1,000 events in the millisecond at 20.000 s, so time does not advance; "
        "raise simulated.latency.ms or retry.backoff.ms above 0"
    )
    assert (timeline.end_ms, holders(timeline, 19_999)) == (20_000, {0: "a", 1: "a"})


@EVERY
def test_a_group_that_may_wait_for_weeks_is_not_played_for_weeks(
    protocol: RebalanceProtocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "MOST_EVENTS", 3_000)
    patient = QUICK | {"max.poll.interval.ms": 2_147_483_647}
    timeline = played(scenario(2, members("a", "b"), {31_000: Freeze("b")}, patient), protocol)
    seconds = f"{timeline.end_ms / 1000:,.3f} s"
    assert timeline.unsettled == (
        f"more than 3,000 events by {seconds}, and the rest is not simulated; "
        "use fewer members, longer heartbeats, or a shorter max.poll.interval.ms"
    )
    assert 1_000 < len(timeline.messages) <= 3_000


def test_one_slow_member_holds_an_eager_rebalance_until_its_next_poll() -> None:
    events = {31_000: Slow("b", 8_000), 32_000: Join(members("c")[0])}
    story = played(scenario(3, members("a", "b"), events), EAGER)
    waiting = [span for span in story.group if span.state == "PreparingRebalance"][-1]
    assert waiting.end_ms == 31_000 + 8_000 + L
    assert calls(story, "b")[1] == (31_000 + 8_000, "onPartitionsRevoked", 1)


@EVERY
def test_a_member_that_becomes_too_slow_comes_and_goes_until_it_is_fast_again(protocol: RebalanceProtocol) -> None:
    limit = QUICK | {"max.poll.interval.ms": 60_000}
    timeline = played(scenario(2, members("a", "b"), {31_000: Slow("b", 80_000)}, limit), protocol)
    assert timeline.unsettled == "b processes for longer than max.poll.interval.ms"
    fixed = {31_000: Slow("b", 80_000), 200_000: Slow("b", 0)}
    assert played(scenario(2, members("a", "b"), fixed, limit), protocol).unsettled is None


def test_a_cooperative_member_slower_than_its_session_is_out_when_it_syncs_and_gives_up_a_poll_later() -> None:
    """It keeps its partitions while it joins, so each poll gives records, and each answer is looked at 12 s later.

    As the Java client of 4.3.1 does on a real broker: `resetStateAndRejoin` lets onJoinPrepare be called once more.
    """
    events = {31_000: Slow("a", 12_000), 32_000: AddPartitions("t", 4)}
    story = played(scenario(2, members("a"), events, QUICK | {"metadata.max.age.ms": 30_000}), COOPERATIVE)
    joins_ms = 31_000 + 3 * 12_000
    out_ms, syncs_ms, gives_up_ms = joins_ms + L + SESSION, joins_ms + 12_000, joins_ms + 24_000
    answer = next(each for each in story.messages if each.sent_ms == syncs_ms + L and each.kind == "SyncGroup")
    assert answer.error == "UNKNOWN_MEMBER_ID"
    assert lane(story, "a")[1:5] == [
        ("consuming", ASSIGNED, joins_ms),
        ("rejoining", joins_ms, out_ms),
        ("zombie", out_ms, gives_up_ms),
        ("paused", gives_up_ms, gives_up_ms + 3 * RTT),
    ]
    assert calls(story, "a")[1:] == [
        (gives_up_ms, "onPartitionsLost", 2),
        (gives_up_ms + 3 * RTT, "onPartitionsAssigned", 4),
    ]
    assert story.unsettled is None


def test_a_sync_that_another_rebalance_overtakes_costs_no_partition() -> None:
    """REBALANCE_IN_PROGRESS: the member joins again with the generation and the partitions that it has."""
    events = {31_000: Slow("b", 4_000), 32_000: Join(members("c")[0])}
    story = played(scenario(6, members("a", "b"), events), COOPERATIVE)
    syncs = [each.error for each in story.messages if (each.kind, each.target) == ("SyncGroup", "b")]
    assert syncs == ["NONE", "REBALANCE_IN_PROGRESS", "NONE", "NONE"]
    assert {state for state, *_ in lane(story, "b")} == {"joining", "consuming", "rejoining"}
    assert [call for call in calls(story, "b") if call[2]] == [
        (ASSIGNED, "onPartitionsAssigned", 3),
        (31_000 + 5 * 4_000, "onPartitionsRevoked", 1),
    ]


@EVERY
def test_a_story_goes_on_until_a_healed_member_has_heard_that_the_group_went_on(protocol: RebalanceProtocol) -> None:
    """It has nothing to lose, and says nothing before its next heartbeat."""
    events = {SPLIT: Split("b"), 151_000: Heal("b")}
    story = played(scenario(1, members("a", "b"), events, QUICK | {"heartbeat.interval.ms": 9_000}), protocol)
    assert {owner for at_ms in (SPLIT, 151_000) for owner in holders(story, at_ms).values()} == {"a"}
    assert story.unsettled is None
    assert {span.generation for span in story.spans if span.end_ms == story.end_ms} == {story.group[-1].generation}


@pytest.mark.parametrize(
    ("protocol", "late", "sleeps_ms", "lasts_ms"),
    [
        (EAGER, "b", JOINED + 1, 30_000),
        (COOPERATIVE, "b", JOINED + 1, 30_000),
        (CONSUMER, "a", FOUND + 1, KIP848_SESSION + 15_000),
    ],
)
@pytest.mark.parametrize("is_down", [False, True], ids=["", "while there is no coordinator"])
def test_a_member_that_reads_its_assignment_long_after_its_removal_consumes_as_a_zombie(
    protocol: RebalanceProtocol, late: str, sleeps_ms: int, lasts_ms: int, is_down: bool
) -> None:
    wakes_ms = sleeps_ms + lasts_ms
    failure = {wakes_ms - 1000: CoordinatorDown(), wakes_ms + 1000: CoordinatorUp()} if is_down else {}
    story = played(scenario(2, members("a", "b"), {sleeps_ms: GcPause(late, lasts_ms), **failure}), protocol)
    assert late in holders(story, wakes_ms + 1, Hold.ZOMBIE).values()
    assert late not in holders(story, wakes_ms + 1).values()
    assert "onPartitionsLost" in [name for _, name, _ in calls(story, late)]


@CLASSIC
def test_a_static_member_that_misses_a_rebalance_is_a_zombie_from_then_on(protocol: RebalanceProtocol) -> None:
    """Kafka keeps it in the group (KIP-345); others get what it holds before its own max.poll.interval.ms ends."""
    settings = QUICK | {"max.poll.interval.ms": 21_000, "simulated.freeze": "polling"}
    events = {SPLIT: Join(Member("b", topics=("t",))), SPLIT + 500: Freeze("a")}
    story = played(scenario(2, members("a", static=True), events, settings), protocol)
    planned_ms = story.plans[1].at_ms
    assert SPLIT + 21_000 < planned_ms < SPLIT + 21_500
    assert set(holders(story, planned_ms - 1, Hold.STALLED).values()) == {"a"}
    assert set(holders(story, planned_ms, Hold.ZOMBIE).values()) == {"a"}


@CLASSIC
def test_a_leader_plans_for_a_topic_that_came_while_it_stood_still_once_it_has_heard_of_it(
    protocol: RebalanceProtocol,
) -> None:
    """Two rebalances after its pause, which empties the group: it joins again, and then sees the topic."""
    events = {31_000: GcPause("a", 30_500), 32_000: CreateTopic(Topic("u", 1))}
    story = played(scenario(1, [Member("a", topics=("t", "u"))], events), protocol)
    has = [{who: sorted(tp.topic for tp in held) for who, held in plan.by_member.items()} for plan in story.plans]
    assert has == [{"a": ["t"]}, {}, {"a": ["t"]}, {"a": ["t", "u"]}]


@CLASSIC
def test_a_member_that_unsubscribes_while_it_syncs_waits_for_the_reply_for_thirty_seconds(
    protocol: RebalanceProtocol,
) -> None:
    """Kafka's coordinator forgets the sync of a member that leaves; the client asks nothing more meanwhile."""
    events = {JOINED + 100: Subscribe("b", (), None), 10_000: Subscribe("b", ("t",), None)}
    story = played(scenario(2, members("a", "b"), events, QUICK | {"simulated.append.ms": 300}), protocol)
    stated = [(each.kind, each.sent_ms) for each in story.messages if each.source == "b"]
    synced_ms = dict(reversed(stated))["SyncGroup"]
    assert synced_ms < JOINED + 100
    again_ms = next(sent_ms for kind, sent_ms in stated if kind == "JoinGroup" and sent_ms > 10_000)
    assert again_ms == synced_ms + 30_000 + FOUND
    assert set(holders(story, story.end_ms - 1).values()) == {"a", "b"}


@CLASSIC
def test_a_member_expelled_in_vain_owns_its_partitions_again(protocol: RebalanceProtocol) -> None:
    """The coordinator fails before it has written that the member is gone; the next one knows it as before."""
    out_ms, wakes_ms = LAST_BEAT + L + SESSION, SPLIT + 15_000
    events = {SPLIT: GcPause("a", 15_000), out_ms + 1000: CoordinatorDown(), out_ms + 2000: CoordinatorUp()}
    story = played(scenario(2, members("a"), events, QUICK | {"simulated.append.ms": 5_000}), protocol)
    assert set(holders(story, wakes_ms + 1, Hold.ZOMBIE).values()) == {"a"}
    assert set(holders(story, story.end_ms - 1).values()) == {"a"}
    assert story.unsettled is None


@pytest.mark.parametrize("comes_back_ms", [None, FOUND + L + 100, 5_000])
def test_a_member_that_unsubscribes_before_its_join_is_answered_takes_nothing_of_the_answer(
    comes_back_ms: int | None,
) -> None:
    events: dict[int, Action] = {FOUND + L: Subscribe("a", (), None)}
    events |= {} if comes_back_ms is None else {comes_back_ms: Subscribe("a", ("t",), None)}
    story = played(scenario(1, members("a"), events, QUICK | {"simulated.append.ms": 300}), CONSUMER)
    assert set(holders(story, FOUND + RTT + 300).values()) <= {None}
    assert set(holders(story, story.end_ms - 1).values()) == (set() if comes_back_ms is None else {"a"})
    assert story.group[-1].state == ("Empty" if comes_back_ms is None else "Stable")


def test_an_assignment_whose_reply_was_lost_is_sent_again() -> None:
    """It wakes, asks, and finds its connection broken; a heartbeat that says everything gets the assignment."""
    events = {
        SPLIT - 100: AddPartitions("t", 4),
        SPLIT: GcPause("a", 30_000),
        40_000: CoordinatorDown(),
        45_000: CoordinatorUp(),
    }
    settings = QUICK | {"simulated.append.ms": 100, "metadata.max.age.ms": 600_000}
    story = played(scenario(2, members("a"), events, settings), CONSUMER)
    assert None in [each.arrived_ms for each in story.messages if each.target == "a" and each.sent_ms > SPLIT]
    assert len(story.plans[-1].by_member["a"]) == 4
    assert story.unsettled is None
    assert set(holders(story, story.end_ms - 1).values()) == {"a"}


def test_what_a_loading_coordinator_has_refused_is_sent_again() -> None:
    """Kafka: an error resets what the consumer believes it has sent; the new subscription is in the next heartbeat."""
    events = {
        30_000: CreateTopic(Topic("u", 1)),
        31_000: CoordinatorDown(),
        32_000: Subscribe("a", ("t", "u"), None),
        33_000: CoordinatorUp(),
    }
    story = played(scenario(1, members("a"), events, QUICK | {"simulated.load.ms": 5_000}), CONSUMER)
    assert "COORDINATOR_LOAD_IN_PROGRESS" in [each.error for each in story.messages]
    held = {(row.partition, row.member) for row in story.ownership if row.end_ms == story.end_ms}
    assert held == {(TopicPartition("t", 0), "a"), (TopicPartition("u", 0), "a")}
