"""The charts of a group's cases: a heat map of members x assignor, and the frontier."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base
from app.ui.formats import DASH, joined, plural
from app.ui.theme import Palette
from app.views.sweeps.tables import Grid

ROW_PX = 26
HEAD_PX = 34
LETTER_PX = 8
"""Width of a character of an assignor's name."""
FRONTIER_PX = 300
MAX_TICKS = 6
Say = Callable[[float], str]
"""A value in words; a dash for NaN."""

Point = tuple[str, int, float]
"""Assignor, members, value."""


def heat_map(grid: Grid, say: Say, brief: Say, now: tuple[str, int] | None, colours: Palette) -> go.Figure:
    """Members (rows) x assignors (columns); the higher the value, the stronger the colour. `now` is framed.

    `say` formats values for hover texts, `brief` for cells. Assignors are the columns because a phone has room for few.

    The second trace has a point on each cell for clicks: `customdata` is assignor and members, None for an impossible
    case.
    """
    names = _two_lines(grid.assignors)
    # On a phone the names are turned. Where they are not, the rows are higher instead.
    turned_px = LETTER_PX * max(len(line) for name in names for line in name.split("<br>"))
    height_px = ROW_PX * len(grid.members) + max(HEAD_PX, round(turned_px))
    fig = base.figure(colours, height_px, left=64, top=HEAD_PX, bottom=2)
    fig.update_layout(minreducedheight=ROW_PX)
    _cells(fig, grid, brief, colours)
    fig.add_scatter(**_targets(grid, say, colours))
    if now is not None and now[0] in grid.assignors and now[1] in grid.members:
        row, column = list(grid.members).index(now[1]), list(grid.assignors).index(now[0])
        base.outline(fig, colours, (column - 0.48, column + 0.48), (row - 0.46, row + 0.46))
    _axes(fig, grid, colours)
    fig.update_layout(hoverdistance=-1)  # the whole cell can be clicked
    return fig


def _two_lines(names: Sequence[str]) -> list[str]:
    return [name.replace("-", "-<br>") for name in names]


def _cells(fig: go.Figure, grid: Grid, brief: Say, colours: Palette) -> None:
    low, top = _limits(grid.values)
    fig.add_heatmap(
        z=np.where(np.isposinf(grid.values), top, grid.values),
        colorscale=[list(stop) for stop in colours.ramp],
        zmin=low,
        zmax=top,
        showscale=False,
        xgap=2,
        ygap=2,
        text=[["" if np.isnan(value) else brief(value) for value in row] for row in grid.values.tolist()],
        texttemplate="%{text}",
        textfont={"color": colours.text},
        hoverinfo="skip",
    )


def _axes(fig: go.Figure, grid: Grid, colours: Palette) -> None:
    rows, columns = len(grid.members), len(grid.assignors)
    fig.update_xaxes(
        range=[-0.5, columns - 0.5],
        side="top",
        automargin=True,
        autotickangles=[0, 90],
        tickvals=list(range(columns)),
        ticktext=_two_lines(grid.assignors),
        ticklabeloverflow="allow",
        tickfont={"family": base.MONO, "size": 12, "color": colours.text},
    )
    fig.update_yaxes(
        range=[rows - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(rows)),
        ticktext=[f"{members:,}" for members in grid.members],
        title={"text": "members", "font": {"size": 12, "color": colours.dim}, "standoff": 4},
    )


def _limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """The limits of the colour scale. Infinity is as far above the highest value as that is above the lowest."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return low, high + max(high - low, 1.0) if np.isposinf(values).any() else high


def _targets(grid: Grid, say: Say, colours: Palette) -> dict[str, Any]:
    """Invisible points with the hover texts of the cells."""
    places = [(row, column) for row in range(len(grid.members)) for column in range(len(grid.assignors))]
    cases = [
        (grid.assignors[column], grid.members[row]) if grid.is_case[row, column] else None for row, column in places
    ]
    return {
        "x": [column for _, column in places],
        "y": [row for row, _ in places],
        "mode": "markers+text",  # the heat map writes no text in unknown cells
        "text": [DASH if np.isnan(grid.values[place]) else "" for place in places],
        "textfont": {"color": colours.dim},
        "marker": {"size": 22, "symbol": "square", "opacity": 0, "color": colours.background},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}, "textfont": {"color": colours.dim}},
        "customdata": cases,
        "hovertext": [_hover(grid, row, column, say) for row, column in places],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _hover(grid: Grid, row: int, column: int, say: Say) -> str:
    text, why = say(float(grid.values[row, column])), grid.why[row, column]
    return joined(
        grid.assignors[column],
        plural(grid.members[row], "member"),
        f"{text}: {why}" if why else text,
        "click to open in What if" if grid.is_case[row, column] else "",
    )


def frontier(
    points: Sequence[Point],
    best: Sequence[Point],
    now: Point | None,
    say: Say,
    steps: Sequence[float],
    colours: Palette,
) -> go.Figure:
    """All cases as grey points, the best for each number of members as a line, the present case as a cross.

    `steps`: round distances between ticks, ascending.
    """
    fig = base.figure(colours, FRONTIER_PX, left=70, right=12, top=14, bottom=44)
    fig.add_scatter(**_points(points, say, {"color": colours.kept_fill, "size": 6}))
    fig.add_scatter(
        **_points(best, say, {"color": colours.gained, "size": 9}) | {"mode": "lines+markers"},
        line={"color": colours.gained, "width": 2, "shape": "hv"},
    )
    if now is not None:
        look = {"color": colours.revoked, "size": 12, "symbol": "x", "line": {"width": 0}}
        fig.add_scatter(**_points([now], say, look) | {"hovertemplate": "now: %{text}<extra></extra>"})
    top = max([value for _, _, value in (*points, *([now] if now else ()))], default=1.0)
    step = next((step for step in steps if top / step < MAX_TICKS), top / MAX_TICKS)
    ticks = [step * at for at in range(MAX_TICKS + 1)]
    fig.update_yaxes(range=[0, top * 1.08], tickvals=ticks, ticktext=[say(at) for at in ticks])
    most = max((members for _, members, _ in points), default=1)
    fig.update_xaxes(
        range=[0, most + 1],
        dtick=max(1, round(most / 10)),
        title={"text": "members", "font": {"size": 12, "color": colours.dim}, "standoff": 4},
    )
    return fig


def _points(points: Sequence[Point], say: Say, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "x": [members for _, members, _ in points],
        "y": [value for _, _, value in points],
        "text": [f"{say(value)} with {assignor} on {members:,}" for assignor, members, value in points],
        "mode": "markers",
        "marker": marker,
        "hovertemplate": "%{text}<extra></extra>",
    }
