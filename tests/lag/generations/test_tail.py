"""Following `__consumer_offsets` when brokers, partitions and permissions come and go: a log played by hand."""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from assignors.offsets_partition import OFFSETS_TOPIC, offsets_partition
from lag.cluster.offsets_log import LogBounds, OffsetsPartitions, PartitionData
from lag.errors import AddressError
from lag.generations import tail as tails
from lag.generations.tail import STARTING, Tail
from lag.model import UNLISTED, Problem, Scope, undecoded
from lag.records.transactions import GroupRecord, Marker
from tests.lag.make import cluster, end, group
from tests.support.waiting import wait_until

COUNT = 3
GROUPS = {offsets_partition(name, COUNT): name for name in "abcdefgh"}
"""A group in each partition."""
DENIED = Problem("unauthorized", Scope.TOPIC, OFFSETS_TOPIC, "denied")
LEADERLESS = Problem("leaderless", Scope.PARTITION, f"{OFFSETS_TOPIC}-0", "it has no leader")


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def empty_group(group_id: str, generation: int, at_ms: int = 1000) -> GroupRecord:
    """A classic group that has become empty: GroupMetadata v0 without members."""
    value = struct.pack(">h", 0) + text("consumer") + struct.pack(">ihhi", generation, -1, -1, 0)
    return GroupRecord(at_ms, struct.pack(">h", 2) + text(group_id), value)


class Log:
    """A topic of three partitions; a test appends records, and breaks what it likes."""

    def __init__(self) -> None:
        self.cluster_id = "first"
        self.records: list[list[GroupRecord | Marker]] = [[] for _ in range(COUNT)]
        self.log_start = 0
        self.found = OffsetsPartitions(COUNT)
        self.broken: dict[int, Problem] = {}
        self.fails: Exception | None = None
        self.opened = self.closed = 0
        self.asked: list[Mapping[int, int]] = []

    def open(self) -> "Log":
        self.opened += 1
        return self

    def partitions(self) -> OffsetsPartitions:
        if self.fails is not None:
            raise self.fails
        return self.found

    def bounds(self, partitions: Iterable[int]) -> dict[int, LogBounds]:
        return {number: LogBounds(self.log_start, len(self.records[number])) for number in partitions}

    def read(self, offsets: Mapping[int, int]) -> list[PartitionData]:
        if self.fails is not None:
            raise self.fails
        self.asked.append(dict(offsets))
        return [self._piece(number, offset) for number, offset in offsets.items()]

    def _piece(self, number: int, offset: int) -> PartitionData:
        if number in self.broken:
            return PartitionData(number, problem=self.broken[number])
        end = len(self.records[number])
        if not self.log_start <= offset <= end:
            return PartitionData(number, lost=True)
        return PartitionData(number, tuple(self.records[number][offset:]), end, end, end - offset)

    def names(self, topic_ids: Iterable[Any]) -> dict[Any, str]:
        raise AssertionError("a classic group names its topics itself")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def source() -> Log:
    made = Log()
    for number in GROUPS:
        change(made, number, 4)
    return made


def change(source: Log, partition: int, generation: int) -> None:
    """One more record of that partition's group."""
    source.records[partition].append(empty_group(GROUPS[partition], generation))


def rounds(tail: Tail, count: int = 1) -> float:
    """Play so many rounds; how long the last one asks to wait."""
    pause_s = 0.0
    for _ in range(count):
        pause_s = tail.round()
    return pause_s


def numbers(tail: Tail, partition: int) -> list[int]:
    return [one.generation.number for one in tail.recorded(GROUPS[partition])]


def followed(source: Log, **rest: int) -> Tail:
    """A tail that has read what there is."""
    tail = Tail("test", source.open, **rest)
    rounds(tail, 2)
    return tail


def test_nothing_is_known_before_the_first_round(source: Log) -> None:
    tail = Tail("test", source.open)
    assert (tail.problem("a"), tail.knows("a"), tail.recorded("a")) == (STARTING, False, [])
    tail.stop()


def test_what_is_written_later_is_a_generation_and_other_groups_stay(source: Log) -> None:
    tail = followed(source)
    change(source, 1, 5)
    rounds(tail)
    assert {number: numbers(tail, number) for number in GROUPS} == {0: [], 1: [4, 5], 2: []}
    assert all(tail.knows(name) and tail.problem(name) is None for name in GROUPS.values())
    status = tail.status()
    assert (status.partitions, status.followed, status.records, status.problems) == (3, 3, 4, ())


def test_rests_after_news_and_lets_the_leaders_wait_otherwise(source: Log) -> None:
    tail = Tail("test", source.open)
    assert [tail.round() for _ in range(3)] == [tails.REST_S, 0.0, 0.0]


def test_begins_a_bounded_number_of_records_back(source: Log) -> None:
    for generation in range(5, 10):
        change(source, 0, generation)
    assert numbers(followed(source, look_back=3), 0) == [7, 8, 9]
    assert numbers(followed(source), 0) == [4, 5, 6, 7, 8, 9]


def test_a_partition_without_a_leader_is_reported_and_the_others_are_followed(source: Log) -> None:
    source.found = OffsetsPartitions(COUNT, {0: LEADERLESS})
    tail = followed(source)
    assert [tail.problem(GROUPS[number]) for number in range(COUNT)] == [LEADERLESS, None, None]
    assert (tail.status().followed, tail.status().problems) == (2, (LEADERLESS,))
    source.found = OffsetsPartitions(COUNT)
    change(source, 0, 5)
    rounds(tail, 2)
    assert (tail.problem(GROUPS[0]), numbers(tail, 0)) == (None, [4, 5])


def test_a_partition_that_fails_later_keeps_what_it_had_and_goes_on_where_it_was(source: Log) -> None:
    tail = followed(source)
    change(source, 0, 5)
    rounds(tail)
    source.broken = {0: LEADERLESS}
    change(source, 0, 6)
    assert rounds(tail) == tails.TROUBLE_S
    assert (tail.problem(GROUPS[0]), numbers(tail, 0)) == (LEADERLESS, [4, 5])
    source.broken = {}
    rounds(tail)
    assert (tail.problem(GROUPS[0]), numbers(tail, 0)) == (None, [4, 5, 6])
    assert source.asked[-1][0] == 2


def test_a_topic_that_may_not_be_read_is_reported_and_asked_for_rarely(source: Log) -> None:
    source.found = OffsetsPartitions(0, problem=DENIED)
    tail = Tail("test", source.open)
    assert rounds(tail) == tails.REFUSED_S
    assert (tail.problem("a"), tail.status().problems, source.asked) == (DENIED, (DENIED,), [])
    source.found = OffsetsPartitions(COUNT)
    rounds(tail, 2)
    assert tail.problem(GROUPS[0]) is None


@pytest.mark.parametrize("found", [OffsetsPartitions(0), OffsetsPartitions(0, problem=DENIED)])
def test_an_answer_without_partitions_takes_away_nothing_that_was_read(source: Log, found: OffsetsPartitions) -> None:
    source.records[0] += [empty_group(GROUPS[0], 4), empty_group(GROUPS[0], 5)]
    tail = followed(source)
    source.found = found
    rounds(tail, tails.METADATA_ROUNDS + 1)
    assert (tail.problem(GROUPS[0]), tail.reads_all()) == (found.problem or tails.MISSING, False)
    assert numbers(tail, 0) == [4, 5]
    source.found = OffsetsPartitions(COUNT)
    source.records[0].append(empty_group(GROUPS[0], 6))
    rounds(tail, 2)
    assert (tail.problem(GROUPS[0]), numbers(tail, 0)) == (None, [4, 5, 6])


def test_a_topic_with_another_number_of_partitions_is_read_from_its_start(source: Log) -> None:
    source.records[0] += [empty_group(GROUPS[0], 4)]
    tail = followed(source)
    source.found, source.records = OffsetsPartitions(COUNT + 1), [[] for _ in range(COUNT + 1)]
    rounds(tail, tails.METADATA_ROUNDS + 1)
    assert (tail.status().partitions, tail.reads_all(), numbers(tail, 0)) == (COUNT + 1, True, [])


@pytest.mark.parametrize(
    ("first", "then", "left"), [("a", "b", []), ("a", "a", [4, 5]), ("a", None, [4, 5]), (None, "a", [4, 5])]
)
def test_a_topic_with_another_id_is_read_from_its_start(
    source: Log, first: str | None, then: str | None, left: list[int]
) -> None:
    change(source, 0, 5)
    source.found = OffsetsPartitions(COUNT, topic_id=first)
    tail = followed(source)
    if first != then:
        source.found = OffsetsPartitions(COUNT, topic_id=then)
    if not left:
        source.records = [[] for _ in range(COUNT)]
    rounds(tail, tails.METADATA_ROUNDS + 1)
    assert (tail.reads_all(), numbers(tail, 0)) == (True, left)


def test_a_topic_that_is_not_there_yet_is_waited_for(source: Log) -> None:
    source.found = OffsetsPartitions(0)
    tail = Tail("test", source.open)
    assert (rounds(tail), tail.problem("a")) == (tails.TROUBLE_S, STARTING)
    source.found = OffsetsPartitions(COUNT)
    rounds(tail, 2)
    assert tail.problem(GROUPS[0]) is None


def test_a_cluster_that_does_not_answer_is_reported_and_followed_on_when_it_is_back(source: Log) -> None:
    tail = followed(source)
    source.fails = AddressError("broker1:9092 refuses the connection", "Start the broker")
    assert rounds(tail) > 0
    reported = tail.problem(GROUPS[0])
    assert reported is not None
    assert (reported.kind, reported.cause, source.closed) == ("unread", "broker1:9092 refuses the connection", 1)
    source.fails = None
    change(source, 0, 5)
    rounds(tail, 2)
    assert (tail.problem(GROUPS[0]), numbers(tail, 0), source.opened) == (None, [4, 5], 2)


def test_an_error_of_our_own_is_reported_and_does_not_end_it(source: Log, caplog: pytest.LogCaptureFixture) -> None:
    tail = followed(source)
    source.fails = KeyError("ours")
    rounds(tail)
    assert str(tail.problem("a")).startswith(f"topic {OFFSETS_TOPIC}: internal error: KeyError")
    assert "internal error while following" in caplog.text
    source.fails = None
    rounds(tail, 2)
    assert tail.problem(GROUPS[0]) is None


def test_a_truncated_partition_is_read_again_and_the_others_are_not(source: Log) -> None:
    tail = followed(source)
    for number in (0, 1):
        change(source, number, 5)
    rounds(tail)
    source.records[0] = [empty_group(GROUPS[0], 2)]
    rounds(tail, 3)
    assert (numbers(tail, 0), numbers(tail, 1)) == ([], [4, 5])
    change(source, 0, 3)
    rounds(tail)
    assert numbers(tail, 0) == [2, 3]


def test_records_that_were_deleted_before_they_were_read_are_passed_over(source: Log) -> None:
    tail = followed(source)
    for generation in range(5, 9):
        change(source, 0, generation)
    source.log_start = 3
    for number in (1, 2):
        source.records[number] += [empty_group(GROUPS[number], 4)] * 3
    rounds(tail, 3)
    assert numbers(tail, 0) == [7, 8]


def test_another_cluster_at_the_same_address_starts_over(source: Log) -> None:
    tail = followed(source)
    change(source, 0, 5)
    rounds(tail)
    source.fails = AddressError("gone", "")
    rounds(tail)
    source.fails, source.cluster_id = None, "second"
    rounds(tail, 2)
    assert numbers(tail, 0) == [4, 5]
    assert source.asked[-2][0] == 0


def test_records_that_cannot_be_decoded_are_counted(source: Log) -> None:
    source.records[0].append(GroupRecord(1, struct.pack(">h", 2) + text("x"), b"\0"))
    assert followed(source).status().unreadable == 1


def test_the_thread_follows_until_it_is_stopped(source: Log) -> None:
    tail = Tail("test", source.open)
    tail.start()
    wait_until(lambda: tail.problem(GROUPS[0]) is None)
    tail.stop()
    assert source.closed == source.opened == 1


def test_a_group_older_than_the_look_back_goes_on_from_what_a_poll_saw(source: Log) -> None:
    source.records[0] += [empty_group("another", 1)] * 5
    tail = followed(source, look_back=2)
    assert not tail.knows(GROUPS[0])
    tail.observe(cluster({GROUPS[0]: group({"t-0": 1}, 0, state="Empty")}, {"t-0": end(9)}, 1, 1000))
    rounds(tail)
    assert (tail.knows(GROUPS[0]), tail.recorded(GROUPS[0])) == (True, [])
    change(source, 0, 5)
    rounds(tail)
    assert numbers(tail, 0) == [0, 5]


def test_a_poll_counts_only_where_all_records_up_to_it_are_read(source: Log) -> None:
    source.records[0] += [empty_group("another", 1)] * 5
    tail = followed(source, look_back=2)
    source.broken = {0: LEADERLESS}
    tail.observe(cluster({GROUPS[0]: group({"t-0": 1}, 0, state="Empty")}, {"t-0": end(9)}, 1, 1000))
    rounds(tail)
    source.broken = {}
    rounds(tail, 2)
    assert not tail.knows(GROUPS[0])


def commit(group_id: str, offset: int, at_ms: int) -> GroupRecord:
    """A commit on t-0: OffsetCommitKey v1 and OffsetCommitValue v3."""
    key = struct.pack(">h", 1) + text(group_id) + text("t") + struct.pack(">i", 0)
    return GroupRecord(at_ms, key, struct.pack(">hqi", 3, offset, -1) + text("") + struct.pack(">q", at_ms))


def committed(tail: Tail, group_id: str) -> tuple[int, int, bool]:
    """Offset, first commit and whether it is exact."""
    found = tail.commits().of_rows(cluster({group_id: group({"t-0": 1})}, {"t-0": end(9)}))
    return found.offset[0].item(), found.first_ms[0].item(), found.is_exact[0].item()


def test_commits_are_known_from_before_the_start_and_from_then_on(source: Log) -> None:
    name = GROUPS[0]
    source.records[0] += [commit(name, 5, 1000), commit(name, 7, 2000), commit(name, 7, 3000)]
    tail = followed(source)
    assert (tail.reads_all(), committed(tail, name)) == (True, (7, 2000, True))
    assert tail.status().commits == {name: 3}
    source.records[0] += [commit(name, 8, 4000), commit(name, 8, 5000)]
    rounds(tail)
    assert committed(tail, name) == (8, 4000, True)
    assert tail.status().commits == {name: 5}
    assert numbers(tail, 0) == []


def test_a_negative_offset_is_no_commit(source: Log) -> None:
    name = GROUPS[0]
    source.records[0] += [commit(name, 5, 1000), commit(name, -1001, 2000)]
    tail = followed(source)
    assert (len(tail.commits()), committed(tail, name)) == (0, (-1, -1, False))


def test_a_commit_of_a_transaction_counts_from_its_marker_on(source: Log) -> None:
    name = GROUPS[0]
    source.records[0] += [commit(name, 10, 1000), commit(name, 50, 2000)._replace(producer_id=7)]
    tail = followed(source)
    assert (committed(tail, name), tail.status().commits) == ((10, 1000, True), {name: 1})
    source.records[0] += [Marker(7, is_commit=False), commit(name, 50, 22_000)._replace(producer_id=7)]
    rounds(tail)
    assert committed(tail, name) == (10, 1000, True)
    source.records[0].append(Marker(7, is_commit=True))
    rounds(tail)
    assert (committed(tail, name), tail.status().commits) == ((50, 22_000, True), {name: 2})


def test_a_transaction_stays_open_over_a_round_that_fails(source: Log) -> None:
    name = GROUPS[0]
    source.records[0] += [commit(name, 10, 1000), commit(name, 50, 2000)._replace(producer_id=7)]
    tail = followed(source)
    source.fails = AddressError("broker1:9092 refuses the connection", "Start the broker")
    source.records[0].append(Marker(7, is_commit=True))
    rounds(tail)
    source.fails = None
    rounds(tail, 2)
    assert committed(tail, name) == (50, 2000, True)


def test_commits_of_a_group_are_counted_until_two_polls_do_not_have_it(source: Log) -> None:
    name = GROUPS[0]
    source.records[0] += [commit(name, 5, 1000)]
    tail = followed(source)
    gone = cluster({GROUPS[1]: group({"t-0": 1})}, {"t-0": end(9)})
    unlisted = Problem(UNLISTED, Scope.BROKER, "1", "broker 1 does not list its groups")
    for snapshot, counted in [
        (gone, {name: 1}),
        (replace(gone, complete=False), {name: 1}),
        (replace(gone, complete=False, problems=(unlisted, undecoded("g", ["member m"]))), {name: 1}),
        (cluster({name: group({"t-0": 1})}, {"t-0": end(9)}), {name: 1}),
        (replace(gone, complete=False, problems=(undecoded("g", ["member m"]),)), {name: 1}),
        (gone, {}),
    ]:
        tail.observe(snapshot)
        rounds(tail)
        assert tail.status().commits == counted


def test_commits_of_a_truncated_partition_are_forgotten(source: Log) -> None:
    source.records[0] += [commit(GROUPS[0], 5, 1000)]
    source.records[1] += [commit(GROUPS[1], 6, 1000)]
    tail = followed(source)
    source.records[0] = []
    rounds(tail, 3)
    assert (committed(tail, GROUPS[0])[0], committed(tail, GROUPS[1])[0]) == (-1, 6)
    assert tail.status().commits == {GROUPS[1]: 1}


def test_a_group_is_empty_since_the_record_that_says_so(source: Log) -> None:
    assert followed(source).emptied_ms(GROUPS[0]) == 1000
    assert followed(source, look_back=0).emptied_ms(GROUPS[0]) is None
    assert followed(source).joined_ms(GROUPS[0]) is None
