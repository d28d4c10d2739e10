"""The lag over time on What if: both lines, their end, and why one is missing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from app.ui.labs import link_codec
from app.ui.theme import DARK
from app.views.whatif.drain_chart import NOW, THEN, alt, curves, horizon_s
from assignors.scenario import examples, load_scenario
from assignors.whatif.backlog import Backlog
from assignors.whatif.events import AddPartitions, Event
from tests.app.conftest import Open
from tests.app.reading import page_text

SLOW = Backlog(np.array([600.0, 0.0]), np.array([-1.0, 0.0]))
QUICK = Backlog(np.array([600.0, 0.0]), np.array([-6.0, 0.0]))
GROWS = Backlog(np.array([600.0, 0.0]), np.array([2.0, 0.0]))


def test_both_lines_go_from_the_lag_of_now_to_the_end_of_the_slower_one() -> None:
    fig = curves({NOW: SLOW, THEN: QUICK}, DARK)
    assert [line.y[0] for line in fig.data] == [600, 600]
    assert [line.y[-1] for line in fig.data] == [0, 0]
    assert fig.data[0].x[-1] == horizon_s({NOW: SLOW, THEN: QUICK}) == 660
    assert fig.layout.xaxis.ticktext[-1] == "10 min"
    assert fig.data[0].line.dash != fig.data[1].line.dash


def test_a_lag_that_grows_is_shown_for_ten_minutes() -> None:
    assert curves({NOW: GROWS}, DARK).data[0].y[-1] == 600 + 2 * 600
    assert "from 600 to 1,800 records in 10 min" in alt({NOW: GROWS})


def test_the_alternative_text_says_when_each_lag_is_gone() -> None:
    found = alt({NOW: SLOW, THEN: QUICK})
    assert "now: from 600 to 0 records in 10 min" in found
    assert "after the events: from 600 to 0 records in 1 min 40 s" in found


def test_a_line_is_missing_with_its_reason(open_page: Open) -> None:
    its = load_scenario(examples()["hot-member"])
    grows = replace(its, events=(Event(1_000, AddPartitions("orders", 12)),))
    page = open_page("whatif", scenario=link_codec.pack(grows))
    assert not page.exception
    assert "There is no line “after the events”: the lag of" in page_text(page)


@pytest.mark.parametrize("name", ["cooperative-hand-over", "hot-member"])
def test_lag_over_time_is_shown_where_the_lag_is_known(open_page: Open, name: Any) -> None:
    page = open_page("whatif", example=name)
    assert any(title.value == "Lag over time" for title in page.header) == (name == "hot-member")
