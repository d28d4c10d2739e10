"""The stories of the protocol lab: each plays to its end under every protocol, and shows what its sentence says."""

from functools import cache
from typing import Any

import pytest

from assignors.scenario import dump, load_scenario
from assignors.simulation.run import simulate
from assignors.simulation.settings import read
from assignors.simulation.stories import STORIES
from assignors.simulation.timeline.summary import Summary, summarize
from assignors.simulation.timeline.tables import MemberState, Timeline
from assignors.whatif.events import Resume, Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
CONSUMER = RebalanceProtocol.CONSUMER
CLASSIC = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
ALL = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
NAMES, PARTITIONS = ("c1", "c2", "c3"), 6
HAPPENS_MS = 10_000
"""The time of the first event."""
SESSION_MS, RESTART_MS = 45_000, 5_000
RTT_MS, APPEND_MS, PLAN_MS = 2, 5, 1
PLANNED_MS = RTT_MS + RTT_MS + PLAN_MS + APPEND_MS
"""A JoinGroup and a SyncGroup with its plan, once all are there."""


@cache
def simulated(name: str, protocol: RebalanceProtocol) -> tuple[Timeline, Summary]:
    timeline = simulate(STORIES[name], read(STORIES[name].protocol), protocol)
    return timeline, summarize(timeline)


def down(name: str, protocol: RebalanceProtocol) -> list[int]:
    return [partition.down_ms for partition in simulated(name, protocol)[1].downtime]


def last_beat_ms(timeline: Timeline, member: str, before_ms: int) -> int:
    """When the coordinator last heard of a member before that time."""
    asked = [its for its in timeline.messages if its.source == member and its.sent_ms <= before_ms and its.arrived_ms]
    return max(its.arrived_ms for its in asked if its.arrived_ms is not None)


def heard_ms(timeline: Timeline, member: str) -> int:
    """When a member learns that it has to rejoin."""
    return next(
        its.arrived_ms
        for its in timeline.messages
        if its.target == member and its.error == "REBALANCE_IN_PROGRESS" and its.arrived_ms is not None
    )


@ALL
@pytest.mark.parametrize("story", STORIES)
def test_every_story_comes_to_rest_with_every_partition_consumed(story: str, protocol: Any) -> None:
    timeline, _ = simulated(story, protocol)
    assert timeline.unsettled is None
    assert timeline.failures == ()
    held = {row.partition: row.hold for row in timeline.ownership if row.end_ms == timeline.end_ms}
    assert set(held.values()) == {"owned"}
    assert len(held) == (PARTITIONS + 3 if story in ("partitions", "new-topic", "pattern") else PARTITIONS)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_every_story_is_a_scenario_file(story: Scenario) -> None:
    assert load_scenario(dump(story)) == story
    assert story.description.endswith(".")


def test_a_join_stops_eager_members_until_the_last_has_heard_and_takes_one_partition_from_the_others() -> None:
    timeline, summary = simulated("join", EAGER)
    heard = [heard_ms(timeline, name) for name in NAMES]
    assert [pause.paused_ms for pause in summary.pauses] == [max(heard) - at + PLANNED_MS for at in heard] + [0]
    assert sum(1 for ms in down("join", COOPERATIVE) if ms) == 1
    assert sum(1 for ms in down("join", CONSUMER) if ms) == 1
    assert [simulated("join", protocol)[1].moved for protocol in (EAGER, COOPERATIVE, CONSUMER)] == [1, 1, 1]


@CLASSIC
def test_a_leave_takes_until_the_last_of_the_others_has_heard(protocol: Any) -> None:
    timeline, _ = simulated("leave", protocol)
    planned_ms = max(heard_ms(timeline, name) for name in NAMES[:2]) + PLANNED_MS
    assert down("leave", protocol)[4:] == [planned_ms - HAPPENS_MS] * 2


@CLASSIC
def test_a_crash_takes_the_rest_of_the_session_before_anybody_hears(protocol: Any) -> None:
    timeline, _ = simulated("crash", protocol)
    expired_ms = last_beat_ms(timeline, "c3", HAPPENS_MS) + SESSION_MS
    assert [phase.start_ms for phase in timeline.group if phase.state == "PreparingRebalance"] == [expired_ms]
    planned_ms = max(heard_ms(timeline, name) for name in NAMES[:2]) + PLANNED_MS
    assert down("crash", protocol)[4:] == [planned_ms - HAPPENS_MS] * 2


@ALL
def test_a_slow_member_leaves_after_max_poll_interval_and_works_on(protocol: Any) -> None:
    timeline, _ = simulated("slow", protocol)
    zombie = next(span for span in timeline.spans if span.state is MemberState.ZOMBIE)
    resumed_ms = next(event.at_ms for event in STORIES["slow"].events if isinstance(event.action, Resume))
    assert (zombie.member, zombie.end_ms) == ("c3", resumed_ms)
    stalled = next(span for span in timeline.spans if span.state is MemberState.STALLED)
    assert (stalled.start_ms, stalled.end_ms) == (HAPPENS_MS, HAPPENS_MS + 60_000)


@ALL
def test_a_frozen_process_is_out_when_its_session_ends_and_wakes_with_partitions_of_others(protocol: Any) -> None:
    timeline, _ = simulated("zombie", protocol)
    moved = [row for row in timeline.ownership if row.hold == "owned" and row.member != "c3"]
    overlap = [row for row in timeline.ownership if row.hold == "zombie"]
    assert {row.member for row in overlap} == {"c3"}
    assert all(any(mine.partition == row.partition for mine in moved) for row in overlap)
    assert not any(its.source == "c3" and HAPPENS_MS < its.sent_ms < HAPPENS_MS + 90_000 for its in timeline.messages)


@ALL
def test_a_static_restart_costs_its_own_partitions_the_restart_and_nothing_else(protocol: Any) -> None:
    _, summary = simulated("static", protocol)
    assert (summary.rebalances, summary.moved, summary.paused_ms) == (0, 0, 0)
    waits = down("static", protocol)
    assert waits[:4] == [0] * 4
    # FindCoordinator, and its join: a heartbeat of KIP-848, else JoinGroup, whose new id is written, and SyncGroup.
    joined_ms = 2 * RTT_MS + APPEND_MS if protocol is CONSUMER else 3 * RTT_MS + APPEND_MS
    assert waits[4:] == [RESTART_MS + joined_ms] * 2


@ALL
def test_a_rolling_restart_makes_two_rebalances_of_each_restart(protocol: Any) -> None:
    _, summary = simulated("rolling", protocol)
    hand_overs = len(NAMES) if protocol is COOPERATIVE else 0  # cooperative: gives up in one, takes in the next
    assert summary.rebalances == 2 * len(NAMES) + hand_overs
    assert summary.moved == 4 * len(NAMES)  # two go when it leaves, two when it is back


@ALL
def test_new_partitions_cost_cooperative_groups_nothing(protocol: Any) -> None:
    assert simulated("partitions", protocol)[1].rebalances == 1
    assert bool(sum(down("partitions", protocol))) is (protocol is EAGER)


@ALL
def test_consuming_goes_on_while_there_is_no_coordinator(protocol: Any) -> None:
    timeline, summary = simulated("failover", protocol)
    assert (summary.rebalances, summary.down_ms, summary.paused_ms) == (0, 0, 0)
    gone = [phase for phase in timeline.group if phase.state == "no coordinator"]
    load_ms = read(STORIES["failover"].protocol).assumed.load_ms
    assert [(phase.start_ms, phase.end_ms) for phase in gone] == [(HAPPENS_MS, HAPPENS_MS + 9_000 + load_ms)]


def test_one_long_batch_stops_all_eager_members_for_40_s_and_no_cooperative_one() -> None:
    timeline, summary = simulated("stop-the-world", EAGER)
    resumed_ms = HAPPENS_MS + 44_000
    first_ms = min(heard_ms(timeline, name) for name in NAMES[:2])
    assert summary.longest_pause_ms == resumed_ms - first_ms + PLANNED_MS >= 40_000
    for protocol in (COOPERATIVE, CONSUMER):
        assert simulated("stop-the-world", protocol)[1].paused_ms == 0


@CLASSIC
def test_a_pause_longer_than_the_session_costs_a_member_its_partitions(protocol: Any) -> None:
    timeline, summary = simulated("short-session", protocol)
    hand_over = protocol is COOPERATIVE  # gives up in one rebalance, takes in the next
    assert summary.rebalances == 2 + hand_over  # without it, and with it again
    assert summary.moved == 2 + 2
    ended = [span.end_ms for span in timeline.spans if span.state is MemberState.FROZEN]
    assert ended == [HAPPENS_MS + 8_000]
    expired_ms = last_beat_ms(timeline, "c3", HAPPENS_MS) + 6_000
    assert next(its.start_ms for its in timeline.group if its.state == "PreparingRebalance") == expired_ms


def test_a_short_session_of_the_client_means_nothing_to_kip_848() -> None:
    assert simulated("short-session", CONSUMER)[1].rebalances == 0


@ALL
@pytest.mark.parametrize("story", ["session-covers-a-pause", "long-job"])
def test_a_pause_that_the_timeouts_cover_costs_no_rebalance(story: str, protocol: Any) -> None:
    _, summary = simulated(story, protocol)
    assert (summary.rebalances, summary.moved, summary.paused_ms) == (0, 0, 0)


@CLASSIC
def test_a_session_of_five_minutes_lets_partitions_of_the_dead_wait_for_five_minutes(protocol: Any) -> None:
    timeline, _ = simulated("long-session", protocol)
    expired_ms = last_beat_ms(timeline, "c3", HAPPENS_MS) + 300_000
    assert [phase.start_ms for phase in timeline.group if phase.state == "PreparingRebalance"] == [expired_ms]
    assert min(down("long-session", protocol)[4:]) >= expired_ms - HAPPENS_MS


@ALL
def test_a_topic_that_comes_is_read_without_a_stop_of_cooperative_members(protocol: Any) -> None:
    timeline, summary = simulated("new-topic", protocol)
    assert (summary.rebalances, summary.moved) == (1, 0)
    of_topic = {str(row.partition) for row in timeline.ownership if row.hold == "owned"} - {
        f"orders-{n}" for n in range(6)
    }
    assert of_topic == {"returns-0", "returns-1", "returns-2"}
    stopped = [its.down_ms for its in summary.downtime if its.partition.topic == "orders" and its.down_ms]
    assert bool(stopped) is (protocol is EAGER)


@CLASSIC
def test_a_new_topic_that_matches_is_seen_with_the_members_own_metadata(protocol: Any) -> None:
    timeline, summary = simulated("pattern", protocol)
    assert (summary.rebalances, summary.moved) == (1, 0)
    asked = [its.sent_ms for its in timeline.messages if its.kind == "JoinGroup" and its.error is None]
    assert min(asked) == 30_000  # metadata.max.age.ms after the group's begin, and the first after the topic came


def test_the_broker_matches_the_pattern_of_kip_848() -> None:
    timeline, summary = simulated("pattern", CONSUMER)
    assert (summary.rebalances, summary.moved, summary.down_ms) == (1, 0, 0)
    noticed_ms = next(phase.start_ms for phase in timeline.group if phase.state == "Assigning")
    assert HAPPENS_MS < noticed_ms <= HAPPENS_MS + 5_000  # with the next heartbeat of any member


@CLASSIC
def test_a_member_that_is_split_off_works_on_while_others_own_its_partitions(protocol: Any) -> None:
    timeline, summary = simulated("split", protocol)
    hand_over = protocol is COOPERATIVE
    assert (summary.rebalances, summary.moved) == (2 + hand_over, 2 + 2)
    expired_ms = last_beat_ms(timeline, "c3", HAPPENS_MS) + SESSION_MS
    zombie = next(span for span in timeline.spans if span.state is MemberState.ZOMBIE)
    assert (zombie.member, zombie.start_ms) == ("c3", expired_ms)
    assert zombie.end_ms > HAPPENS_MS + 60_000
