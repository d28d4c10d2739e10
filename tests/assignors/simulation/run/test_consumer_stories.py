"""KIP-848 stories whose milliseconds follow from the rules."""

from itertools import pairwise

import pytest

from assignors.model import Member
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Hold, Message, Timeline
from assignors.whatif.events import (
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    Freeze,
    Join,
    Leave,
    Restart,
    Resume,
)
from tests.assignors.simulation.run.stories import (
    CONSUMER,
    FOUND,
    QUICK,
    RTT,
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

SESSION, HEARTBEAT = 45_000, 5_000
ASSIGNED = FOUND + RTT
"""One heartbeat is a join."""


def beat_after(at_ms: int, first_ms: int = ASSIGNED) -> int:
    """When a member sends its first heartbeat that arrives after that time; the last one that it had to send at once
    was at `first_ms`.
    """
    return first_ms + HEARTBEAT * (-(-(at_ms + 1 - L - first_ms) // HEARTBEAT))


def test_one_heartbeat_joins_and_another_one_acknowledges() -> None:
    story = played(scenario(2, members("a"), {}), CONSUMER)
    to, back = ("a", "coordinator"), ("coordinator", "a")
    assert story.messages[2:6] == (
        Message(*to, "ConsumerGroupHeartbeat", None, FOUND, FOUND + L),
        Message(*back, "ConsumerGroupHeartbeat", "NONE", FOUND + L, ASSIGNED),
        Message(*to, "ConsumerGroupHeartbeat", None, ASSIGNED, ASSIGNED + L),
        Message(*back, "ConsumerGroupHeartbeat", "NONE", ASSIGNED + L, ASSIGNED + RTT),
    )
    assert lane(story, "a") == [("joining", 0, ASSIGNED), ("consuming", ASSIGNED, story.end_ms)]
    assert [plan.generation for plan in story.plans] == [2]


def test_a_newcomer_costs_what_moves_from_the_losers_poll_to_the_newcomers_heartbeat() -> None:
    """No barrier: the loser revokes as it hears of it and says so; the newcomer asks every heartbeat interval."""
    story = played(scenario(2, members("a"), {31_000: Join(members("b")[0])}), CONSUMER)
    joined_ms = 31_000 + FOUND + L
    revoked_ms = beat_after(joined_ms) + RTT
    asked_ms = beat_after(revoked_ms + L, 31_000 + ASSIGNED)
    moved = next(number for number, owner in holders(story, story.end_ms - 1).items() if owner == "b")
    assert downtime(story) == {moved: asked_ms + RTT - revoked_ms, 1 - moved: 0}
    assert calls(story, "a")[1:] == [(revoked_ms, "onPartitionsRevoked", 1), (revoked_ms, "onPartitionsAssigned", 0)]
    assert (summarize(story).moved, summarize(story).paused_ms) == (1, 0)


def test_a_crash_is_noticed_when_the_brokers_session_ends() -> None:
    story = played(scenario(1, members("a"), {31_000: Join(members("b")[0]), 61_000: Crash("a")}), CONSUMER)
    assert holders(story, 60_999) == {0: "a"}
    last_ms = ASSIGNED + HEARTBEAT * ((61_000 - ASSIGNED) // HEARTBEAT) + L
    gained_ms = beat_after(last_ms + SESSION, 31_000 + ASSIGNED) + RTT
    assert downtime(story) == {0: gained_ms - 61_000}


def test_a_leave_moves_its_partitions_at_the_next_heartbeat_of_another_member() -> None:
    story = played(scenario(1, members("a", "b"), {61_000: Leave("a")}), CONSUMER)
    assert downtime(story) == {0: beat_after(61_000 + L) + RTT - 61_000}


def test_work_beyond_max_poll_interval_leaves_and_joins_again_at_the_next_poll() -> None:
    slow = {30_000: Freeze("a"), 130_000: Resume("a")}
    story = played(scenario(1, members("a", "b"), slow, QUICK | {"max.poll.interval.ms": 60_000}), CONSUMER)
    assert lane(story, "a")[2:4] == [("stalled", 30_000, 90_000), ("zombie", 90_000, 130_000)]
    assert calls(story, "a")[1] == (130_000, "onPartitionsLost", 1)
    assert (holders(story, 129_999), holders(story, 129_999, Hold.ZOMBIE)) == ({0: "b"}, {0: "a"})


def test_a_stopped_process_is_fenced_at_its_first_heartbeat() -> None:
    stop = {31_000: Freeze("a"), 131_000: Resume("a")}
    story = played(scenario(1, members("a", "b"), stop, QUICK | {"simulated.freeze": "process"}), CONSUMER)
    assert lane(story, "a")[2:4] == [("frozen", 31_000, 131_000), ("zombie", 131_000, 131_000 + RTT)]
    assert calls(story, "a")[1] == (131_000 + RTT, "onPartitionsLost", 1)


def test_a_static_member_that_restarts_in_time_gets_its_partitions_back() -> None:
    story = played(scenario(2, members("a", "b", static=True), {61_000: Restart("b")}), CONSUMER)
    own = next(number for number, owner in holders(story, 60_999).items() if owner == "b")
    assert downtime(story)[own] - downtime_before(story, own, 60_999) == 5_000 + FOUND + RTT
    assert [plan.generation for plan in story.plans][-1] == max(span.generation for span in story.group)
    assert holders(story, story.end_ms - 1)[own] == "b"


def downtime_before(story: Timeline, number: int, at_ms: int) -> int:
    """How long that partition was down until then, since its first owner."""
    rows = [row for row in story.ownership if row.partition.partition == number]
    return sum(row.end_ms - row.start_ms for row in rows[1:] if row.hold is Hold.NOBODY and row.end_ms <= at_ms)


def test_growth_is_noticed_at_the_next_heartbeat_of_anybody() -> None:
    story = played(scenario(1, members("a"), {31_000: AddPartitions("t", 2)}), CONSUMER)
    grown = next(row for row in story.ownership if row.partition == t(1)[0])
    assert grown.end_ms == beat_after(31_000) + RTT


def test_everything_is_persisted_so_a_new_coordinator_goes_on() -> None:
    events = {31_000: CoordinatorDown(), 51_000: CoordinatorUp()}
    story = played(scenario(2, members("a"), events), CONSUMER)
    assert (summarize(story).down_ms, summarize(story).rebalances, story.unsettled) == (0, 1, None)
    assert [(span.state, span.start_ms) for span in story.group[-2:]] == [
        ("no coordinator", 31_000),
        ("Stable", 51_500),
    ]


def test_a_plan_that_was_lost_with_its_coordinator_is_none() -> None:
    """It was made at 0 s, and replicated nowhere when the broker died; topics changed before the next one."""
    events = {100: CoordinatorDown(), 1_000: AddPartitions("t", 3), 5_000: CoordinatorUp()}
    slow = QUICK | {"simulated.append.ms": 300, "simulated.latency.ms": 0}
    story = played(scenario(2, members("a"), events, slow), CONSUMER)
    (plan,) = story.plans
    assert (plan.generation, len(plan.by_member["a"])) == (2, 3)
    assert plan.at_ms > 5_000
    assert plan.cause == "first assignment; coordinator down; add partitions t; coordinator up"


def test_a_group_that_exists_already_goes_on() -> None:
    group = (Member("a", topics=("t",), owned=t(0), generation=7), Member("b", topics=("t",), owned=t(1)))
    story = played(scenario(2, group, {31_000: Leave("b")}), CONSUMER)
    assert holders(story, 0) == {0: "a", 1: "b"}
    assert [plan.generation for plan in story.plans] == [7, 8]
    assert downtime(story)[0] == 0


def test_a_heartbeat_that_is_due_while_one_is_under_way_follows_its_reply() -> None:
    """Each takes longer than the heartbeat interval; without the next one the group would remove the member."""
    one_way_ms = HEARTBEAT
    slow = scenario(2, members("a"), {}, QUICK | {"simulated.latency.ms": one_way_ms})
    story = played(slow, CONSUMER, until_ms=10 * SESSION)
    requests = [message.sent_ms for message in story.messages if message.target == "coordinator"]
    gaps = {after - before for before, after in pairwise(requests)}
    assert gaps == {2 * one_way_ms}
    assert [state for state, *_ in lane(story, "a")] == ["joining", "consuming"]


@pytest.mark.parametrize("seed", range(5))
def test_a_member_whose_next_heartbeat_is_due_at_once_stays(seed: int) -> None:
    """The first one after a reconciliation is due at a random time of the interval: with 100 members, often at once."""
    many = scenario(1_000, members(*map(str, range(100))), {30_000: Join(members("b")[0])}, {})
    assert played(many, CONSUMER, seed).unsettled is None
