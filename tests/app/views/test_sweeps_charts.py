"""The heat map of a group's cases: what never ends has a colour of its own, what is not known has none."""

import math
from collections.abc import Sequence

import numpy as np
from plotly.graph_objects import Figure

from app.ui import theme
from app.views.sweeps.charts import heat_map
from app.views.sweeps.tables import Grid

NAN, NEVER = math.nan, math.inf


def drawn(*rows: Sequence[float]) -> Figure:
    """Those values, two assignors wide; what is not known is no case."""
    values = np.array(rows)
    why = np.where(np.isnan(values), "it cannot be", "").astype(object)
    grid = Grid(list(range(1, len(rows) + 1)), ["a", "b"], values, why, ~np.isnan(values))
    return heat_map(grid, lambda value: "–" if math.isnan(value) else str(value), str, None, theme.LIGHT)


def test_never_is_as_far_above_the_longest_as_that_above_the_shortest() -> None:
    heat = drawn((NEVER, 10.0), (30.0, 20.0)).data[0]
    assert heat.z.tolist() == [[50, 10], [30, 20]]
    assert (heat.zmin, heat.zmax) == (10, 50)
    assert drawn((10.0, 30.0)).data[0].zmax == 30


def test_never_is_not_the_colour_of_the_only_time_there_is() -> None:
    heat = drawn((NEVER, 120.0)).data[0]
    assert heat.z.tolist() == [[121, 120]]
    assert (heat.zmin, heat.zmax) == (120, 121)


def test_a_cell_that_is_not_known_has_a_dash_its_reason_and_no_click() -> None:
    heat, targets = drawn((NAN, 3.0)).data
    assert list(heat.text[0]) == ["", "3.0"]
    assert targets.text == ("–", "")
    assert targets.hovertext == ("a · 1 member · –: it cannot be", "b · 1 member · 3.0 · click to open in What if")
    assert list(targets.customdata) == [None, ["b", 1]]
