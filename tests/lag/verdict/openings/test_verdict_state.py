"""When verdicts open, hold and close. A letter for each poll: s stopped, f falling behind, n no members, . ok."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lag.verdict.health import Finding
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.openings.policy import GroupPolicy
from lag.verdict.openings.verdict_state import VerdictState
from lag.verdict.status import Status

LETTERS = {
    "s": Status.STOPPED,
    "f": Status.FALLING_BEHIND,
    "n": Status.NO_MEMBERS,
    ".": Status.OK,
    "~": Status.FLAPPING,
}
EVERY_MS = 10_000


def finding(found: str, poll: int) -> Finding:
    """Since the first of the polls in a row that found it."""
    letter = found[poll]
    first = len(found[: poll + 1].rstrip(letter))
    onset = None if letter == "." else Onset(first * EVERY_MS, True, OnsetSource.WINDOW)
    return Finding(LETTERS[letter], f"rule of {LETTERS[letter]}", f"evidence at {poll * EVERY_MS}", onset)


def after(state: VerdictState, found: str, poll: int, policy: GroupPolicy) -> VerdictState:
    return state.after(LETTERS[found[poll]], poll * EVERY_MS, policy, lambda: finding(found, poll - 1))


def shown(found: str, policy: GroupPolicy) -> list[Finding]:
    state, seen = VerdictState(), []
    for poll in range(len(found)):
        state = after(state, found, poll, policy)
        seen.append(state.shown(finding(found, poll), policy))
    return seen


def letters(findings: list[Finding]) -> str:
    by_status = {status: letter for letter, status in LETTERS.items()}
    return "".join(by_status[one.status] for one in findings)


@pytest.mark.parametrize(
    ("open_polls", "close_polls", "found", "expected"),
    [
        (1, 1, ".s.sf.", ".s.sf."),
        (2, 1, "s.ss.s.", "...s..."),
        (3, 1, "ssfss", "....."),
        (1, 2, "s.s..s", "ssss.s"),
        (1, 3, "s..s..", "ssssss"),
        (1, 3, "s......", "sss...."),
        (2, 3, "ss.f.ff", ".sssssf"),
        (2, 2, "ss.f..", ".ssss."),
        (3, 1, "sssfff", "..sssf"),
        (3, 1, "sssfnfn.", "..sssss."),
        (2, 2, "ssff", ".ssf"),
        (2, 9, "ssfsff", ".ssssf"),
    ],
)
def test_a_verdict_opens_and_closes_after_the_polls_of_the_policy(
    open_polls: int, close_polls: int, found: str, expected: str
) -> None:
    assert letters(shown(found, GroupPolicy(open_polls=open_polls, close_polls=close_polls))) == expected


def test_with_the_default_every_finding_is_shown_as_it_is() -> None:
    assert shown("s.ff", GroupPolicy()) == [finding("s.ff", poll) for poll in range(4)]


def test_a_verdict_that_is_not_open_yet_is_ok_with_its_evidence() -> None:
    first, second, _ = shown("sss", GroupPolicy(open_polls=3))
    assert first.status is Status.OK
    assert first.onset is None
    assert first.evidence == "stopped in 1 poll, opens after 3 in a row: evidence at 0"
    assert second.evidence == "stopped in 2 polls, opens after 3 in a row: evidence at 10000"


def test_an_open_verdict_holds_with_its_last_evidence() -> None:
    found = shown("ss..", GroupPolicy(close_polls=3))
    assert [one.status for one in found[2:]] == [Status.STOPPED, Status.STOPPED]
    assert found[2].evidence == "evidence at 10000; OK in 1 poll, closes after 3 in a row"
    assert found[3].evidence == "evidence at 10000; OK in 2 polls, closes after 3 in a row"
    assert found[3].rule == "rule of stopped"


def test_an_open_verdict_holds_until_another_one_opens() -> None:
    found = shown("sssff", GroupPolicy(open_polls=3))
    assert [one.status for one in found[3:]] == [Status.STOPPED, Status.STOPPED]
    assert found[4].evidence == "evidence at 20000; falling behind in 2 polls, opens after 3 in a row"
    assert found[4].onset == Onset(0, True, OnsetSource.WINDOW)


@given(st.text("sfn"), st.integers(1, 4), st.integers(1, 4))
def test_a_group_that_no_poll_finds_ok_is_not_ok_again(found: str, open_polls: int, close_polls: int) -> None:
    policy = GroupPolicy(open_polls=open_polls, close_polls=close_polls)
    assert "." not in letters(shown("s" * open_polls + found, policy))[open_polls - 1 :]


def test_a_verdict_that_stayed_open_holds_since_it_opened() -> None:
    since = [one.onset.at_ms for one in shown("ss.ss", GroupPolicy(close_polls=2)) if one.onset]
    assert since == [0, 0, 0, 0, 0]


def test_a_verdict_that_closed_holds_since_it_opened_again() -> None:
    since = [one.onset.at_ms for one in shown("s..s", GroupPolicy(close_polls=2)) if one.onset]
    assert since == [0, 0, 30_000]


def test_a_group_flaps_when_verdicts_open_more_often_than_allowed() -> None:
    policy = GroupPolicy(flapping_openings=2, flapping_s=80)
    found = shown("s.s.s......", policy)
    assert letters(found) == "s.s.s~~~..."
    assert found[5].evidence == "verdicts opened 3 times within 1 min 20 s; now: evidence at 50000"
    assert found[5].onset == Onset(0, True, OnsetSource.WINDOW)


def test_a_more_urgent_verdict_is_shown_rather_than_flapping() -> None:
    policy = GroupPolicy(flapping_openings=1, flapping_s=600)
    assert letters(shown("n.n.ss.", policy)) == "n.~~ss~"


def test_another_verdict_counts_as_an_opening() -> None:
    policy = GroupPolicy(flapping_openings=2, flapping_s=600)
    assert letters(shown("sfs.", policy)) == "sfs~"


def test_nothing_is_left_of_a_group_that_is_calm() -> None:
    policy = GroupPolicy(close_polls=2, flapping_openings=1, flapping_s=30)
    state = VerdictState()
    calm = []
    for poll in range(7):
        state = after(state, "s......", poll, policy)
        calm.append(state.is_calm)
    assert calm == [False, False, False, True, True, True, True]
