"""Records processed twice or never, from the rules of auto-commit: a record a millisecond."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from assignors.model import Member, Topic
from assignors.simulation.settings import Setting
from assignors.simulation.timeline.processed_records import Processed
from assignors.simulation.timeline.summary import summarize
from assignors.simulation.timeline.tables import Timeline
from assignors.whatif.events import (
    Action,
    AddPartitions,
    CoordinatorDown,
    CoordinatorUp,
    Crash,
    CreateTopic,
    DeleteTopic,
    Freeze,
    Join,
    Leave,
    Loads,
    Resume,
    Scenario,
    Slow,
    Split,
)
from assignors.whatif.rebalance_protocol import RebalanceProtocol
from tests.assignors.simulation.run.stories import (
    ASSIGNED,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    FOUND,
    QUICK,
    RTT,
    calls,
    holders,
    members,
    played,
    scenario,
    t,
)

EVERY = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE, CONSUMER])
CLASSIC = pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
COMMIT = 5_000
"""auto.commit.interval.ms: members that start at 0 commit at its multiples."""
A_MS = {"simulated.records.per.s": 1_000}


def story(
    partitions: int, group: Sequence[Member], events: Mapping[int, Action], settings: Mapping[str, Setting] = QUICK
) -> Scenario:
    return scenario(partitions, group, events, {**settings, **A_MS})


def twice(timeline: Timeline) -> dict[int, int]:
    """Records processed again, by partition."""
    return {its.partition.partition: its.duplicated for its in table(timeline)}


def table(timeline: Timeline) -> tuple[Processed, ...]:
    found = summarize(timeline).processed
    assert found is not None
    return found


def own(timeline: Timeline, member: str, at_ms: int) -> int:
    return next(number for number, owner in holders(timeline, at_ms).items() if owner == member)


@EVERY
def test_a_crash_repeats_what_was_read_since_the_last_commit(protocol: RebalanceProtocol) -> None:
    reported = played(story(2, members("a", "b"), {61_000: Crash("b")}), protocol)
    lost = own(reported, "b", 60_999)
    assert twice(reported) == {lost: 61_000 % COMMIT, 1 - lost: 0}
    assert summarize(reported).lost == 0


@EVERY
def test_a_closing_member_commits_and_nothing_is_repeated(protocol: RebalanceProtocol) -> None:
    reported = played(story(2, members("a", "b"), {61_000: Leave("b")}), protocol)
    assert (summarize(reported).duplicated, summarize(reported).lost) == (0, 0)
    assert ("b", 61_000, None) in [(commit.member, commit.at_ms, commit.error) for commit in reported.commits]


def test_eager_members_commit_before_they_give_everything_up() -> None:
    reported = played(story(2, members("a"), {31_000: Slow("a", 8_000), 32_000: Join(members("b")[0])}), EAGER)
    assert summarize(reported).duplicated == 0


def test_a_cooperative_member_repeats_what_it_reads_between_its_commit_and_the_end_of_the_join() -> None:
    """It commits in onJoinPrepare, goes on with all it has, and gives up without another commit."""
    events = {31_000: Slow("b", 4_000), 32_000: Join(members("c")[0])}
    reported = played(story(6, members("a", "b"), events), COOPERATIVE)
    (revoked_ms,) = [ms for ms, name, _ in calls(reported, "a") if name == "onPartitionsRevoked"]
    committed_ms = max(
        commit.at_ms for commit in reported.commits if commit.member == "a" and commit.at_ms < revoked_ms
    )
    moved = {number for number, owner in holders(reported, reported.end_ms - 1).items() if owner == "c"}
    mine = moved & {number for number, owner in holders(reported, 30_999).items() if owner == "a"}
    assert [twice(reported)[number] for number in mine] == [revoked_ms - committed_ms]
    assert revoked_ms - committed_ms > 1_000


def test_a_kip_848_member_commits_what_it_gives_up() -> None:
    reported = played(story(2, members("a"), {31_000: Join(members("b")[0])}), CONSUMER)
    assert summarize(reported).duplicated == 0


def handed_back(protocol: RebalanceProtocol) -> int:
    """What is read between the commit and the end of the join when the partition moves back: a join and a sync."""
    return 2 * RTT if protocol is COOPERATIVE else 0


@EVERY
def test_work_beyond_max_poll_interval_is_done_again(protocol: RebalanceProtocol) -> None:
    slow = {31_000: Freeze("b"), 131_000: Resume("b")}
    reported = played(story(2, members("a", "b"), slow, QUICK | {"max.poll.interval.ms": 60_000}), protocol)
    stalled = own(reported, "b", 30_999)
    assert twice(reported)[stalled] == 31_000 % COMMIT + handed_back(protocol)


@CLASSIC
def test_a_process_that_wakes_as_a_zombie_reads_all_that_others_have_read(protocol: RebalanceProtocol) -> None:
    stop = {31_000: Freeze("b"), 61_000: Resume("b")}
    reported = played(story(2, members("a", "b"), stop, QUICK | {"simulated.freeze": "process"}), protocol)
    frozen = own(reported, "b", 30_999)
    assert twice(reported)[frozen] == 61_000 + FOUND + RTT - 30_000 + handed_back(protocol)


@EVERY
def test_a_split_member_reads_on_and_its_commits_are_lost(protocol: RebalanceProtocol) -> None:
    reported = played(story(2, members("a", "b"), {61_000: Split("b")}), protocol)
    split = own(reported, "b", 60_999)
    assert twice(reported)[split] == reported.end_ms - 60_000


@CLASSIC
def test_nothing_is_committed_without_a_coordinator(protocol: RebalanceProtocol) -> None:
    events = {31_000: CoordinatorDown(), 50_000: Crash("b"), 52_000: CoordinatorUp()}
    reported = played(story(2, members("a", "b"), events), protocol)
    assert twice(reported)[own(reported, "b", 30_999)] == 50_000 - 30_000


def test_with_batches_the_commit_covers_what_the_poll_before_gave() -> None:
    period = 700
    reported = played(
        story(1, members("a", "b"), {31_000: Crash("a")}, QUICK | {"simulated.processing.ms": period}), EAGER
    )
    polls = range(ASSIGNED, 31_000, period)
    first = next(at for at in polls if at >= COMMIT)
    commits = range(first, 31_000, -(-COMMIT // period) * period)
    assert twice(reported) == {0: polls[-1] - (commits[-1] - period)}


@EVERY
@pytest.mark.parametrize("reset", ["latest", "earliest"])
def test_records_before_a_partition_is_found_are_skipped(protocol: RebalanceProtocol, reset: str) -> None:
    grown = QUICK | {"metadata.max.age.ms": 120_000, "auto.offset.reset": reset}
    reported = played(story(1, members("a"), {31_000: AddPartitions("t", 2)}, grown), protocol)
    found_ms = next(row.start_ms for row in reported.ownership if row.partition == t(1)[0] and row.member)
    assert [its.lost for its in table(reported)] == [0, found_ms - 31_000 if reset == "latest" else 0]


def test_a_recreated_topic_starts_over() -> None:
    events = {31_000: DeleteTopic("t"), 61_000: CreateTopic(Topic("t", 1))}
    reported = played(story(1, members("a"), events, QUICK | {"auto.offset.reset": "earliest"}), CONSUMER)
    (only,) = table(reported)
    assert only == Processed(t(0)[0], only.processed, 0, 0)
    assert only.processed == 31_000 + reported.end_ms - 61_000


@pytest.mark.parametrize("stated", [{"enable.auto.commit": False}, {"auto.offset.reset": "none"}])
def test_what_is_unknown_to_all_is_not_counted(stated: dict[str, Setting]) -> None:
    summary = summarize(played(story(1, members("a"), {31_000: Crash("a")}, QUICK | stated), EAGER))
    assert (summary.processed, summary.duplicated, summary.lost) == (None, None, None)


def test_rates_count_to_a_thousandth_of_a_record() -> None:
    wanted = story(2, members("a", "b"), {61_000: Crash("b"), 62_000: Crash("a")})
    rates = {t(0)[0]: 0.5, t(1)[0]: 1.0004}
    reported = played(replace(wanted, loads=Loads(produced_per_s=rates)), EAGER)
    read = {its.partition: its.processed for its in table(reported)}
    ended = {"a": 62_000, "b": 61_000}
    for partition, rate in {t(0)[0]: 500, t(1)[0]: 1_000}.items():
        owner = holders(reported, 60_000)[partition.partition] or ""
        assert read[partition] == ended[owner] * rate // 1_000_000 - ASSIGNED * rate // 1_000_000
