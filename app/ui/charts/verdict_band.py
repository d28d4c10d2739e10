"""Which verdict held when: a band above a line, on the same time axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import plotly.graph_objects as go

from app.ui import verdicts
from app.ui.charts import base
from app.ui.theme import Palette
from lag.verdict.status import URGENCY, Status

LINE_TOP, BAND_BOTTOM = 0.88, 0.95
"""Of the height of the figure."""


@dataclass(frozen=True, slots=True)
class VerdictSpan:
    """A verdict from `since` to `until`, with its hover text."""

    since: datetime
    until: datetime
    status: Status
    hover: str


def add_verdicts(fig: go.Figure, spans: Sequence[VerdictSpan], colours: Palette) -> None:
    """Draw the spans, which are in order of time, above the line; times between them stay empty."""
    edges: list[datetime] = []
    cells: list[VerdictSpan | None] = []
    for one in spans:
        if edges and edges[-1] < one.since:
            cells.append(None)
        edges += [one.since] if not edges or edges[-1] < one.since else []
        edges.append(one.until)
        cells.append(one)
    fig.add_heatmap(
        x=edges,
        y=[0, 1],
        z=[[None if one is None else URGENCY.index(one.status) for one in cells]],
        customdata=[["" if one is None else one.hover for one in cells]],
        yaxis="y2",
        **base.kinds([verdicts.fill(status, colours) for status in URGENCY]),
        hoverongaps=False,
        hovertemplate="%{customdata}<extra></extra>",
    )
    fig.update_layout(
        yaxis={"domain": [0, LINE_TOP]},
        yaxis2={"domain": [BAND_BOTTOM, 1], "range": [0, 1], "visible": False, "fixedrange": True},
    )
