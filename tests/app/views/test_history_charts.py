"""The map of groups and hours, and durations on an axis."""

from datetime import datetime, timedelta

import pytest

from app.ui import theme
from app.views.history.charts import SECONDS, Tile, health
from lag.verdict.status import STATUS_CODE, Status

DAY = datetime(2026, 11, 22, 7)
HOUR = timedelta(hours=1)
HOURS = [DAY + HOUR * at for at in range(3)]


def test_each_cell_has_the_colour_of_its_worst_status_and_its_symbol() -> None:
    tiles = {"a": {0: Tile(Status.STOPPED, "x"), 2: Tile(Status.UNKNOWN, "y")}, "b": {}}
    fig = health(tiles, dict(enumerate(HOURS)), HOUR, theme.LIGHT)
    assert [list(row) for row in fig.data[0].z] == [
        [STATUS_CODE[Status.STOPPED], None, STATUS_CODE[Status.UNKNOWN]],
        [None, None, None],
    ]
    assert fig.data[0].customdata[0][0] == "x"
    words = [[word.strip() for word in trace.text[0]] for trace in fig.data[1:] if trace.text]
    assert ["■", "", ""] in words
    assert ["", "", "◌"] in words
    assert fig.layout.xaxis.ticktext == ("07:00", "08:00", "09:00")
    assert fig.layout.yaxis.ticktext == ("a", "b")


def test_a_week_of_hours_names_every_other_day_where_it_begins() -> None:
    columns = {at: DAY + HOUR * at for at in range(168)}
    fig = health({"a": {}}, columns, HOUR, theme.DARK)
    assert fig.layout.xaxis.ticktext == tuple(f"{day} Nov" for day in range(23, 30, 2))
    assert fig.layout.xaxis.tickvals[0] == 17


def test_a_day_whose_first_hour_the_clock_leaves_out_is_named_where_it_begins() -> None:
    hours = [DAY.replace(hour=23), DAY.replace(day=23, hour=1), *[DAY.replace(day=24)] * 58]
    columns = dict(enumerate(hours))
    fig = health({"a": {}}, columns, HOUR, theme.DARK)
    assert (fig.layout.xaxis.tickvals, fig.layout.xaxis.ticktext) == ((1, 2), ("23 Nov", "24 Nov"))


def test_a_day_of_23_hours_after_another_is_a_day() -> None:
    fig = health({"a": {}}, {0: DAY, 1: DAY + 23 * HOUR}, timedelta(days=1), theme.DARK)
    assert fig.layout.xaxis.ticktext == ("22 Nov", "23 Nov")


@pytest.mark.parametrize(
    ("top", "labels"),
    [
        (10, ["0", "5 s", "10 s"]),
        (200, ["0", "1 min", "2 min", "3 min"]),
        (7_000, ["0", "30 min", "1 h", "1 h 30 min"]),
        (500_000, ["0", "2 days", "4 days"]),
    ],
)
def test_durations_stand_at_round_steps(top: int, labels: list[str]) -> None:
    assert SECONDS.ticks(top)[1] == labels
