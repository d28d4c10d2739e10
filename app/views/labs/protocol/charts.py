"""The picture of the Protocol lab: group, member and partition lanes of each protocol over one time axis."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.charts.lanes import CLEAR
from app.ui.formats import brief
from app.ui.scenario.played import NAMES, Played
from app.ui.theme import Palette
from app.views.labs.protocol.bars import GAP, MOVED, OWNED, REBALANCING, STABLE, Bar, Block, bars, blocks
from assignors.simulation.timeline.tables import MemberState, Message
from assignors.whatif.events import Event

ROW_PX = 18
MOST_ARROWS = 200
MEASURED = (GAP, MemberState.PAUSED)
LABEL_PX = 6.5
LEAST_PLOT_PX = 320
"""Labels are drawn if they would fit into a plot of this width."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a span is drawn: fill, hatch ("" for none), colours of its label (ink) and line."""

    fill: str
    hatch: str
    ink: str
    line: str


def looks(colours: Palette) -> dict[str, Look]:
    """The look of each kind of span, different in fill or hatch, not only in colour."""
    blue, gone = (colours.gained, "/", colours.text, colours.gained), (CLEAR, "", colours.dim, colours.grid)
    return {
        STABLE: Look(CLEAR, "", colours.dim, colours.grid),
        REBALANCING: Look(colours.ramp[1][1], "", colours.text, colours.ramp[1][1]),
        OWNED: Look(colours.kept_fill, "", colours.text, CLEAR),
        MOVED: Look(colours.gained, "", colours.background, CLEAR),
        GAP: Look(CLEAR, "", colours.revoked_text, colours.revoked),
        MemberState.IDLE: Look(*gone),
        MemberState.JOINING: Look(CLEAR, ".", colours.dim, colours.dim),
        MemberState.REJOINING: Look(*blue),
        MemberState.PAUSED: Look(colours.revoked, "", colours.revoked_ink, colours.revoked),
        MemberState.SPLIT: Look(colours.kept_fill, ".", colours.text, CLEAR),
        MemberState.STALLED: Look(colours.kept_fill, "x", colours.text, CLEAR),
        MemberState.FROZEN: Look(colours.kept_fill, "+", colours.text, CLEAR),
        MemberState.ZOMBIE: Look(colours.unassigned, "\\", colours.text, colours.unassigned),
        MemberState.DOWN: Look(CLEAR, "-", colours.dim, colours.grid),
        MemberState.FAILED: Look(CLEAR, "|", colours.revoked_text, colours.revoked),
    }


def lanes(
    played: Sequence[Played],
    events: Sequence[Event],
    window: tuple[int, int],
    messages: Sequence[Message],
    of: Played | None,
    colours: Palette,
) -> go.Figure:
    """The picture of a time range in milliseconds; `messages` are drawn as arrows in the lanes of `of`."""
    made = blocks(played)
    rows = max((block.last for block in made), default=0) + 1
    names = _names(made, rows)
    fig = base.figure(colours, rows * ROW_PX + 34, left=base.lane_px([*names, "m" * 8], 14), right=10, top=4, bottom=30)
    _axes(fig, names, window, colours)
    spans = [bar for block in made for bar in bars(block)]
    notes = _draw(fig, spans, window, colours)
    seen = [(number, event) for number, event in enumerate(events, 1) if window[0] <= event.at_ms <= window[1]]
    _numbers(fig, seen, colours)
    # All at once: Plotly validates all notes and shapes whenever one is added.
    fig.layout.annotations = [*notes, *(_title(block, colours) for block in made)]
    fig.layout.shapes = [*_phases(made, window, colours), *(_line(event, rows, colours) for _, event in seen)]
    for block in made:
        if messages and block.its is of:
            _arrows(fig, block, messages, colours)
    return fig


def _names(made: Sequence[Block], rows: int) -> list[str]:
    names = [""] * rows
    for block in made:
        for name, row in block.rows.items():
            names[row] = base.clip(name, 14) or "group"
        for tp, row in block.partitions.items():
            names[row] = base.clip(str(tp), 14)
    return names


def _axes(fig: go.Figure, names: Sequence[str], window: tuple[int, int], colours: Palette) -> None:
    fig.update_xaxes(
        range=[at / 1000 for at in window],
        ticksuffix=" s",
        nticks=8,
        showgrid=True,
        gridcolor=colours.grid,
        tickformat=",",
    )
    fig.update_yaxes(
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=list(names),
        tickfont={"family": base.MONO, "size": 12, "color": colours.text},
    )
    fig.update_layout(barmode="overlay")


def _draw(fig: go.Figure, spans: Iterable[Bar], window: tuple[int, int], colours: Palette) -> list[dict[str, Any]]:
    """Draw the bars; the labels that are still to be drawn."""
    notes: list[dict[str, Any]] = []
    seen = [bar for bar in spans if bar.start_ms < window[1] and bar.end_ms > window[0] and bar.start_ms < bar.end_ms]
    for name, look in looks(colours).items():
        if alike := [bar for bar in seen if bar.look == name]:
            _bars(fig, alike, look, window)
            fitting = [bar for bar in alike if bar.label and _fits(bar, window)]
            if look.hatch:  # a label on a hatch needs a background
                notes += [_note(_middle_s(bar, window), bar, "center", colours.text, colours) for bar in fitting]
            elif fitting:
                _write(fig, fitting, look, window)
    return notes + _beside([bar for bar in seen if bar.look in MEASURED], window, colours)


def _bars(fig: go.Figure, alike: Sequence[Bar], look: Look, window: tuple[int, int]) -> None:
    cut = [_cut(bar, window) for bar in alike]
    hovers = [
        f"{bar.hover}, {bar.start_ms / 1000:,.3f} to {bar.end_ms / 1000:,.3f} s, {brief(bar.end_ms - bar.start_ms)}"
        for bar in alike
    ]
    fig.add_bar(
        orientation="h",
        y=[bar.row for bar in alike],
        base=[start / 1000 for start, _ in cut],
        x=[(end - start) / 1000 for start, end in cut],
        width=[0.16 if bar.is_thin else 0.74 for bar in alike],
        offset=[0.21 if bar.is_thin else -0.37 for bar in alike],
        marker={
            "color": look.fill,
            "line": {"color": look.line, "width": 1},
            "pattern": {"shape": look.hatch, "size": 6, "solidity": 0.15, "bgcolor": look.fill, "fgcolor": look.ink},
        },
        customdata=hovers,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _cut(bar: Bar, window: tuple[int, int]) -> tuple[int, int]:
    return max(bar.start_ms, window[0]), min(bar.end_ms, window[1])


def _fits(bar: Bar, window: tuple[int, int]) -> bool:
    start, end = _cut(bar, window)
    return (end - start) / (window[1] - window[0]) * LEAST_PLOT_PX >= len(bar.label) * LABEL_PX


def _middle_s(bar: Bar, window: tuple[int, int]) -> float:
    return sum(_cut(bar, window)) / 2000


def _write(fig: go.Figure, fitting: Sequence[Bar], look: Look, window: tuple[int, int]) -> None:
    fig.add_scatter(
        x=[_middle_s(bar, window) for bar in fitting],
        y=[bar.row for bar in fitting],
        mode="text",
        text=[bar.label for bar in fitting],
        textfont={"size": 11, "color": look.ink},
        hoverinfo="skip",
    )


def _beside(measured: Sequence[Bar], window: tuple[int, int], colours: Palette) -> list[dict[str, Any]]:
    """The longest pause of each lane, where it is too narrow for its label."""
    longest: dict[int, Bar] = {}
    for bar in sorted(measured, key=lambda bar: bar.end_ms - bar.start_ms):
        longest[bar.row] = bar
    late_ms = (window[0] + 3 * window[1]) / 4
    return [
        _note(bar.start_ms / 1000, bar, "right", colours.revoked_text, colours)
        if bar.end_ms > late_ms
        else _note(bar.end_ms / 1000, bar, "left", colours.revoked_text, colours)
        for bar in longest.values()
        if not _fits(bar, window)
    ]


def _note(at_s: float, bar: Bar, anchor: str, ink: str, colours: Palette) -> dict[str, Any]:
    """A label with a background."""
    return {
        "x": at_s,
        "y": bar.row,
        "xanchor": anchor,
        "xshift": {"left": 2, "right": -2}.get(anchor, 0),
        "text": bar.label,
        "showarrow": False,
        "font": {"size": 10, "color": ink},
        "bgcolor": colours.background,
        "borderpad": 0,
    }


def _title(block: Block, colours: Palette) -> dict[str, Any]:
    name = NAMES[block.its.protocol]
    return {
        "x": 0,
        "xref": "paper",
        "xanchor": "left",
        "y": block.title,
        "text": f"<b>{name[0].upper() + name[1:]}</b> ({block.its.summary.assignor})",
        "showarrow": False,
        "font": {"size": 13, "color": colours.text},
        "bgcolor": colours.background,
    }


def _phases(made: Sequence[Block], window: tuple[int, int], colours: Palette) -> list[dict[str, Any]]:
    """Bands over all lanes of a protocol while its group rebalances; one shape, since each one slows the browser."""
    bands = [
        f"M{start / 1000:.3f},{block.title + 0.5}H{end / 1000:.3f}V{block.last + 0.5}H{start / 1000:.3f}Z"
        for block in made
        for start, end in (_cut(bar, window) for bar in bars(block) if bar.look == REBALANCING)
        if start < end
    ]
    look = {"layer": "below", "line": {"width": 0}, "fillcolor": colours.ramp[1][1], "opacity": 0.35}
    return [{"type": "path", "path": "".join(bands), **look}] if bands else []


def _line(event: Event, rows: int, colours: Palette) -> dict[str, Any]:
    """A line through all lanes at an event."""
    return {
        "type": "line",
        "x0": event.at_ms / 1000,
        "x1": event.at_ms / 1000,
        "y0": 0.4,
        "y1": rows - 0.5,
        "line": {"color": colours.dim, "width": 1, "dash": "dot"},
    }


def _numbers(fig: go.Figure, seen: Sequence[tuple[int, Event]], colours: Palette) -> None:
    """The numbers above those lines."""
    fig.add_scatter(
        x=[event.at_ms / 1000 for _, event in seen],
        y=[0] * len(seen),
        mode="text",
        text=[f"<b>{number}</b>" for number, _ in seen],
        textfont={"size": 12, "color": colours.text},
        hoverinfo="skip",
    )


def shown(messages: Iterable[Message], window: tuple[int, int]) -> list[Message]:
    """The messages sent in a time range, at most one more than can be drawn."""
    return list(islice((each for each in messages if window[0] <= each.sent_ms <= window[1]), MOST_ARROWS + 1))


def _arrows(fig: go.Figure, block: Block, messages: Sequence[Message], colours: Palette) -> None:
    """From lane to lane; the coordinator's lane is the group's. A cross as head: the message was not received."""
    drawn = [each for each in messages if each.source in block.rows or each.target in block.rows]
    ends = [(_row(block, each.source), _row(block, each.target)) for each in drawn]
    times = [
        (each.sent_ms / 1000, (each.sent_ms if each.arrived_ms is None else each.arrived_ms) / 1000) for each in drawn
    ]
    inks = [colours.text if each.error in (None, "NONE") else colours.revoked_text for each in drawn]
    fig.add_scatter(
        x=[at for start, end in times for at in (start, end, None)],
        y=[row for start, end in ends for row in (start, end, None)],
        mode="lines",
        line={"color": colours.dim, "width": 1},
        hoverinfo="skip",
    )
    fig.add_scatter(
        x=[end for _, end in times],
        y=[end for _, end in ends],
        mode="markers",
        marker={"size": 7, "color": inks, "symbol": [*map(_head, drawn, ends)]},
        customdata=[f"{each.source} → {each.target}: {each.kind} {each.error or ''}" for each in drawn],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _row(block: Block, name: str) -> int:
    return block.rows.get(name, block.rows[""])


def _head(message: Message, rows: tuple[int, int]) -> str:
    if message.arrived_ms is None:
        return "x"
    return "triangle-up" if rows[1] < rows[0] else "triangle-down"
