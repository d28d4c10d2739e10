"""The picture of a consumer in the Call lab: its records and offsets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.charts.lanes import LEAST_SLOTS, Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.calls.records import KINDS, Change, RecordState, classify, most_records
from assignors.labs.calls import PartitionOffsets, Turn

ROW_PX = 25
LABEL_PX, NOTE_PX = 104, 56
MOST_LETTERS = 13
POSITION = "position"


def styles(colours: Palette) -> dict[RecordState, Style]:
    """How each kind of record looks."""
    return {
        RecordState.LOST: Style(colours.unassigned, "#000000", None, "✕"),
        RecordState.DELETED: Style(colours.background, colours.dim, colours.grid, "·"),
        RecordState.MARKER: Style(colours.background, colours.dim, colours.grid, "◇"),
        RecordState.AGAIN: Style(colours.revoked, colours.revoked_ink, None, "2×"),
        RecordState.NOW: Style(colours.gained, colours.background, None, "▸"),
        RecordState.REWOUND: Style(colours.background, colours.revoked_text, colours.revoked, "↺"),
        RecordState.COMMITTED: Style(colours.kept_fill, colours.text, None, "✓"),
        RecordState.READ: Style(colours.background, colours.text, colours.kept, "●"),
        RecordState.SKIPPED: Style(colours.unassigned, "#000000", None, "–"),
        RecordState.HELD: Style(colours.background, colours.unassigned_text, colours.unassigned, "…"),
        RecordState.UNREAD: Style(colours.background, colours.dim, colours.dim, "○"),
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the picture: the records of a partition, or one offset with what it was before the call."""

    name: str
    offset: int | None = None
    before: int | None = None
    records: tuple[Box, ...] = ()
    is_partition: bool = False


def offsets(turns: Sequence[Turn], changes: Sequence[Change], colours: Palette) -> go.Figure:
    """For each partition a row of records, and a row for each offset; the same axis and rows at every call."""
    names, looks, slots = offset_names(turns), styles(colours), max(LEAST_SLOTS, most_records(turns) + 1)
    rows = [row for change in changes for row in _rows(*change, names, looks)]
    fig = base.figure(colours, ROW_PX * len(rows) + 24, left=LABEL_PX, right=NOTE_PX, top=2, bottom=22)
    boxes(fig, [row.records for row in rows], slots)
    for at, row in enumerate(rows):
        if row.offset is not None:
            _mark(fig, at, row, row.offset, colours)
        if at and row.name == POSITION:
            fig.add_hline(y=at - 0.5, line={"color": colours.grid, "width": 1})
    ticks = base.spread(most_records(turns) + 1, 12)
    fig.update_xaxes(range=[-0.6, slots - 0.4], tickvals=ticks, ticktext=[str(at) for at in ticks])
    name_lanes(fig, [_label(row) for row in rows], colours.text)
    return fig


def _label(row: Row) -> str:
    """Partitions are bold: their row comes between those of their offsets."""
    name = base.clip(row.name, MOST_LETTERS)
    return f"<b>{name}</b>" if row.is_partition else name


def offset_names(turns: Sequence[Turn]) -> list[str]:
    """The offsets that the story has: the last stable one with a transaction, log start when records are deleted."""
    every = [its for turn in turns for its in turn.offsets]
    held = ["last stable"] * any(its.last_stable < its.log_end for its in every)
    return ["committed", *held, "log end", *["log start"] * any(its.log_start for its in every)]


def _rows(
    before: PartitionOffsets | None, its: PartitionOffsets, names: Sequence[str], looks: Mapping[RecordState, Style]
) -> list[Row]:
    """From above: the position, the records, and the other offsets."""
    old, new = (_named(before) if before else {}), _named(its)
    marks = [Row(name, new[name], old.get(name)) for name in (POSITION, *names)]
    records = tuple(
        Box(looks[kind].glyph, looks[kind], f"{its.partition}, offset {offset} · {kind}")
        for offset, kind in enumerate(KINDS[code] for code in classify(before, its))
    )
    return [marks[0], Row(str(its.partition), records=records, is_partition=True), *marks[1:]]


def _named(its: PartitionOffsets) -> Mapping[str, int | None]:
    return {
        POSITION: its.position,
        "committed": its.committed,
        "last stable": its.last_stable,
        "log end": its.log_end,
        "log start": its.log_start,
    }


def _mark(fig: go.Figure, at: int, row: Row, offset: int, colours: Palette) -> None:
    """A triangle at the boundary before that offset, with its number; a dotted line from where it was."""
    moved = row.before != offset
    colour = colours.gained if moved else colours.text
    was = f", was {row.before}" if moved and row.before is not None else ""
    if was:
        line = {"color": colour, "width": 2, "dash": "dot"}
        fig.add_shape(type="line", x0=(row.before or 0) - 0.5, x1=offset - 0.5, y0=at, y1=at, line=line, layer="below")
    fig.add_scatter(
        x=[offset - 0.5],
        y=[at],
        mode="markers",
        marker={"symbol": "triangle-down" if row.name == POSITION else "triangle-up", "size": 11, "color": colour},
        cliponaxis=False,
        hovertemplate=f"{row.name} {offset}{was}<extra></extra>",
    )
    text = f"<b>{offset}</b>{was}" if moved else str(offset)
    # its background covers the dotted line
    fig.add_annotation(
        x=offset - 0.5, y=at, text=text, showarrow=False, xanchor="left", xshift=8, bgcolor=colours.background,
        borderpad=0, font={"color": colours.text},
    )  # fmt: skip
