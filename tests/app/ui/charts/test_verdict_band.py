"""The band of verdicts: one cell for each, empty cells between, colours of the verdicts."""

from datetime import datetime, timedelta

import numpy as np

from app.ui.charts import base, lag
from app.ui.charts.verdict_band import VerdictSpan, add_verdicts
from app.ui.theme import LIGHT
from lag.verdict.status import URGENCY, Status

START = datetime(2026, 11, 21, 10)


def span(first: int, last: int, status: Status) -> VerdictSpan:
    """From minute `first` to minute `last`."""
    return VerdictSpan(START + timedelta(minutes=first), START + timedelta(minutes=last), status, f"{status}")


def test_a_time_without_a_verdict_is_an_empty_cell() -> None:
    fig = base.figure(LIGHT, 200)
    spans = [span(0, 5, Status.OK), span(5, 7, Status.STALLED), span(9, 10, Status.OK)]
    add_verdicts(fig, spans, LIGHT)
    (heat,) = fig.data
    assert heat.x == tuple(START + timedelta(minutes=at) for at in (0, 5, 7, 9, 10))
    ok, stalled = URGENCY.index(Status.OK), URGENCY.index(Status.STALLED)
    assert list(heat.z) == [[ok, stalled, None, ok]]
    assert list(heat.customdata) == [["ok", "stalled", "", "ok"]]


def test_the_line_ends_below_the_band() -> None:
    fig = lag.over_time([START, START + timedelta(minutes=1)], np.array([1.0, 2.0]), None, LIGHT)
    add_verdicts(fig, [span(0, 1, Status.OK)], LIGHT)
    assert fig.layout.yaxis.domain[1] < fig.layout.yaxis2.domain[0]
