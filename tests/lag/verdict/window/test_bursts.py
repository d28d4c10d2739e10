"""A burst of records is watched when it comes and catching up while it is read, never OK or falling behind."""

import numpy as np

from lag.verdict.status import Status
from lag.verdict.window import rates
from tests.lag.verdict.rules.test_status_rules import watch

BURST = 35_000


def statuses(read_per_poll: int, polls: int = 40, burst_at: int = 20) -> list[Status]:
    """Of a partition that gets 50 records a poll, and BURST more at one; its member keeps up, then reads that fast."""
    position, end, committed, ends = 0, 0, list[int](), list[int]()
    for poll in range(polls):
        end += 50 + (BURST if poll == burst_at else 0)
        position = min(end, position + read_per_poll)
        committed.append(position)
        ends.append(end)
    return [
        watch({"t-0": committed[: poll + 1]}, {"t-0": ends[: poll + 1]}, polls=poll + 1)[1]["t-0"].finding.status
        for poll in range(polls)
    ]


def test_a_burst_is_watched_then_catching_up_until_it_is_read() -> None:
    found = statuses(read_per_poll=3_000)
    assert set(found[:20]) == {Status.OK}
    assert found[20] is Status.WATCHING
    assert found[21:31] == [Status.CATCHING_UP] * 10
    assert set(found[33:]) == {Status.OK}


def test_a_burst_that_is_read_at_once_changes_nothing() -> None:
    assert set(statuses(read_per_poll=40_000)) == {Status.OK}


def test_a_commit_that_went_back_is_no_jump() -> None:
    lag = np.array([[0], [0], [0], [0], [0], [9_000]])
    committed = np.array([[9_000]] * 5 + [[0]])
    nothing = np.zeros(1)
    assert not rates.jumped(committed, lag, nothing, nothing, 6).any()
    assert rates.jumped(np.full((6, 1), 9_000), lag, nothing, nothing, 6).all()
    assert not rates.jumped(np.full((6, 1), 9_000), lag, np.array([9_000.0]), nothing, 6).any()
