"""The timeline: marks of rebalances above lanes that say who owned what, with gaps where nobody did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.theme import Palette
from app.views.generations.cause_looks import cause_looks
from lag.generations.cause_kind import CauseKind

STRIP_ROWS = 2.0
"""The strip of marks above the lanes, in lanes."""
LANE_PX, NARROW_LANE_PX, NARROW_FROM = 22, 17, 24
GAP_PX = 3
"""The outline of a gap, so that one of milliseconds is seen."""
LABEL_SHARE = 0.12
"""Marks that are this far apart have their cause beside them."""
MAX_LABEL = 22
TICKS = (
    {"dtickrange": [None, 60_000], "value": "%H:%M:%S"},
    {"dtickrange": [60_000, 86_400_000], "value": "%H:%M"},
    {"dtickrange": [86_400_000, None], "value": "%d %b"},
)


class Fill(StrEnum):
    """What a bar says."""

    OWNED = "owned"
    UNOWNED = "no owner"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Mark:
    """A rebalance on the time axis; `position` is that of its generation."""

    at: datetime
    kind: CauseKind
    label: str
    hover: str
    position: int


@dataclass(frozen=True, slots=True)
class Bar:
    """A time in one lane."""

    lane: int
    begin: datetime
    end: datetime
    fill: Fill
    text: str
    hover: str


@dataclass(frozen=True, slots=True)
class Lanes:
    """The names of the lanes, of a kind ("partition" or "member"), and their bars; `left_out`: lanes not drawn."""

    kind: str
    names: Sequence[str]
    bars: Sequence[Bar]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """What the figure shows, between two times."""

    marks: Sequence[Mark]
    lanes: Lanes
    since: datetime
    until: datetime
    chosen: int | None = field(default=None)

    @property
    def length(self) -> timedelta:
        """The time shown."""
        return max(self.until - self.since, timedelta(milliseconds=1))


def timeline(its: Timeline, colours: Palette, *, zoom: bool) -> go.Figure:
    """The figure; `zoom`: dragging selects a time to zoom into, a double click shows all again."""
    row_px = LANE_PX if len(its.lanes.names) < NARROW_FROM else NARROW_LANE_PX
    names = [base.clip(name, 18) for name in its.lanes.names]
    height = round(row_px * len(names) + LANE_PX * STRIP_ROWS + 30)
    fig = base.figure(colours, height, left=base.lane_px(names or ["–"], 18), right=10, top=4, bottom=26)
    for fill in Fill:
        _add_bars(fig, its, fill, colours, row_px)
    _add_marks(fig, its, colours)
    _add_chosen(fig, its, colours)
    _set_axes(fig, its, names, colours, row_px, zoom)
    fig.update_layout(
        hoverlabel_font_color=colours.text,
        barmode="overlay",
        dragmode="zoom" if zoom else False,
        uniformtext={"mode": "hide", "minsize": 7},
        uirevision=f"{its.since}",
        clickmode="event+select",
    )
    return fig


def _set_axes(fig: go.Figure, its: Timeline, names: list[str], colours: Palette, row_px: int, zoom: bool) -> None:
    fig.update_yaxes(
        range=[len(names) - 0.5, -0.5 - STRIP_ROWS * LANE_PX / row_px],
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=names,
        tickfont={"family": base.MONO, "size": 12 if row_px == LANE_PX else 10, "color": colours.text},
    )
    margin = its.length * 0.01
    fig.update_xaxes(
        type="date", range=[its.since - margin, its.until + margin], fixedrange=not zoom, tickformatstops=TICKS
    )


def _add_bars(fig: go.Figure, its: Timeline, fill: Fill, colours: Palette, row_px: int) -> None:
    bars = [bar for bar in its.lanes.bars if bar.fill is fill]
    fig.add_bar(
        orientation="h",
        y=[bar.lane for bar in bars],
        base=[bar.begin for bar in bars],
        x=[(bar.end - bar.begin) / timedelta(milliseconds=1) for bar in bars],
        width=0.88,
        text=[bar.text for bar in bars],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"family": base.MONO, "size": 11 if row_px == LANE_PX else 9, "color": _ink(fill, colours)},
        marker=_paint(fill, colours),
        customdata=[bar.hover for bar in bars],
        hovertemplate="%{customdata}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _ink(fill: Fill, colours: Palette) -> str:
    return colours.revoked_ink if fill is Fill.UNOWNED else colours.text


def _paint(fill: Fill, colours: Palette) -> dict[str, Any]:
    line = {"color": colours.background, "width": 1}
    if fill is Fill.UNOWNED:
        return {"color": colours.unassigned, "line": {"color": colours.unassigned, "width": GAP_PX}}
    if fill is Fill.UNKNOWN:
        hatched = {"shape": "/", "fgcolor": colours.kept, "bgcolor": colours.background, "size": 5, "solidity": 0.3}
        return {"color": colours.background, "line": line, "pattern": hatched}
    return {"color": colours.kept_fill, "line": line}


def _add_marks(fig: go.Figure, its: Timeline, colours: Palette) -> None:
    looks, labels = cause_looks(colours), _labels(its)
    fig.add_scatter(
        x=[mark.at for mark in its.marks],
        y=[-1.05] * len(its.marks),
        mode="markers+text",
        marker={
            "symbol": [looks[mark.kind].marker for mark in its.marks],
            "color": [looks[mark.kind].ink for mark in its.marks],
            "size": [15 if mark.position == its.chosen else 12 for mark in its.marks],
            "line": {"width": 1, "color": colours.background},
        },
        text=labels,
        # beside the mark, towards the middle of the figure
        textposition=["top right" if mark.at - its.since < its.length / 2 else "top left" for mark in its.marks],
        textfont={"size": 11, "color": colours.text},
        cliponaxis=False,
        customdata=[[mark.hover, mark.position] for mark in its.marks],
        hovertemplate="%{customdata[0]}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _labels(its: Timeline) -> list[str]:
    """The cause of a mark with room on both sides, and of the chosen one where nothing is beside it."""
    room = its.length * LABEL_SHARE
    ends = [its.since - room, *(mark.at for mark in its.marks), its.until + room]
    return [
        base.clip(mark.label, MAX_LABEL) if mark.at - before >= room and after - mark.at >= room else ""
        for mark, before, after in zip(its.marks, ends, ends[2:], strict=False)
    ]


def _add_chosen(fig: go.Figure, its: Timeline, colours: Palette) -> None:
    """A line through all lanes at the chosen generation."""
    chosen = next((mark for mark in its.marks if mark.position == its.chosen), None)
    if chosen is None:
        return
    line = {"color": colours.text, "width": 1.5, "dash": "dot"}
    ends = {"y0": -0.5, "y1": len(its.lanes.names) - 0.5}
    fig.add_shape(type="line", x0=chosen.at, x1=chosen.at, line=line, layer="above", **ends)
