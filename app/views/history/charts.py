"""The charts of the History page: scales of its lines, and the health map of groups and times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import plotly.graph_objects as go

from app.ui import verdicts
from app.ui.charts import base
from app.ui.charts.lag import Scale
from app.ui.charts.lanes import name_lanes, write
from app.ui.formats import duration, short
from app.ui.theme import Palette
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

ROW_PX = 22
MAX_GROUPS = 30
MAX_SYMBOL_COLUMNS = 48
"""With more columns a cell has no room for the symbol of its verdict; the hover text has it."""

MOST_TIMES = 5
"""Labels of the time axis that fit side by side on a phone."""

_STEPS_S = (1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 86_400)


def _duration_ticks(top: float) -> tuple[list[float], list[str]]:
    """Round durations from 0 up to `top` seconds."""
    step = next((one for one in _STEPS_S if one * 4 >= top), -(-top // (4 * 86_400)) * 86_400)
    values = [float(step * at) for at in range(int(top // step) + 1)]
    return values, ["0" if not value else duration(value) for value in values]


RECORDS = Scale("%{customdata}<br>%{y:,.0f} records behind<extra></extra>", short, base.ticks, 10.0)
SECONDS = Scale("%{customdata}<extra></extra>", duration, _duration_ticks, 10.0)


@dataclass(frozen=True, slots=True)
class Tile:
    """One group in one cell: its worst status, and the hover text."""

    worst: Status
    hover: str


def health(
    rows: Mapping[str, Mapping[int, Tile]], columns: Mapping[int, datetime], cell: timedelta, colours: Palette
) -> go.Figure:
    """Groups (rows) x times (columns), in the colour of the worst status; empty where none is known.

    `columns` maps the start of each cell to the time under it: local hours repeat when clocks go back. `cell` is the
    length of a cell.
    """
    names = [base.clip(name) for name in rows]
    fig = base.figure(colours, ROW_PX * len(rows) + 30, left=base.lane_px(names), right=8, top=2, bottom=28)
    tiles = [[row.get(at) for at in columns] for row in rows.values()]
    fig.add_heatmap(
        z=[[None if tile is None else URGENCY.index(tile.worst) for tile in row] for row in tiles],
        **base.kinds([verdicts.fill(status, colours) for status in URGENCY]),
        xgap=1 if len(columns) > MAX_SYMBOL_COLUMNS else 2,
        ygap=2,
        hoverongaps=False,
        customdata=[["" if tile is None else tile.hover for tile in row] for row in tiles],
        hovertemplate="%{customdata}<extra></extra>",
    )
    if len(columns) <= MAX_SYMBOL_COLUMNS:
        for ink in (verdicts.BLACK, verdicts.WHITE):
            write(fig, [[_symbol(tile, ink, colours) for tile in row] for row in tiles], ink)
    name_lanes(fig, names, colours.text)
    _times(fig, list(columns.values()), cell)
    return fig


def _symbol(tile: Tile | None, ink: str, colours: Palette) -> str:
    """The symbol of the verdict where it is written in that ink; OK has none."""
    if tile is None or tile.worst is Status.OK or verdicts.ink(tile.worst, colours) != ink:
        return ""
    return VERDICTS[tile.worst].symbol


def _times(fig: go.Figure, columns: Sequence[datetime], cell: timedelta) -> None:
    """At most MOST_TIMES labels: the time of day for at most two days, else the first cell of each day."""
    last = len(columns) - 1
    hourly = cell < timedelta(days=1)
    form = "%H:%M" if hourly and last < 48 else "%d %b"
    begins = [at for at in range(len(columns)) if form == "%H:%M" or not hourly or _is_new_day(columns, at)]
    shown = begins[:: max(1, -(-len(begins) // MOST_TIMES))]
    texts = [f"{columns[at]:{form}}" for at in shown]
    fig.update_xaxes(range=[-0.5, last + 0.5], tickvals=shown, ticktext=texts, tickangle=0)


def _is_new_day(columns: Sequence[datetime], at: int) -> bool:
    return columns[at].hour == 0 if not at else columns[at].date() != columns[at - 1].date()
