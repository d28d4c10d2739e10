"""Who owns what: a numbered tile per partition, or counts per topic and member where there are too many."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.charts import base, limits
from app.tables.group import NOBODY, Tile
from app.theme import Palette
from assignors.model import TopicPartition

Lanes = Mapping[str, Sequence[tuple[TopicPartition, Tile]]]
LANE_PX = 33
LEAST_SLOTS = 8
"""Lanes with fewer tiles keep tiles of this size, flush left."""
MATRIX_ROW_PX = 26


def styles(colours: Palette) -> dict[Tile, tuple[str, str, str | None]]:
    """Tile -> (fill, ink, outline)."""
    return {
        Tile.OK: (colours.kept_fill, colours.text, None),
        Tile.BAD: (colours.revoked, colours.revoked_ink, None),
        Tile.UNKNOWN: (colours.background, colours.unassigned_text, colours.unassigned),
        Tile.COMING: (colours.background, colours.gained, colours.gained),
        Tile.LEAVING: (colours.background, colours.revoked_text, colours.revoked),
    }


WORDS = {
    Tile.OK: "partition",
    Tile.BAD: "needs attention",
    Tile.UNKNOWN: "not known",
    Tile.COMING: "to be taken",
    Tile.LEAVING: "to be given up",
}


def tiles(lanes: Lanes, idle_note: str, colours: Palette) -> go.Figure:
    """One row per member, one tile per partition in order; an idle member keeps its row and says so."""
    names = [base.clip(name) for name in lanes]
    fig = base.figure(colours, LANE_PX * len(lanes) + 6, left=base.lane_px(names), right=44, top=2, bottom=2)
    longest = max(map(len, lanes.values()), default=0)
    width = max(LEAST_SLOTS, longest)
    letter = base.letters(sorted({tp.topic for mine in lanes.values() for tp, _ in mine}))
    _fills(fig, lanes, width, colours)
    _texts(fig, lanes, width, letter, colours)
    for row, (name, mine) in enumerate(lanes.items()):
        _lane_note(fig, row, name, mine, longest, idle_note, colours)
    fig.update_xaxes(visible=False, range=[-0.5, width - 0.5])
    fig.update_yaxes(
        range=[len(lanes) - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(len(lanes))),
        ticktext=names,
        tickfont={"family": base.MONO, "size": 12, "color": colours.text},
    )
    return fig


def _lane_note(
    fig: go.Figure,
    row: int,
    name: str,
    mine: Sequence[tuple[TopicPartition, Tile]],
    longest: int,
    idle_note: str,
    colours: Palette,
) -> None:
    """How many partitions the member owns, behind the longest lane; for a member without any, why."""
    owned = sum(kind != Tile.COMING for _, kind in mine)
    text = "free" if name == NOBODY else str(owned) if mine else f"idle: {idle_note}"
    ink = colours.unassigned_text if name == NOBODY or not mine else colours.dim
    at = longest - 0.5 if mine else -0.5
    fig.add_annotation(x=at, y=row, text=text, xanchor="left", xshift=8, showarrow=False, font={"color": ink})


def _fills(fig: go.Figure, lanes: Lanes, width: int, colours: Palette) -> None:
    kinds, look = list(Tile), styles(colours)
    scale = [
        stop
        for i, kind in enumerate(kinds)
        for stop in ([i / len(kinds), look[kind][0]], [(i + 1) / len(kinds), look[kind][0]])
    ]
    cells = [[*mine, *[None] * (width - len(mine))] for mine in lanes.values()]
    hover = [[_hover(name, cell) for cell in row] for name, row in zip(lanes, cells, strict=True)]
    fig.add_heatmap(
        z=[[None if cell is None else kinds.index(cell[1]) for cell in row] for row in cells],
        zmin=-0.5,
        zmax=len(kinds) - 0.5,
        colorscale=scale,
        showscale=False,
        xgap=2 if width > limits.LABELLED_LANE else 3,
        ygap=5,
        customdata=hover,
        hoverongaps=False,
        hovertemplate="%{customdata}<extra></extra>",
    )


def _hover(name: str, cell: tuple[TopicPartition, Tile] | None) -> str:
    return "" if cell is None else f"{cell[0]} · {name} · {WORDS[cell[1]]}"


def _texts(fig: go.Figure, lanes: Lanes, width: int, letter: Mapping[str, str], colours: Palette) -> None:
    """Numbers on the tiles, one trace per ink; an outline where the class has one."""
    for kind, (_, ink, outline) in styles(colours).items():
        at = [(x, y, tp) for y, mine in enumerate(lanes.values()) for x, (tp, its) in enumerate(mine) if its == kind]
        if width <= limits.LABELLED_LANE and at:
            text = [f"{letter.get(tp.topic, '')}{tp.partition}" for _, _, tp in at]
            fig.add_scatter(
                x=[x for x, _, _ in at],
                y=[y for _, y, _ in at],
                text=text,
                mode="text",
                hoverinfo="skip",
                cliponaxis=False,
                textfont={"family": base.MONO, "size": 12 if width < 14 else 10, "color": ink},
            )
        for x, y, _ in at if outline else []:
            fig.add_shape(
                type="rect", x0=x - 0.45, x1=x + 0.45, y0=y - 0.4, y1=y + 0.4, line={"color": outline, "width": 1.5}
            )


def matrix(lanes: Lanes, colours: Palette) -> go.Figure:
    """Members (rows) x topics (columns): how many partitions each holds; the largest 60 of either, the rest summed."""
    names = _capped([(name, len(mine)) for name, mine in lanes.items()], limits.MATRIX_MEMBERS)
    sizes: dict[str, int] = {}
    for mine in lanes.values():
        for tp, _ in mine:
            sizes[tp.topic] = sizes.get(tp.topic, 0) + 1
    topics = _capped(list(sizes.items()), limits.MATRIX_TOPICS)
    z = [[sum(tp.topic == topic for tp, _ in lanes[name]) or None for topic in topics] for name in names]
    shown = [base.clip(name) for name in names]
    fig = base.figure(colours, MATRIX_ROW_PX * len(names) + 30, left=base.lane_px(shown), right=8, top=2, bottom=26)
    fig.add_heatmap(
        z=z,
        colorscale=[list(stop) for stop in colours.ramp],
        zmin=0,
        showscale=False,
        xgap=2,
        ygap=2,
        hoverongaps=False,
        text=z,
        texttemplate="%{text}" if len(topics) <= 20 else None,
        textfont={"color": colours.text},
        customdata=[[f"{name} · {topic}" for topic in topics] for name in names],
        hovertemplate="%{customdata} · %{z} partitions<extra></extra>",
    )
    room = max(4, 60 // max(1, len(topics)))
    fig.update_xaxes(
        tickvals=list(range(len(topics))) if len(topics) <= 12 else [], ticktext=[base.clip(t, room) for t in topics]
    )
    fig.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=shown,
        tickfont={"family": base.MONO, "size": 11, "color": colours.text},
    )
    return fig


def _capped(sized: list[tuple[str, int]], most: int) -> list[str]:
    return [name for name, _ in sorted(sized, key=lambda item: (-item[1], item[0]))[:most]]
