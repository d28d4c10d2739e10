"""A group that an open transaction holds, what is found when the transaction ends, and when the next one begins."""

from collections.abc import Sequence

import pytest

from lag.verdict.health import Finding, Health
from lag.verdict.judge import Past, judge
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import Status
from lag.verdict.window.sample_window import SampleRing
from tests.lag.make import cluster, end, group

EVERY_MS = 10_000
HELD, OK, STOPPED = Status.HELD, Status.OK, Status.STOPPED

Poll = tuple[int, int | None, int]
"""Committed offset, last stable offset and log end."""

KEEPS_UP: list[Poll] = [(10 * poll, 10 * poll, 10 * poll) for poll in range(6)]
AT = len(KEEPS_UP) * 10
OPEN: list[Poll] = [(AT, AT, AT + 10 * poll) for poll in range(1, 31)]
"""A transaction of 300 s, into which 10 records are written per poll."""


def watch(polls: Sequence[Poll], max_samples: int = 60) -> list[Health]:
    ring, past, found = SampleRing(max_samples), Past(), []
    for number, (committed, stable, log_end) in enumerate(polls, 1):
        high = end(log_end, stable=-1 if stable is None else stable)
        snapshot = cluster({"g": group({"t-0": committed})}, {"t-0": high}, number, number * EVERY_MS)
        found.append(judge(snapshot, ring.append(snapshot), past=past))
        past = Past(found[-1].onsets or past.onsets)
    return found


def findings(polls: Sequence[Poll], max_samples: int = 60) -> list[Finding]:
    return [health.groups[0].finding for health in watch(polls, max_samples)]


def statuses(polls: Sequence[Poll]) -> list[Status]:
    return [finding.status for finding in findings(polls)]


def test_a_group_is_held_after_45_seconds_and_since_its_records_wait() -> None:
    found = findings(KEEPS_UP + OPEN)
    assert [finding.status for finding in found].index(HELD) == len(KEEPS_UP) + 5
    assert found[-1].onset == Onset((len(KEEPS_UP) + 1) * EVERY_MS, True, OnsetSource.WINDOW)


def test_a_group_that_reads_on_when_the_transaction_ends_has_not_stopped() -> None:
    after: list[Poll] = [(AT, AT + 300, AT + 300), *((AT + 300 + 10 * poll,) * 3 for poll in range(6))]
    assert statuses(KEEPS_UP + OPEN + after)[-len(after) :] == [OK] * len(after)


@pytest.mark.parametrize("max_samples", [60, 12])
def test_a_group_that_does_not_read_on_has_stopped_when_the_transaction_ended(max_samples: int) -> None:
    after: list[Poll] = [(AT, AT + 300 + 10 * poll, AT + 300 + 10 * poll) for poll in range(20)]
    found = findings(KEEPS_UP + OPEN + after, max_samples)[-len(after) :]
    assert [finding.status for finding in found[:2]] == [OK] * 2
    ended_ms = (len(KEEPS_UP) + len(OPEN) + 1) * EVERY_MS
    onset = Onset(ended_ms, True, OnsetSource.WINDOW)
    assert {(finding.status, finding.onset) for finding in found[5:]} == {(STOPPED, onset)}


def test_the_next_open_transaction_is_found_as_soon_as_the_first() -> None:
    top = AT + 300
    between: list[Poll] = [(top + 10 * poll,) * 3 for poll in range(1, 4)]
    again: list[Poll] = [(top + 30, top + 30, top + 40 + 10 * poll) for poll in range(12)]
    assert statuses(KEEPS_UP + OPEN + between + again)[-len(again) :].index(HELD) == 5


def test_a_last_stable_offset_that_one_poll_could_not_read_ends_no_hold() -> None:
    polls = KEEPS_UP + OPEN
    polls[-1] = (AT, None, AT + 300)
    before, last = findings(polls)[-2:]
    assert (last.status, last.onset) == (HELD, before.onset)
    assert "could not be read" in last.evidence
    assert findings([*polls, (AT, AT, AT + 310)])[-1].onset == before.onset


def test_how_long_a_held_group_takes_to_drain_is_unknown() -> None:
    health = watch(KEEPS_UP + OPEN)[-1]
    assert health.groups[0].drain_s is None
