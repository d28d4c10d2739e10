"""Stored statuses keep their meaning, however statuses are ordered by urgency."""

from pathlib import Path

import numpy as np
import pytest

from lag.history.queries import HistoryQueries
from lag.history.span import MINUTE, Span
from lag.history.status_codes import ranks, stored_codes
from lag.history.store import History
from lag.verdict.catalogue import STORED
from lag.verdict.status import URGENCY, Status
from tests.lag.history.past import past
from tests.lag.history.rows import NOON

LAST = len(Status) - 1
SPAN = Span(NOON, NOON + 5 * MINUTE)
STORED_SINCE_THE_FIRST_VERSION = {
    "stopped": 0, "stalled": 1, "lost": 2, "beyond_end": 3, "rewound": 4, "falling_behind": 5, "never_committed": 6,
    "held": 7, "no_members": 8, "catching_up": 9, "topic_deleted": 10, "unknown": 11, "ok": 12,
}  # fmt: skip


@pytest.fixture
def other_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of today's numbers is not that of the urgency, as after a new status before others."""
    numbers = dict(zip(URGENCY, [LAST, *range(LAST)], strict=True))
    for status, number in numbers.items():
        monkeypatch.setitem(STORED, status, number)


def test_a_number_keeps_its_meaning_and_a_new_status_takes_the_next_one() -> None:
    assert STORED_SINCE_THE_FIRST_VERSION.items() <= {str(status): code for status, code in STORED.items()}.items()
    assert sorted(STORED.values()) == list(range(len(Status)))


def test_every_rank_comes_back_from_its_number() -> None:
    assert ranks(stored_codes(np.arange(len(Status)))).tolist() == list(range(len(Status)))
    assert stored_codes(np.array([URGENCY.index(Status.FLAPPING)])).tolist() == [13]


@pytest.mark.usefixtures("other_order")
def test_ranks_come_back_from_numbers_in_another_order() -> None:
    assert stored_codes(np.array([0, 1, LAST])).tolist() == [LAST, 0, LAST - 1]
    assert ranks(np.array([LAST, 0, LAST - 1])).tolist() == [0, 1, LAST]


@pytest.mark.usefixtures("other_order")
def test_the_worst_status_is_the_most_urgent_and_not_the_lowest_number(tmp_path: Path) -> None:
    history = History(tmp_path)
    statuses = (Status.STALLED, Status.STOPPED, Status.UNKNOWN, Status.OK)
    made = past("group_health_1m", *({"at": at, "status": status} for at, status in enumerate(statuses)))
    assert made["status"].to_pylist() == [0, LAST, LAST - 2, LAST - 1]
    history.append("group_health_1m", made)
    queries = HistoryQueries(history, "c1")
    cells = queries.health_cells(SPAN, [Status.STALLED])[["rank", "known_minutes", "trouble_minutes"]]
    assert cells.to_numpy().tolist() == [[0, 3, 1]]
    assert queries.health_series("g", SPAN)["rank"].tolist() == [1, 0, LAST - 1, LAST]
