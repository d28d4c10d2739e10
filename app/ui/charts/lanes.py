"""Rows of labelled tiles that scale with the page: one row per member, one tile per partition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.ui.charts import base, limits

LANE_PX = 33
CLEAR = "rgba(0,0,0,0)"
LEAST_SLOTS = 8
"""Lanes with fewer tiles keep tiles of this size, flush left."""


@dataclass(frozen=True, slots=True)
class Style:
    """Colours of a tile, and the symbol of its kind ("": none); `outline` None draws none."""

    fill: str
    ink: str
    outline: str | None = None
    glyph: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """One tile: its label, its style, what hovering says."""

    label: str
    style: Style
    hover: str


BLANK = Box("", Style(CLEAR, CLEAR), "")


def boxes(fig: go.Figure, rows: Sequence[Sequence[Box]], width: int) -> None:
    """Draw the tiles of each row from the left, in lanes of `width` tiles; labels only where they have room."""
    styles = list(dict.fromkeys(box.style for row in rows for box in row)) or [BLANK.style]
    _fills(fig, rows, styles, width)
    for style in styles if width <= limits.LABELLED_LANE else ():
        words = [[box.label if box.style == style else "" for box in row] for row in rows]
        write(fig, [[*row, *[""] * (width - len(row))] for row in words], style.ink)
    # All at once: Plotly checks every shape again for each one that is added.
    placed = [(x, y, box.style.outline) for y, row in enumerate(rows) for x, box in enumerate(row)]
    fig.layout.shapes = (*fig.layout.shapes, *(_frame(x, y, colour) for x, y, colour in placed if colour))


def _frame(x: int, y: int, colour: str) -> dict[str, Any]:
    line = {"color": colour, "width": 1.5}
    return {"type": "rect", "x0": x - 0.45, "x1": x + 0.45, "y0": y - 0.4, "y1": y + 0.4, "line": line}


def _fills(fig: go.Figure, rows: Sequence[Sequence[Box]], styles: Sequence[Style], width: int) -> None:
    # A heatmap, not markers: those keep their pixels and overlap on a phone.
    cells: list[list[Box | None]] = [[*row, *[None] * (width - len(row))] for row in rows]
    fig.add_heatmap(
        z=[[None if box is None else styles.index(box.style) for box in row] for row in cells],
        **base.kinds([style.fill for style in styles]),
        xgap=2 if width > limits.LABELLED_LANE else 3,
        ygap=5,
        customdata=[["" if box is None else box.hover for box in row] for row in cells],
        hoverongaps=False,
        hovertemplate="%{customdata}<extra></extra>",
    )


def write(fig: go.Figure, words: Sequence[Sequence[str]], ink: str, weight: int = 400) -> None:
    """Text in the cells of a grid, "" for none. A clear heatmap writes it: its text shrinks where cells are narrow."""
    fig.add_heatmap(
        z=[[0 if word else None for word in row] for row in words],
        text=[[word or _filler(y, x) for x, word in enumerate(row)] for y, row in enumerate(words)],
        texttemplate="%{text}",
        textfont={"family": base.MONO, "color": ink, "weight": weight},
        colorscale=[[0, CLEAR], [1, CLEAR]],
        showscale=False,
        hoverinfo="skip",
    )


def _filler(row: int, column: int) -> str:
    """Plotly measures the room from one text to the next: blanks in the first row and column make that one cell."""
    return "" if row and column else " "


def name_lanes(fig: go.Figure, names: Sequence[str], ink: str, size: int = 12) -> None:
    """Monospace labels of the rows, the first one on top."""
    fig.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=list(names),
        tickfont={"family": base.MONO, "size": size, "color": ink},
    )
