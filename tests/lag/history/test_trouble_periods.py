"""How often, since when, how long: runs of trouble among the minutes that are known."""

import pandas as pd
import pytest

from lag.history.trouble_periods import TroublePeriod, trouble_periods
from lag.verdict.health import Status
from lag.verdict.status import STATUS_CODE

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
    return TroublePeriod(since * MINUTE_US, until * MINUTE_US, known, worst, unseen, on)


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
    assert trouble_periods(verdicts, [S, L]) == found


def test_a_minute_that_is_not_known_neither_ends_a_spell_nor_begins_one() -> None:
    assert trouble_periods(run(FINE, S, U, S, U, FINE), [S]) == [spell(1, 4, S, minutes=2)]
    assert trouble_periods(run(U, S, U), [S]) == [spell(1, 2, S, unseen=True, on=True)]
    assert trouble_periods(health((0, FINE), (1, S), (9, S), (10, FINE)), [S]) == [spell(1, 10, S, minutes=2)]
