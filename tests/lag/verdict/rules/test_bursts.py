"""A burst of records: falling behind while it arrives, and no longer once the group works it off."""

import pytest

from lag.verdict.judge import Past, judge
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, end, group

EVERY_MS = 5_000
CALM = 40
"""Polls in which the group keeps up, before the burst."""

FALLING_BEHIND = Status.FALLING_BEHIND


def statuses(burst_polls: int, capacity: int, after: int) -> list[Status]:
    """The status at each poll from the burst on: 5,000 records in `burst_polls` polls, beside 100 in every poll."""
    ring, past, found, committed, log_end = SampleRing(), Past(), [], 0, 0
    for number in range(1, CALM + burst_polls + after + 1):
        is_burst = CALM < number <= CALM + burst_polls
        log_end += 100 + (5_000 // burst_polls if is_burst else 0)
        committed = min(log_end, committed + capacity)
        snapshot = cluster({"g": group({"t-0": committed})}, {"t-0": end(log_end)}, number, number * EVERY_MS)
        health = judge(snapshot, ring.append(snapshot), past=past)
        past = Past(health.onsets or past.onsets)
        found.append(health.groups[0].finding.status)
    return found[CALM:]


@pytest.mark.parametrize("capacity", [150, 200, 300])
def test_a_group_that_works_off_a_burst_is_not_falling_behind(capacity: int) -> None:
    assert FALLING_BEHIND not in statuses(1, capacity, after=40)


@pytest.mark.parametrize("capacity", [150, 200, 300])
def test_a_long_burst_is_falling_behind_while_it_arrives(capacity: int) -> None:
    found = statuses(20, capacity, after=40)
    assert found[19] is FALLING_BEHIND
    assert FALLING_BEHIND not in found[26:]


def test_a_group_that_is_too_slow_stays_falling_behind() -> None:
    found = statuses(1, 90, after=60)
    assert found[12:] == [FALLING_BEHIND] * len(found[12:])
