"""The offset ruler of a partition: log start, committed, position, last stable, log end, and what lies between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import plotly.graph_objects as go

from app.ui import formats
from app.ui.charts import base
from app.ui.theme import Palette

BAR_PX, LABEL_PX, LINE_PX = 34, 20, 16
BAR = (0.0, 1.0)
MOST_WRITTEN_OUT = 1_000_000


@dataclass(frozen=True, slots=True)
class Offsets:
    """The offsets of one partition; None: unknown, or there is none.

    In a share group `committed` is the start offset. Records above it may be acknowledged already.
    """

    log_start: int | None
    committed: int | None
    position: int | None
    last_stable: int | None
    log_end: int | None
    is_shared: bool = False


class Part(StrEnum):
    """What the records between two marks are to the group."""

    LOST = "lost"
    READ = "read"
    AGAIN = "to read again"
    UNCOMMITTED = "not committed"
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


def named(its: Offsets) -> Mapping[str, int | None]:
    """Each offset by the name that it is shown with."""
    return {
        "log start": its.log_start,
        "start offset" if its.is_shared else "committed": its.committed,
        "position": its.position,
        "last stable": its.last_stable,
        "log end": its.log_end,
    }


def marks(its: Offsets) -> list[Mark]:
    """The known offsets in ascending order; equal ones are one mark."""
    known = named(its)
    offsets = sorted({offset for offset in known.values() if offset is not None})
    return [Mark(at, tuple(name for name, offset in known.items() if offset == at)) for at in offsets]


def segments(its: Offsets) -> list[Segment]:
    """What lies between neighbouring marks."""
    return [Segment(b.offset - a.offset, _part(its, a.offset, b.offset)) for a, b in pairwise(marks(its))]


def _part(its: Offsets, first: int, end: int) -> Part:
    if its.log_start is not None and end <= its.log_start:
        return Part.LOST
    if its.log_end is not None and first >= its.log_end:
        return Part.BEYOND
    if its.committed is not None and its.log_end is not None and its.committed > its.log_end:
        return Part.LOG  # the commit is for an earlier log: whether the group read these is not known
    if its.committed is not None and end <= its.committed:
        return Part.AGAIN if its.position is not None and first >= its.position else Part.READ
    if its.position is not None and end <= its.position:
        return Part.UNCOMMITTED
    if its.last_stable is not None and first >= its.last_stable:
        return Part.HELD
    is_open = its.is_shared or (its.committed is None and its.position is None)
    return Part.LOG if is_open else Part.UNREAD


def finding(name: str, its: Offsets) -> str:
    """The ruler of that partition in words: what lies between the marks, and where the marks are."""
    parts = [f"{formats.plural(each.records, 'record')} {each.part}" for each in segments(its)]
    where = [f"{' and '.join(mark.names)} {formats.count(mark.offset)}" for mark in marks(its)]
    return f"{name}: {', '.join(parts) or 'no records'}; {', '.join(where)}"


def figure(its: Offsets, colours: Palette, before: Offsets | None = None) -> go.Figure:
    """Marks at equal distances, the records between them above the bar, names and offsets below it.

    Offsets that differ from those of `before` are emphasised.
    """
    found, fills = marks(its), _fills(colours)
    below = LINE_PX * (1 + max((len(mark.names) for mark in found), default=0))
    fig = base.figure(colours, LABEL_PX + BAR_PX + below, left=2, right=2, top=LABEL_PX, bottom=below)
    for at, each in enumerate(segments(its)):
        fig.add_shape(
            type="rect", x0=at, x1=at + 1, y0=BAR[0], y1=BAR[1], fillcolor=fills[each.part], line={"width": 0},
            layer="below",
        )  # fmt: skip
        label = f"{_number(each.records)} {each.part}"
        _write(fig, at + 0.5, BAR[1], "bottom", label, colours.text if each.part in _TROUBLE else colours.dim)
    old = named(its if before is None else before)
    for at, mark in enumerate(found):
        moved = {name for name in mark.names if old[name] != mark.offset}
        line = {"color": colours.gained if moved else colours.text, "width": 4 if moved else 2}
        fig.add_shape(type="line", x0=at, x1=at, y0=BAR[0] - 0.2, y1=BAR[1] + 0.2, line=line)
        names = ",<br>".join(f"<b>▸{name}</b>" if name in moved else name for name in mark.names)
        _write(fig, at, BAR[0] - 0.2, "top", f"{formats.count(mark.offset)}<br>{names}", colours.text)
    fig.update_xaxes(visible=False, range=[-0.5, max(1, len(found)) - 0.5])
    fig.update_yaxes(visible=False, range=[-0.2, 1.2])
    return fig


_TROUBLE = frozenset({Part.LOST, Part.HELD, Part.BEYOND, Part.AGAIN})


def _fills(colours: Palette) -> dict[Part, str]:
    return {
        Part.LOST: colours.revoked,
        Part.BEYOND: colours.revoked,
        Part.AGAIN: colours.revoked,
        Part.HELD: colours.unassigned,
        Part.READ: colours.kept_fill,
        Part.UNCOMMITTED: colours.kept,
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
