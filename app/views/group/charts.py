"""The assignment: a numbered tile per partition, or counts per topic and member if there are too many."""

from collections import Counter
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.ui import verdicts
from app.ui.charts import base, limits
from app.ui.charts.lanes import LANE_PX, LEAST_SLOTS, Box, Style, boxes, name_lanes
from app.ui.formats import code
from app.ui.theme import Palette
from app.views.group.view import NOBODY, NOT_KNOWN, Tile
from assignors.model import TopicPartition
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

Lanes = Mapping[str, Sequence[tuple[TopicPartition, Tile]]]
MATRIX_ROW_PX = 26


def styles(colours: Palette) -> dict[Tile | Status, Style]:
    """The style of each kind of tile; one that needs attention has the colour of its verdict."""
    troubles = filter(verdicts.needs_attention, URGENCY)
    return {
        Tile.OK: Style(colours.kept_fill, colours.text),
        Tile.UNKNOWN: Style(colours.background, colours.unassigned_text, colours.unassigned),
        Tile.COMING: Style(colours.background, colours.gained, colours.gained),
        Tile.LEAVING: Style(colours.background, colours.revoked_text, colours.revoked),
        **{s: Style(verdicts.fill(s, colours), verdicts.ink(s, colours)) for s in troubles},
    }


WORDS = {
    Tile.OK: "partition",
    Tile.UNKNOWN: "unknown",
    Tile.COMING: "to be assigned",
    Tile.LEAVING: "to be revoked",
}


def word(look: Tile | Status) -> str:
    """What a tile of that look is."""
    return VERDICTS[look].label if isinstance(look, Status) else WORDS[look]


def tiles(lanes: Lanes, statuses: Mapping[TopicPartition, Status], idle_reason: str, colours: Palette) -> go.Figure:
    """One row per member with a tile per partition; the row of an idle member has the reason instead."""
    names = [base.clip(name) for name in lanes]
    fig = base.figure(colours, LANE_PX * len(lanes) + 6, left=base.lane_px(names), right=44, top=2, bottom=2)
    longest = max(map(len, lanes.values()), default=0)
    width = max(LEAST_SLOTS, longest)
    letter = base.letters(sorted({tp.topic for lane in lanes.values() for tp, _ in lane}))
    looks = styles(colours)

    def box(name: str, tp: TopicPartition, kind: Tile) -> Box:
        label = f"{letter.get(tp.topic, '')}{tp.partition}"
        look = kind if kind is not Tile.BAD else statuses[tp]
        return Box(label, looks[look], f"{tp} · {name} · {word(look)}")

    rows = [[box(name, tp, kind) for tp, kind in lane] for name, lane in lanes.items()]
    boxes(fig, rows, width)
    for row, (name, lane) in enumerate(lanes.items()):
        _lane_note(fig, row, name, lane, longest, idle_reason, colours)
    fig.update_xaxes(visible=False, range=[-0.5, width - 0.5])
    name_lanes(fig, names, colours.text)
    return fig


def _lane_note(
    fig: go.Figure,
    row: int,
    name: str,
    lane: Sequence[tuple[TopicPartition, Tile]],
    longest: int,
    idle_reason: str,
    colours: Palette,
) -> None:
    """The number of partitions of the member, right of the longest lane; without any, the reason."""
    owned = sum(kind != Tile.COMING for _, kind in lane)
    text = str(owned) if lane else f"idle: {idle_reason}"
    ink = colours.unassigned_text if name in (NOBODY, NOT_KNOWN) or not lane else colours.dim
    at = longest - 0.5 if lane else -0.5
    fig.add_annotation(x=at, y=row, text=text, xanchor="left", xshift=8, showarrow=False, font={"color": ink})


def matrix(lanes: Lanes, colours: Palette) -> go.Figure:
    """Partitions per member (row) and topic (column); only the largest MATRIX_MEMBERS and MATRIX_TOPICS are shown."""
    cells = {name: Counter(tp.topic for tp, _ in lane) for name, lane in lanes.items()}
    names = _largest(Counter({name: cell.total() for name, cell in cells.items()}), limits.MATRIX_MEMBERS)
    topics = _largest(sum(cells.values(), Counter()), limits.MATRIX_TOPICS)
    z = [[cells[name][topic] or None for topic in topics] for name in names]
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
    name_lanes(fig, shown, colours.text, size=11)
    return fig


def _largest(sizes: Counter[str], most: int) -> list[str]:
    return sorted(sizes, key=lambda name: (-sizes[name], name))[:most]


def letter_legend(topics: list[str]) -> str:
    """The letters of at most six topics, as Markdown; empty for one topic."""
    letters = base.letters(topics)
    named = [f"**{letter}** {code(topic)}" for topic, letter in list(letters.items())[:6]]
    more = [f"and {len(topics) - 6} more topics"] if len(topics) > 6 else []
    return "\u2003".join([*named, *more])
