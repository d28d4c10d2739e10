"""The pictures of the Call lab: a consumer's records and offsets, and the calls to a coordinator."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.ui.charts import base, limits, ruler
from app.ui.charts.lanes import CLEAR, LEAST_SLOTS, Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.calls.records import KINDS, Record, classify, marked
from assignors.labs.calls import Offsets, Turn

ROW_PX = 25
LABEL_PX = 104
MOST_LETTERS = 13
GLYPHS = {
    Record.LOST: "✕",
    Record.DELETED: "·",
    Record.MARKER: "◇",
    Record.AGAIN: "2×",
    Record.NOW: "▸",
    Record.REWOUND: "↺",
    Record.COMMITTED: "✓",
    Record.READ: "●",
    Record.SKIPPED: "–",
    Record.HELD: "…",
    Record.UNREAD: "○",
}


def styles(colours: Palette) -> dict[Record, Style]:
    """How each kind of record looks."""
    return {
        Record.LOST: Style(colours.unassigned, "#000000", None),
        Record.DELETED: Style(colours.background, colours.dim, colours.grid),
        Record.MARKER: Style(colours.background, colours.dim, colours.grid),
        Record.AGAIN: Style(colours.revoked, colours.revoked_ink, None),
        Record.NOW: Style(colours.gained, colours.background, None),
        Record.REWOUND: Style(colours.background, colours.revoked_text, colours.revoked),
        Record.COMMITTED: Style(colours.kept_fill, colours.text, None),
        Record.READ: Style(colours.background, colours.text, colours.kept),
        Record.SKIPPED: Style(colours.unassigned, "#000000", None),
        Record.HELD: Style(colours.background, colours.unassigned_text, colours.unassigned),
        Record.UNREAD: Style(colours.background, colours.dim, colours.dim),
    }


def offsets(pairs: Sequence[tuple[Offsets | None, Offsets]], width: int, colours: Palette) -> go.Figure:
    """For each partition (before and after the call) a row of records, and a row for each offset that it has.

    `width` is the largest log end of the story, so that the axis stays while the story is played.
    """
    looks, names, rows = styles(colours), list[str](), list[list[Box]]()
    slots = max(LEAST_SLOTS, width + 1)
    marks, edges = list[tuple[int, str, int, int | None]](), list[int]()
    for before, its in pairs:
        edges.append(len(rows))
        old = ruler.named(marked(before)) if before else {}
        for name, offset in _rows(its).items():
            if offset is not None:
                marks.append((len(rows), name, offset, old.get(name)))
            names.append(name)
            rows.append(_records(before, its) if name == str(its.partition) else [])
    fig = base.figure(colours, ROW_PX * len(rows) + 24, left=LABEL_PX, right=8, top=2, bottom=22)
    boxes(fig, rows, list(looks.values()), slots)
    for mark in marks:
        _mark(fig, *mark, slots, colours)
    for edge in edges[1:]:
        fig.add_hline(y=edge - 0.5, line={"color": colours.grid, "width": 1})
    ticks = base.spread(slots, 12)
    fig.update_xaxes(range=[-0.6, slots - 0.4], tickvals=ticks, ticktext=[str(at) for at in ticks])
    name_lanes(fig, [base.clip(name, MOST_LETTERS) for name in names], colours.text)
    return fig


def _rows(its: Offsets) -> Mapping[str, int | None]:
    """The rows of a partition from above: its position, its records, and its other offsets; 0 is no log start."""
    marks = ruler.named(marked(its))
    below = {name: marks[name] for name in ("committed", "last stable", "log end")}
    start = {"log start": its.log_start} if its.log_start else {}
    shown = {name: offset for name, offset in below.items() if offset is not None or name == "committed"}
    return {"position": its.position, str(its.partition): None, **shown, **start}


def _records(before: Offsets | None, its: Offsets) -> list[Box]:
    kinds = [KINDS[code] for code in classify(before, its)]
    return [
        Box(GLYPHS[kind], KINDS.index(kind), f"{its.partition}, offset {offset} · {kind}")
        for offset, kind in enumerate(kinds)
    ]


def _mark(fig: go.Figure, row: int, name: str, offset: int, before: int | None, slots: int, colours: Palette) -> None:
    """A triangle at the boundary before that offset, with its number; an arrow from where it was."""
    moved = before != offset
    colour = colours.gained if moved else colours.text
    was = f", was {before}" if moved and before is not None else ""
    left = offset > slots * 0.6
    if moved and before is not None:
        fig.add_shape(
            type="line", x0=before - 0.5, x1=offset - 0.5, y0=row, y1=row,
            line={"color": colour, "width": 2, "dash": "dot"}, layer="below",
        )  # fmt: skip
    fig.add_scatter(
        x=[offset - 0.5],
        y=[row],
        mode="markers+text",
        marker={"symbol": "triangle-down" if name == "position" else "triangle-up", "size": 11, "color": colour},
        text=[f"<b>{offset}{was}</b>" if moved else str(offset)],
        textposition="middle left" if left else "middle right",
        textfont={"color": colours.text},
        cliponaxis=False,
        hovertemplate=f"{name} {offset}{was}<extra></extra>",
    )


GROUP = "group"
CLUSTER = "cluster"
"""The row of calls that name no caller: time, topics, the coordinator's broker."""


def letters(turns: Sequence[Turn]) -> dict[str, str]:
    """The letter of each state of the group that occurs: its first one, "–" for no group or coordinator."""
    names = dict.fromkeys(turn.state[GROUP] for turn in turns)
    return {name: "–" if name.startswith("no ") else name[0].upper() for name in names}


def callers(turns: Sequence[Turn]) -> list[str]:
    """Who calls, in order of appearance."""
    return list(dict.fromkeys(turn.call.who or CLUSTER for turn in turns))


def requests(turns: Sequence[Turn], at: int, colours: Palette) -> go.Figure:
    """The group's state after each call, and a row for each caller: ✓ a call that succeeds, ✕ one that is refused.

    Of a long script the calls around the current one.
    """
    first, last = limits.window(len(turns), at, limits.LABELLED_LANE)
    names, letter, shown = callers(turns), letters(turns), turns[first:last]
    looks = [
        Style(CLEAR, colours.text, colours.dim),
        Style(colours.kept_fill, colours.text, None),
        Style(colours.revoked, colours.revoked_ink, None),
    ]
    blank = Box("", 3, "")
    rows = [[Box(letter[turn.state[GROUP]], 0, f"{turn.call.text}: {turn.state[GROUP]}") for turn in shown]]
    rows += [[_call(turn) if (turn.call.who or CLUSTER) == name else blank for turn in shown] for name in names]
    slots = max(LEAST_SLOTS, len(shown))
    fig = base.figure(colours, ROW_PX * len(rows) + 24, left=LABEL_PX, right=8, top=2, bottom=22)
    boxes(fig, rows, [*looks, Style(CLEAR, CLEAR, None)], slots)
    now = at - first
    fig.add_vrect(x0=now - 0.5, x1=now + 0.5, line={"color": colours.gained, "width": 3}, fillcolor=CLEAR)
    ticks = list(range(len(shown)))
    fig.update_xaxes(range=[-0.6, slots - 0.4], tickvals=ticks, ticktext=[str(first + step + 1) for step in ticks])
    name_lanes(fig, [GROUP, *(base.clip(name, MOST_LETTERS) for name in names)], colours.text)
    return fig


def _call(turn: Turn) -> Box:
    return Box("✕" if turn.error else "✓", 2 if turn.error else 1, f"{turn.call.text}: {turn.outcome}")
