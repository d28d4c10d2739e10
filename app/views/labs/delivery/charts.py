"""The pictures of the Delivery lab: the ledger and the steps, with a column for each record."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.charts.lanes import BLANK, CLEAR, LEAST_SLOTS, Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.delivery.labels import name_of
from app.views.labs.delivery.tables import Fate, Mark, Row, fate
from assignors.labs.delivery import Lab, Ledger, Record

LABEL_PX = 158
"""Wide enough for the longest step; the columns of both pictures are aligned."""
ROW_PX = 28
MOST_LETTERS = 20
MOST_NAMED = 12
"""With more records their partitions do not fit on a phone; lines separate the partitions."""


def fates(colours: Palette) -> dict[Fate, Style]:
    """How each fate looks."""
    return {
        Fate.ONCE: Style(colours.kept_fill, colours.text, None, "✓"),
        Fate.TWICE: Style(colours.revoked, colours.revoked_ink, None, "2×"),
        Fate.LOST: Style(colours.unassigned, "#000000", None, "✕"),
        Fate.STUCK: Style(colours.background, colours.unassigned_text, colours.unassigned, "…"),
        Fate.DROPPED: Style(colours.background, colours.dim, colours.dim, "–"),
    }


def marks(colours: Palette) -> dict[Mark, Style]:
    """How each mark looks; each has its own symbol, so that it does not depend on colour."""
    return {
        Mark.DELIVERED: Style(colours.background, colours.dim, colours.dim, "○"),
        Mark.PROCESSED: Style(colours.kept_fill, colours.text, None, "●"),
        Mark.AGAIN: Style(colours.revoked, colours.revoked_ink, None, "●●"),
        Mark.COMMITTED: Style(colours.background, colours.gained, colours.gained, "✓"),
        Mark.REWOUND: Style(colours.background, colours.revoked_text, colours.revoked, "↺"),
        Mark.REFUSED: Style(colours.background, colours.revoked_text, colours.revoked, "✕"),
        Mark.DROPPED: Style(colours.background, colours.dim, colours.grid, "–"),
    }


def ledger(lab: Lab, its: Ledger, colours: Palette) -> go.Figure:
    """Rows: record; how often delivered, processed and committed; result."""
    plain, looks, results = Style(CLEAR, colours.text), fates(colours), {r: fate(its, r) for r in its.records}
    counts = {"delivered": its.delivered, "processed": its.processed, "committed": its.committed}
    short = len(its.records) > MOST_NAMED
    rows = [[Box(str(r.offset) if short else name_of(r, lab), plain, str(r)) for r in its.records]]
    rows += [
        [Box(str(times[r]), plain, f"{r} · {name} {times[r]}×") for r in its.records] for name, times in counts.items()
    ]
    rows.append([Box(looks[result].glyph, looks[result], f"{r} · {result}") for r, result in results.items()])
    return _grid(its.records, ["record", *counts, "result"], rows, colours)


def steps(records: Sequence[Record], rows: Sequence[Row], colours: Palette) -> go.Figure:
    """A row for each step, with a mark on its records; a line at failures."""
    looks = marks(colours)
    cells = [[_mark(record, row, looks) for record in records] for row in rows]
    fig = _grid(records, [row.label for row in rows], cells, colours)
    for at, row in enumerate(rows):
        if row.is_failure:
            fig.add_hline(y=at, line={"color": colours.revoked, "width": 1.5, "dash": "dot"}, layer="below")
    return fig


def _mark(record: Record, row: Row, looks: Mapping[Mark, Style]) -> Box:
    mark = row.marks.get(record)
    if mark is None:
        return BLANK
    why = f"<br>{row.reason}" if row.reason else ""
    return Box(looks[mark].glyph, looks[mark], f"{record} · {mark}: {row.label}{why}")


def _grid(
    records: Sequence[Record], names: Sequence[str], rows: Sequence[Sequence[Box]], colours: Palette
) -> go.Figure:
    width = max(LEAST_SLOTS, len(records))
    fig = base.figure(colours, ROW_PX * len(rows) + 6, left=LABEL_PX, right=4, top=2, bottom=2)
    boxes(fig, rows, width)
    for at in range(1, len(records)):
        if records[at].partition != records[at - 1].partition:
            fig.add_vline(x=at - 0.5, line={"color": colours.dim, "width": 1})
    fig.update_xaxes(visible=False, range=[-0.5, width - 0.5])
    name_lanes(fig, [base.clip(name, MOST_LETTERS) for name in names], colours.text)
    return fig
