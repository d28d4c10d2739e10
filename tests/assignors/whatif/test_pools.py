"""Members that read partitions together: how soon they are done, compared with every set of partitions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Member, TopicPartition
from assignors.simulation.fold import fold
from assignors.whatif.backlog import Backlog, backlog
from assignors.whatif.drain import Drain
from assignors.whatif.events import Loads, Scenario
from assignors.whatif.ownership_table import OwnershipTable
from assignors.whatif.pools import Pools, fair_loads, pools
from tests.support.random_examples import random_examples
from tests.support.scenes import scenario


@dataclass(frozen=True, slots=True)
class Work:
    """The readers of each partition, and whole numbers."""

    readers: tuple[tuple[int, ...], ...]
    lag: tuple[int, ...]
    produced: tuple[int, ...]
    capacity: tuple[int, ...]

    def table(self) -> OwnershipTable:
        pairs = [(code, member) for code, its in enumerate(self.readers) for member in its]
        codes, owners = np.array(pairs, np.int32).reshape(-1, 2).T
        each = np.array([len(its) for its in self.readers], np.int64)
        return OwnershipTable(codes, owners, each, tuple(f"m{member}" for member in range(len(self.capacity))))

    def pools(self) -> Pools:
        return pools(self.table(), *(np.array(its, np.float64) for its in (self.lag, self.produced, self.capacity)))

    def sets(self) -> Iterator[tuple[int, int]]:
        """Of each set of partitions: its lag, and how much more its readers can read than is produced."""
        for size in range(1, len(self.readers) + 1):
            for some in combinations(range(len(self.readers)), size):
                members = {member for code in some for member in self.readers[code]}
                gain = sum(self.capacity[member] for member in members) - sum(self.produced[code] for code in some)
                yield sum(self.lag[code] for code in some), gain


@st.composite
def works(draw: st.DrawFn) -> Work:
    members = draw(st.integers(1, 6))
    readers = st.sets(st.integers(0, members - 1), min_size=1).map(lambda its: tuple(sorted(its)))
    of_each = draw(st.lists(readers, min_size=1, max_size=6))
    lag, produced = (
        draw(st.lists(st.sampled_from(amounts), min_size=len(of_each), max_size=len(of_each)))
        for amounts in ((0, 5, 10, 100, 1000), (0, 1, 5, 20))
    )
    capacity = draw(st.lists(st.sampled_from((0, 5, 10, 20, 60)), min_size=members, max_size=members))
    return Work(tuple(of_each), tuple(lag), tuple(produced), tuple(capacity))


def amounts(its: Work) -> tuple[Sequence[int], Sequence[int]]:
    """The lag of each pool, and how much more it can read than is produced."""
    found = its.pools()
    gain = found.member_sums(np.array(its.capacity, np.float64)) - found.sums(np.array(its.produced, np.float64))
    return found.sums(np.array(its.lag, np.float64)).tolist(), gain.tolist()


@given(works())
@random_examples(400)
def test_at_any_time_as_much_is_left_as_the_members_cannot_read_of_the_worst_set_of_partitions(its: Work) -> None:
    """By the theorem of the largest flow and the smallest cut; the time until all is read follows from it."""
    lag, gain = amounts(its)
    for seconds in (0, 1, 3, 10, 50, 500, 10**6):
        left = max(0, *(set_lag - set_gain * seconds for set_lag, set_gain in its.sets()))
        assert sum(max(0, of_lag - of_gain * seconds) for of_lag, of_gain in zip(lag, gain, strict=True)) == left


@given(works())
@random_examples(200)
def test_each_partition_and_each_of_its_readers_is_in_a_pool(its: Work) -> None:
    found, reads = its.pools(), {member for readers in its.readers for member in readers}
    assert set(np.flatnonzero(found.of_member >= 0)) >= reads
    assert set(found.of_partition.tolist()) <= set(range(found.count))
    for code, readers in enumerate(its.readers):
        has_reader = found.of_partition[code] in found.of_member[list(readers)]
        assert has_reader or its.lag[code] == its.produced[code] == 0


@given(works(), st.data())
@random_examples(200)
def test_one_more_reader_never_slows_a_group(its: Work, data: st.DataObject) -> None:
    joins = data.draw(st.sets(st.integers(0, len(its.readers) - 1), min_size=1))
    newcomer = len(its.capacity)
    readers = tuple((*own, newcomer) if code in joins else own for code, own in enumerate(its.readers))
    more = replace(its, readers=readers, capacity=(*its.capacity, 10))
    assert _seconds(more) <= _seconds(its)


def _seconds(its: Work) -> float:
    times = [
        (math.inf if of_gain < 0 or (of_gain == 0 and of_lag) else of_lag / of_gain if of_lag else 0.0)
        for of_lag, of_gain in zip(*amounts(its), strict=True)
    ]
    return max(times)


def test_a_member_of_two_partitions_helps_where_more_waits() -> None:
    its = Work(readers=((0, 1), (1, 2)), lag=(300, 120), produced=(0, 5), capacity=(10, 10, 10))
    assert amounts(its) == ([420], [25])
    assert amounts(replace(its, lag=(300, 0))) == ([300, 0], [20, 5])  # the third cannot help


def test_what_nobody_can_keep_up_with_does_not_slow_the_others() -> None:
    its = Work(readers=((0, 1), (1, 2)), lag=(0, 100), produced=(50, 0), capacity=(10, 10, 10))
    found = its.pools()
    assert found.of_member.tolist() == [0, 0, 1]
    assert found.of_partition.tolist() == [0, 1]


def test_members_whose_partitions_overlap_are_one_pool_while_something_is_unknown() -> None:
    table = Work(((0, 1), (1, 2)), (0, 0), (0, 0), (0, 0, 0)).table()
    found = pools(table, np.array([np.nan, 0.0]), np.zeros(2), np.ones(3))
    assert found.of_member.tolist() == [0, 0, 0]


def test_a_fair_share_is_as_even_as_the_owners_allow() -> None:
    table = Work(((0, 1), (1, 2), (2,)), (0,) * 3, (0,) * 3, (0,) * 3).table()
    assert fair_loads(table, np.array([6.0, 6.0, 6.0])).tolist() == [6, 6, 6]
    assert fair_loads(table, np.array([1.0, 2.0, 9.0])).tolist() == [1, 2, 9]


def shared(members: int) -> Scenario:
    """Two partitions with 100,000 records each; 200 a second arrive, and a member reads 60."""
    partitions = [TopicPartition("jobs", number) for number in range(2)]
    loads = Loads(
        lag_records=dict.fromkeys(partitions, 100_000.0),
        produced_per_s=dict.fromkeys(partitions, 100.0),
        default_capacity_per_s=60.0,
    )
    its = scenario("share-simple", "", topics="jobs:2")
    return replace(its, members=tuple(Member(f"c{at:02}", topics=("jobs",)) for at in range(members)), loads=loads)


@pytest.mark.parametrize(("members", "seconds"), [(4, 5000), (5, 2000), (6, 1250)])
def test_a_share_group_reads_as_fast_as_all_its_members_together(members: int, seconds: float) -> None:
    its = shared(members)
    (first,) = fold(its)
    assert first.quality.drain.seconds == seconds
    assert first.quality.skews["lag_records"].ratio == pytest.approx(1)
    found = backlog(first, its)
    assert isinstance(found, Backlog)
    assert found.at(np.array([0.0, seconds / 2, seconds])).tolist() == [200_000, 100_000, 0]


def test_a_share_group_that_cannot_keep_up_names_all_who_read_together() -> None:
    drain = fold(shared(3))[0].quality.drain
    assert drain == Drain(
        math.inf, "200 records a second arrive, and the 3 members that read them can process 180", "c00", 2
    )
