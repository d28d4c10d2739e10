"""The picture of the Watermark lab: replicas as rows of records, with high watermark and log end."""

from collections.abc import Sequence

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.charts.lanes import Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.watermark.tables import Cell, Lane

ROW_PX = 46
LABEL_PX, NOTE_PX = 108, 92
LEAST_OFFSETS = 5
HALF = 0.47
"""Half the height of a marker in rows."""


def styles(colours: Palette) -> dict[Cell, Style]:
    """How each kind of cell looks."""
    return {
        Cell.COMMITTED: Style(colours.kept_fill, colours.text, None),
        Cell.WAITING: Style(colours.background, colours.dim, colours.dim),
        Cell.NEW: Style(colours.background, colours.gained, colours.gained),
        Cell.DIFFERS: Style(colours.revoked, colours.revoked_ink, None),
        Cell.CUT: Style(colours.background, colours.unassigned_text, colours.unassigned),
    }


def replicas(lanes: Sequence[Lane], colours: Palette) -> go.Figure:
    """One row per replica, one tile per record: its value and leader epoch; markers for high watermark and log end."""
    width = max(LEAST_OFFSETS, *(len(lane.cells) + 1 for lane in lanes))
    fig = base.figure(colours, ROW_PX * len(lanes) + 26, left=LABEL_PX, right=NOTE_PX, top=2, bottom=24)
    looks, kinds = styles(colours), list(Cell)
    rows = [[_box(lane, offset, kinds) for offset in range(len(lane.cells))] for lane in lanes]
    boxes(fig, rows, [looks[kind] for kind in kinds], width)
    for row, lane in enumerate(lanes):
        _marker(fig, lane.leo, row, colours.text, "dot")
        _marker(fig, lane.hw, row, colours.gained, "solid")
    notes = [_note(row, lane, colours) for row, lane in enumerate(lanes)]
    fig.update_layout(annotations=notes)
    fig.update_xaxes(range=[-0.55, width - 0.5], tickvals=list(range(width)), ticktext=[str(x) for x in range(width)])
    name_lanes(fig, [f"{lane.name} {lane.role}" for lane in lanes], colours.text)
    return fig


def _box(lane: Lane, offset: int, kinds: Sequence[Cell]) -> Box:
    entry, kind = lane.cells[offset]
    cut = "✕" if kind is Cell.CUT else ""
    hover = f"{lane.name}, offset {offset}: {entry.value} of leader epoch {entry.epoch} · {kind.value}"
    return Box(f"{cut}{entry.value} e{entry.epoch}", kinds.index(kind), hover)


def _marker(fig: go.Figure, offset: int, row: int, colour: str, dash: str) -> None:
    x = offset - 0.5
    width = 3 if dash == "solid" else 2
    line = {"color": colour, "width": width, "dash": dash}
    fig.add_shape(type="line", x0=x, x1=x, y0=row - HALF, y1=row + HALF, line=line)


def _note(row: int, lane: Lane, colours: Palette) -> dict[str, object]:
    return {
        "x": 1,
        "xref": "paper",
        "y": row,
        "text": f"HW {lane.hw} · LEO {lane.leo}",
        "xanchor": "left",
        "xshift": 6,
        "showarrow": False,
        "font": {"color": colours.dim},
    }
