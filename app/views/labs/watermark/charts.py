"""The picture of the Watermark lab: replicas as rows of records, with leader epochs, high watermark and log end."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import plotly.graph_objects as go

from app.ui.charts import base, limits
from app.ui.charts.lanes import Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.watermark.tables import Cell, Lane, in_common

ROW_PX = 52
LABEL_PX = 112
LEAST_OFFSETS = 5
CONTEXT = 2
"""How many of the records that are the same on all replicas stay visible."""
HALF = 0.47
"""Half the height of a marker in rows."""


def styles(colours: Palette) -> dict[Cell, Style]:
    """How each kind of cell looks."""
    return {
        Cell.COMMITTED: Style(colours.kept_fill, colours.text),
        Cell.WAITING: Style(colours.background, colours.dim, colours.dim, "…"),
        Cell.NEW: Style(colours.background, colours.gained, colours.gained, "+"),
        Cell.DIFFERS: Style(colours.revoked, colours.revoked_ink, None, "≠"),
        Cell.CUT: Style(colours.background, colours.unassigned_text, colours.unassigned, "✕"),
    }


def first_offset(lanes: Sequence[Lane]) -> int:
    """The first offset that is drawn: 0, or in long logs shortly before the records that are not on all replicas."""
    longest = max(len(lane.cells) for lane in lanes)
    return 0 if limits.record_tiles(longest) else max(0, in_common(lanes) - CONTEXT)


def replicas(lanes: Sequence[Lane], colours: Palette) -> go.Figure:
    """A row per replica over one offset axis, a tile per record: its value and leader epoch.

    Too many records for tiles are drawn as one bar for each leader epoch. Lines mark high watermark and log end.
    """
    first = first_offset(lanes)
    end = max(first + LEAST_OFFSETS, *(len(lane.cells) + 1 for lane in lanes))
    fig = base.figure(colours, ROW_PX * len(lanes) + 26, left=LABEL_PX, right=8, top=2, bottom=24)
    name_lanes(fig, [_name(lane) for lane in lanes], colours.text)
    if limits.record_tiles(end - first - 1):
        _tiles(fig, lanes, first, end, colours)
    else:
        _bars(fig, lanes, first, colours)
    for row, lane in enumerate(lanes):
        _line(fig, lane.leo - first, (row - HALF, row), {"color": colours.text, "width": 3, "dash": "dot"})
        _line(fig, lane.hw - first, (row, row + HALF), {"color": colours.gained, "width": 4})
    ticks = base.spread(end - first, limits.LABELLED_LANE)
    names = [str(first + at) for at in ticks]
    fig.update_xaxes(range=[-0.55, end - first - 0.5], tickvals=ticks, ticktext=names)
    return fig


def _tiles(fig: go.Figure, lanes: Sequence[Lane], first: int, end: int, colours: Palette) -> None:
    looks = styles(colours)
    rows = [[_box(lane, offset, looks) for offset in range(first, len(lane.cells))] for lane in lanes]
    boxes(fig, rows, end - first)


def _box(lane: Lane, offset: int, looks: Mapping[Cell, Style]) -> Box:
    entry, kind = lane.cells[offset]
    hover = f"{lane.name}, offset {offset}: {entry.value} of leader epoch {entry.epoch} · {kind.value}"
    return Box(f"{looks[kind].glyph}{entry.value}<br>e{entry.epoch}", looks[kind], hover)


def _bars(fig: go.Figure, lanes: Sequence[Lane], first: int, colours: Palette) -> None:
    looks = styles(colours)
    for row, lane in enumerate(lanes):
        runs = groupby(range(first, len(lane.cells)), key=lambda at: (lane.cells[at][0].epoch, lane.cells[at][1]))
        for (epoch, kind), offsets in runs:
            run = [at - first for at in offsets]
            words = f" {len(run)} records<br>e{epoch}" if len(run) > limits.BAR_RECORDS else ""
            _bar(fig, row, run, words, looks[kind])


def _bar(fig: go.Figure, row: int, run: Sequence[int], words: str, look: Style) -> None:
    fig.add_shape(
        type="rect", x0=run[0] - 0.45, x1=run[-1] + 0.45, y0=row - 0.4, y1=row + 0.4,
        fillcolor=look.fill, line={"color": look.outline or look.fill, "width": 1.5}, layer="below",
    )  # fmt: skip
    text = f"{look.glyph}{words}"
    fig.add_annotation(x=(run[0] + run[-1]) / 2, y=row, text=text, showarrow=False, font={"color": look.ink})


def _line(fig: go.Figure, offset: int, y: tuple[float, float], line: Mapping[str, object]) -> None:
    """A line before that offset: the log end in the upper half of a row, the high watermark in the lower half."""
    fig.add_shape(type="line", x0=offset - 0.5, x1=offset - 0.5, y0=y[0], y1=y[1], line=line)


def _name(lane: Lane) -> str:
    """The replica and its role; below them its offsets, those that moved in bold."""
    numbers = {"HW": lane.hw, "LEO": lane.leo}
    texts = (f"<b>{name} {at}</b>" if name in lane.moved else f"{name} {at}" for name, at in numbers.items())
    return f"{lane.name} {lane.role}<br>{' · '.join(texts)}"
