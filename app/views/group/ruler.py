"""The offset ruler of a partition: log start, committed, last stable and log end in order, and what lies between."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import plotly.graph_objects as go

from app.ui import formats
from app.ui.charts import base
from app.ui.theme import Palette
from lag.offsets import PartitionLag

BAR_PX, LABEL_PX, LINE_PX = 34, 20, 16
BAR = (0.0, 1.0)
MOST_WRITTEN_OUT = 1_000_000


class Part(StrEnum):
    """What the records between two marks are to the group."""

    LOST = "lost"
    READ = "read"
    UNREAD = "to read"
    HELD = "held"
    BEYOND = "beyond the end"
    LOG = "in the log"


@dataclass(frozen=True, slots=True)
class Mark:
    """An offset, and the names of what is there: "committed", "last stable"."""

    offset: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """The `records` from one mark to the next."""

    records: int
    part: Part


def marks(row: PartitionLag) -> list[Mark]:
    """The known offsets in ascending order; equal ones are one mark."""
    named = {
        "log start": row.log_start,
        "committed": row.committed,
        "last stable": row.last_stable,
        "log end": row.log_end,
    }
    offsets = sorted({offset for offset in named.values() if offset is not None})
    return [Mark(at, tuple(name for name, offset in named.items() if offset == at)) for at in offsets]


def segments(row: PartitionLag) -> list[Segment]:
    """What lies between neighbouring marks."""
    return [Segment(b.offset - a.offset, _part(row, a.offset, b.offset)) for a, b in pairwise(marks(row))]


def _part(row: PartitionLag, first: int, end: int) -> Part:
    if row.log_start is not None and end <= row.log_start:
        return Part.LOST
    if row.log_end is not None and first >= row.log_end:
        return Part.BEYOND
    if row.committed is not None and end <= row.committed:
        return Part.READ
    if row.last_stable is not None and first >= row.last_stable:
        return Part.HELD
    return Part.LOG if row.committed is None else Part.UNREAD


def finding(row: PartitionLag) -> str:
    """The ruler in words: what lies between the marks, and where the marks are."""
    parts = [f"{formats.plural(its.records, 'record')} {its.part}" for its in segments(row)]
    where = [f"{' and '.join(mark.names)} {formats.count(mark.offset)}" for mark in marks(row)]
    return f"{row.tp}: {', '.join(parts) or 'no records'}; {', '.join(where)}"


def figure(row: PartitionLag, colours: Palette) -> go.Figure:
    """Marks at equal distances, the records between them above the bar, names and offsets below it."""
    found, fills = marks(row), _fills(colours)
    below = LINE_PX * (1 + max((len(mark.names) for mark in found), default=0))
    fig = base.figure(colours, LABEL_PX + BAR_PX + below, left=2, right=2, top=LABEL_PX, bottom=below)
    for at, its in enumerate(segments(row)):
        fig.add_shape(
            type="rect", x0=at, x1=at + 1, y0=BAR[0], y1=BAR[1], fillcolor=fills[its.part], line={"width": 0},
            layer="below",
        )  # fmt: skip
        label = f"{_number(its.records)} {its.part}"
        _write(fig, at + 0.5, BAR[1], "bottom", label, colours.text if its.part in _TROUBLE else colours.dim)
    for at, mark in enumerate(found):
        line = {"color": colours.text, "width": 2}
        fig.add_shape(type="line", x0=at, x1=at, y0=BAR[0] - 0.2, y1=BAR[1] + 0.2, line=line)
        _write(
            fig, at, BAR[0] - 0.2, "top", f"{formats.count(mark.offset)}<br>{',<br>'.join(mark.names)}", colours.text
        )
    fig.update_xaxes(visible=False, range=[-0.5, max(1, len(found)) - 0.5])
    fig.update_yaxes(visible=False, range=[-0.2, 1.2])
    return fig


_TROUBLE = frozenset({Part.LOST, Part.HELD, Part.BEYOND})


def _fills(colours: Palette) -> dict[Part, str]:
    return {
        Part.LOST: colours.revoked,
        Part.BEYOND: colours.revoked,
        Part.HELD: colours.unassigned,
        Part.READ: colours.kept_fill,
        Part.UNREAD: colours.gained,
        Part.LOG: colours.kept_fill,
    }


def _number(records: int) -> str:
    """Exact while there is room for it on a phone."""
    return formats.count(records) if records < MOST_WRITTEN_OUT else formats.short(records)


def _write(fig: go.Figure, x: float, y: float, anchor: str, text: str, ink: str) -> None:
    fig.add_annotation(
        x=x, y=y, yanchor=anchor, text=text, showarrow=False, font={"size": 12, "color": ink}, align="center"
    )
