"""Groups are compared with their own commit habits: simulated groups, healthy and not, under the server's rules."""

import numpy as np
import pytest

from lag.verdict.status import STATUS_CODE, Status
from tests.support.group_traces import BEFORE_S, Arrivals, Fault, Population, polls
from tests.support.judged_traces import judged

INTERVALS_S = np.array([0.1, 1, 5, 30, 60, 300, 600, 3600])
POLL_S = 10.0


def population(
    arrivals: Arrivals, memberless: bool = False, fault: Fault = Fault.NONE, fault_s: float = np.inf
) -> Population:
    """Five groups of each interval, with different rates."""
    interval_s = np.repeat(INTERVALS_S, 5)
    count = len(interval_s)
    return Population(
        interval_s=interval_s,
        arrivals=np.full(count, arrivals, np.int64),
        memberless=np.full(count, memberless),
        fault=np.full(count, fault, np.int64),
        rate_per_s=np.tile([0.2, 1.0, 5.0, 40.0, 300.0], len(INTERVALS_S)),
        fault_s=fault_s,
    )


@pytest.mark.parametrize("arrivals", list(Arrivals))
@pytest.mark.parametrize("memberless", [False, True])
def test_a_healthy_group_is_ok_however_rarely_it_commits(arrivals: Arrivals, memberless: bool) -> None:
    of = population(arrivals, memberless)
    for poll in judged(of, polls(of, POLL_S, 0.5, seed=7)):
        assert not poll.alarms.any(), (poll.at_ms, of.interval_s[poll.alarms], poll.status[poll.alarms])


@pytest.mark.parametrize("memberless", [False, True])
def test_the_polls_alone_tell_the_habit_after_a_while(memberless: bool) -> None:
    """Where `__consumer_offsets` cannot be read. At first a group is taken to commit every minute."""
    of = population(Arrivals.STEADY, memberless)
    opened = [poll.alarms for poll in judged(of, polls(of, POLL_S, 1.0, seed=8), reads_records=False)]
    usual = of.interval_s <= 60
    assert not np.any(opened, axis=0)[usual].any() or memberless
    assert not np.any(opened[-60:], axis=0)[of.interval_s <= 600].any()


def test_a_group_that_stops_is_watched_soon_and_then_stopped() -> None:
    """Soon: two polls after its usual time and a tenth of it; an alarm after a quarter of it, and 45 s at least."""
    stops_s = BEFORE_S + 600
    of = population(Arrivals.STEADY, fault=Fault.STOP, fault_s=stops_s)
    frequent = of.rate_per_s >= 1
    watched, stopped = np.full(len(of), np.inf), np.full(len(of), np.inf)
    for poll in judged(of, polls(of, POLL_S, 1.5, seed=9)):
        after_s = poll.at_ms / 1000 - stops_s
        if after_s >= 0:
            watched[poll.status <= STATUS_CODE[Status.WATCHING]] = np.minimum(watched, after_s)[
                poll.status <= STATUS_CODE[Status.WATCHING]
            ]
            stopped[poll.alarms] = np.minimum(stopped, after_s)[poll.alarms]
    may_take_s = 1.1 * of.interval_s
    assert (watched <= 1.1 * may_take_s + 3 * POLL_S)[frequent].all()
    assert (stopped <= np.maximum(45, 1.25 * may_take_s) + 3 * POLL_S)[frequent & (of.interval_s <= 600)].all()


def test_one_partition_that_is_stuck_is_stalled() -> None:
    stuck_s = BEFORE_S + 600
    of = population(Arrivals.STEADY, fault=Fault.STUCK, fault_s=stuck_s)
    *_, last = judged(of, polls(of, POLL_S, 1.0, seed=10))
    frequent = (of.rate_per_s >= 1) & (of.interval_s <= 60)
    assert set(last.status[frequent].tolist()) == {STATUS_CODE[Status.STALLED]}


def test_a_group_that_reads_less_than_arrives_is_falling_behind() -> None:
    of = population(Arrivals.STEADY, fault=Fault.SLOW, fault_s=BEFORE_S + 300)
    *_, last = judged(of, polls(of, POLL_S, 1.0, seed=11))
    frequent = (of.rate_per_s >= 5) & (of.interval_s <= 60)
    assert set(last.status[frequent].tolist()) == {STATUS_CODE[Status.FALLING_BEHIND]}
