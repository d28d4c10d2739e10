"""Subscriptions by pattern, and topics that come and go: who notices, and when."""

import pytest

from assignors.model import Member, Topic, TopicPartition
from assignors.simulation.timeline.tables import Hold, Timeline
from assignors.whatif.events import CreateTopic, DeleteTopic, Subscribe
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import (
    CONSUMER,
    COOPERATIVE,
    EAGER,
    FOUND,
    HEARTBEAT,
    QUICK,
    RTT,
    L,
    calls,
    members,
    played,
    scenario,
)

CLASSIC = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
EVERY = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
AGE = 120_000
OLD = QUICK | {"metadata.max.age.ms": AGE}
NEW = CreateTopic(Topic("t-new", 1))
KIP848_HEARTBEAT = 5_000


def readers(*names: str, pattern: str = "t.*") -> tuple[Member, ...]:
    return tuple(Member(name, pattern=pattern) for name in names)


def first_owned(story: Timeline, topic: str) -> tuple[int, str | None]:
    """When somebody first consumed partition 0 of that topic, and who."""
    rows = [row for row in story.ownership if row.partition == TopicPartition(topic, 0) and row.hold is Hold.OWNED]
    return rows[0].start_ms, rows[0].member


@CLASSIC
def test_a_classic_member_finds_a_new_topic_when_its_metadata_are_old(protocol: RebalanceProtocol) -> None:
    story = played(scenario(1, readers("a"), {31_000: NEW}, OLD), protocol)
    assert first_owned(story, "t-new") == (AGE + 2 * RTT, "a")
    assert story.unsettled is None


def test_the_first_to_look_brings_the_others_along() -> None:
    """All of them ask for metadata before they join, so that one rebalance is enough."""
    late = Member("b", pattern="t.*")
    from_join = scenario(2, readers("a"), {31_000: NEW}, OLD)
    both = scenario(2, (*readers("a"), late), {31_000: NEW}, OLD)
    assert len(played(both, EAGER).plans) == len(played(from_join, EAGER).plans) == 2
    assert [plan.members[1].topics for plan in played(both, EAGER).plans] == [("t",), ("t", "t-new")]


def test_the_broker_matches_a_new_topic_at_the_next_heartbeat_and_assigns_it_with_the_one_after() -> None:
    story = played(scenario(1, readers("a"), {31_000: NEW}, OLD), CONSUMER)
    owned_ms, _ = first_owned(story, "t")
    beats = [at + L for message in story.messages if message.source == "a" and (at := message.sent_ms) > owned_ms]
    matched_ms = next(at for at in beats if at > 31_000)
    assert first_owned(story, "t-new") == (matched_ms + KIP848_HEARTBEAT + L, "a")
    assert story.unsettled is None


def test_the_first_heartbeat_of_a_pattern_assigns_nothing_yet() -> None:
    """The broker looks for the topics behind it; that nothing is acknowledged brings them."""
    story = played(scenario(1, readers("a"), {}), CONSUMER)
    assert first_owned(story, "t") == (FOUND + RTT + RTT, "a")
    assert [plan.generation for plan in story.plans] == [1, 2]


@EVERY
def test_a_topic_that_is_deleted_and_made_again_is_another_one_and_is_consumed_again(
    protocol: RebalanceProtocol,
) -> None:
    events = {61_000: DeleteTopic("t"), 91_000: CreateTopic(Topic("t", 2))}
    story = played(scenario(2, members("a"), events, OLD), protocol)
    lives = {(row.start_ms, row.end_ms) for row in story.ownership if row.hold is Hold.OWNED}
    assert {end_ms for _, end_ms in lives} == {61_000, story.end_ms}
    ids = [plan.topics["t"].topic_id for plan in story.plans if "t" in plan.topics]
    assert ids[0] is None
    assert ids[-1] is not None
    assert story.unsettled is None


@EVERY
def test_a_topic_of_a_pattern_that_is_deleted_takes_its_partitions_along(protocol: RebalanceProtocol) -> None:
    topics = {31_000: NEW, 200_000: DeleteTopic("t")}
    story = played(scenario(2, readers("a", "b"), topics, OLD), protocol)
    assert story.unsettled is None
    held = {row.partition for row in story.ownership if row.end_ms == story.end_ms and row.hold is Hold.OWNED}
    assert held == {TopicPartition("t-new", 0)}


@EVERY
def test_names_become_a_pattern_and_a_pattern_names(protocol: RebalanceProtocol) -> None:
    events = {31_000: NEW, 61_000: Subscribe("a", pattern="t-.*"), 91_000: Subscribe("a", ("t",))}
    story = played(scenario(1, members("a"), events, OLD), protocol)
    assert story.unsettled is None
    at = {ms: {row.partition.topic for row in story.ownership if row.member and row.start_ms <= ms < row.end_ms}
          for ms in (60_000, 90_000, story.end_ms - 1)}  # fmt: skip
    assert list(at.values()) == [{"t"}, {"t-new"}, {"t"}]


@EVERY
def test_a_pattern_that_matches_nothing_waits_in_the_group(protocol: RebalanceProtocol) -> None:
    story = played(scenario(1, readers("a", pattern="nothing"), {}), protocol)
    assert story.unsettled is None
    assert [span.state for span in story.group][-1] == "Stable"
    assert calls(story, "a") in ([], [(calls_at(story), "onPartitionsAssigned", 0)])


def calls_at(story: Timeline) -> int:
    return calls(story, "a")[0][0]


@EVERY
def test_a_group_by_pattern_that_exists_already_goes_on(protocol: RebalanceProtocol) -> None:
    owned = (TopicPartition("t", 0),)
    group = (Member("a", pattern="t.*", topics=("t",), owned=owned, generation=7),)
    story = played(scenario(1, group, {HEARTBEAT: NEW}, OLD), protocol)
    assert [plan.generation for plan in story.plans] == [7, 8]
    assert set(story.plans[-1].by_member["a"]) == {*owned, TopicPartition("t-new", 0)}
    assert story.unsettled is None
