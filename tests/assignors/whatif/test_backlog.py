"""The lag over time under an assignment, and why it is unknown."""

from dataclasses import replace

import numpy as np
import pytest

from assignors.model import TopicPartition
from assignors.scenario import examples, load_scenario
from assignors.simulation.fold import fold
from assignors.whatif.backlog import Backlog, backlog
from assignors.whatif.events import AddPartitions, Join, Leave, Loads, Scenario
from tests.support.scenes import member, scenario


def by_number(*values: float) -> dict[TopicPartition, float]:
    return {TopicPartition("t", number): value for number, value in enumerate(values)}


LOADS = Loads(lag_records=by_number(60, 30, 0, 10), produced_per_s=by_number(2, 1, 4, 1), default_capacity_per_s=6)


def loaded(loads: Loads, *actions: Leave | Join | AddPartitions, members: str = "A B") -> Scenario:
    return replace(scenario("range", members, *actions, topics="t:4"), loads=loads)


def known(its: Scenario, at: int) -> Backlog:
    found = backlog(fold(its)[at], its)
    assert isinstance(found, Backlog)
    return found


def test_each_member_drains_at_its_capacity_less_what_is_produced() -> None:
    found = known(loaded(LOADS), 0)
    assert found.at(np.array([0.0, 10.0, 20.0, 30.0, 60.0])).tolist() == [100, 60, 30, 0, 0]
    assert found.drained_s() == 30


def test_the_member_that_is_left_with_everything_falls_behind() -> None:
    found = known(loaded(LOADS, Leave("B")), -1)
    assert found.at(np.array([0.0, 10.0])).tolist() == [100, 120]
    assert found.drained_s() == 0


def test_a_member_that_joins_with_its_own_capacity_drains_at_it() -> None:
    joins = Join(member("C"), capacity_per_s=100.0)
    found = known(loaded(LOADS, joins), -1)
    owner = fold(loaded(LOADS, joins))[-1].after.by_member["C"]
    assert [str(tp) for tp in owner] == ["t-3"]
    assert found.growth_per_s.tolist() == [3 - 6, 4 - 6, 1 - 100, 0]


def test_a_group_without_members_has_no_curve() -> None:
    its = loaded(LOADS, Leave("A"), Leave("B"))
    assert backlog(fold(its)[-1], its) == "the group has no members"


def test_lag_of_a_revoked_partition_grows_until_it_has_an_owner() -> None:
    its = replace(loaded(LOADS, Join(member("C"))), assignor="cooperative-sticky")
    found = known(its, 1)
    assert (found.lag_records[-1], found.growth_per_s[-1]) == (10, 1)


@pytest.mark.parametrize(
    ("loads", "reason"),
    [
        (Loads(), "the lag of 2 of its 2 partitions is unknown"),
        (replace(LOADS, produced_per_s={}), "the produce rate of 2 of its 2 partitions is unknown"),
        (replace(LOADS, default_capacity_per_s=None), "how much a member can process is unknown"),
    ],
)
def test_an_unknown_load_is_a_reason_and_no_curve(loads: Loads, reason: str) -> None:
    its = loaded(loads)
    assert backlog(fold(its)[0], its) == reason


def test_new_partitions_have_an_unknown_lag() -> None:
    its = loaded(LOADS, AddPartitions("t", 6))
    now, *_, then = fold(its)
    assert isinstance(backlog(now, its), Backlog)
    assert backlog(then, its) == "the lag of 2 of its 3 partitions is unknown"


def test_the_last_lag_is_gone_when_the_drain_time_says_so() -> None:
    its = load_scenario(examples()["hot-member"])
    for generation in fold(its, "server-range"):
        found = backlog(generation, its)
        drain_s = generation.quality.drain.seconds
        if isinstance(found, Backlog) and drain_s is not None and np.isfinite(drain_s):
            assert found.drained_s() == pytest.approx(drain_s)
            assert found.at(np.array([drain_s]))[0] == pytest.approx(0)
