"""How often, since when, how long: runs of trouble among the minutes that are known."""

from dataclasses import replace
from datetime import timedelta

import pandas as pd
import pytest

from lag.history.trouble_periods import TroublePeriod, trouble_periods, with_onset
from lag.times import EPOCH
from lag.verdict.health import Finding
from lag.verdict.onset import Onset, OnsetSource
from lag.verdict.status import STATUS_CODE, Status

MINUTE_US = 60_000_000
FINE, S, L, U = Status.OK, Status.STOPPED, Status.LOST, Status.UNKNOWN


def health(*minutes: tuple[int, Status]) -> pd.DataFrame:
    """The status of the group in those minutes."""
    rows = [(at * MINUTE_US, STATUS_CODE[status]) for at, status in minutes]
    return pd.DataFrame(rows, columns=["at_us", "rank"])


def run(*statuses: Status) -> pd.DataFrame:
    """That status minute after minute."""
    return health(*enumerate(statuses))


def spell(
    since: int, until: int, worst: Status, unseen: bool = False, on: bool = False, minutes: int | None = None
) -> TroublePeriod:
    known = until - since if minutes is None else minutes
    return TroublePeriod(since * MINUTE_US, until * MINUTE_US, known, worst, unseen, on, on)


def found_in(verdicts: pd.DataFrame, *trouble: Status, until: int = 11) -> list[TroublePeriod] | None:
    return trouble_periods(verdicts, trouble, EPOCH + timedelta(minutes=until))


@pytest.mark.parametrize(
    ("verdicts", "found"),
    [
        (run(), None),
        (run(FINE, FINE), []),
        (run(U, FINE), []),
        (run(U, U), None),
        (run(FINE, S, S, FINE), [spell(1, 3, S)]),
        (run(S, FINE, S), [spell(0, 1, S, unseen=True), spell(2, 3, S, on=True)]),
        (run(FINE, L, S, L, FINE), [spell(1, 4, S)]),
        (run(S, S), [spell(0, 2, S, unseen=True, on=True)]),
    ],
)
def test_spells_are_runs_of_trouble_with_their_worst_status(
    verdicts: pd.DataFrame, found: list[TroublePeriod] | None
) -> None:
    assert found_in(verdicts, S, L) == found


def test_a_minute_that_is_not_known_neither_ends_a_spell_nor_begins_one() -> None:
    assert found_in(run(FINE, S, U, S, U, FINE), S) == [spell(1, 4, S, minutes=2)]
    assert found_in(run(U, S, U), S) == [spell(1, 2, S, unseen=True, on=True)]
    assert found_in(health((0, FINE), (1, S), (9, S), (10, FINE)), S) == [spell(1, 10, S, minutes=2)]


def test_a_group_whose_last_status_is_old_is_not_in_trouble_now() -> None:
    (period,) = found_in(run(FINE, S, S), S, until=13) or []
    assert period == spell(1, 3, S, on=True)
    (period,) = found_in(run(FINE, S, S), S, until=14) or []
    assert period == replace(spell(1, 3, S, on=True), is_ongoing=False)


def live(status: Status, at_ms: int, is_exact: bool = True) -> Finding:
    return Finding(status, "", "", Onset(at_ms, is_exact, OnsetSource.COMMIT))


def test_the_period_that_goes_on_begins_at_the_onset_of_the_same_live_verdict() -> None:
    before = [spell(0, 1, S), spell(3, 5, S, unseen=True, on=True)]
    assert with_onset(before, live(S, 140_000)) == [
        before[0],
        replace(before[1], since_us=140_000_000, starts_before_data=False),
    ]
    (_, bound) = with_onset(before, live(S, 140_000, is_exact=False))
    assert (bound.since_us, bound.starts_before_data) == (140_000_000, True)


@pytest.mark.parametrize(
    ("period", "finding"),
    [
        (spell(3, 5, S, on=True), live(L, 140_000)),
        (spell(3, 5, S, on=True), live(S, 260_000)),
        (spell(3, 5, S), live(S, 140_000)),
        (spell(3, 5, S, on=True), Finding(S, "", "")),
    ],
    ids=["another verdict", "other trouble precedes", "it is over", "no onset"],
)
def test_other_periods_stay(period: TroublePeriod, finding: Finding) -> None:
    assert with_onset([period], finding) == [period]
