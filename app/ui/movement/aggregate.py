"""Topic x member in counts: for more partitions than can be drawn one by one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base, limits
from app.ui.charts.lanes import name_lanes
from app.ui.formats import joined, plural
from app.ui.movement import sentences
from app.ui.movement.encoding import Picture, lane_names
from app.ui.movement.playback import BUTTONS_PX, TITLE_PX, animate
from app.ui.movement.steps import Steps, largest, small
from app.ui.movement.stills import thinned
from app.ui.theme import Palette

ROW_PX = 24
LEAST_ROW_PX = 15
MOST_PX = 600
NAME_CHARS = 16
TICKS_PX = 20
MEMBER_LABELS = 3
"""As many clipped member names fit side by side under the columns of a phone."""

Counts = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Side:
    """Positions drawn on one side of the table, and how many were left out."""

    shown: NDArray[np.intp]
    left_out: int


def topics_by_members(steps: Steps, current: int, colours: Palette) -> Picture:
    """Rows: topics, columns: members, those with most change; colour: partitions more or fewer than before."""
    gained = [_tally(steps, at, steps.owners[at], steps.before(at)) for at in range(len(steps))]
    lost = [_tally(steps, at, steps.before(at), steps.owners[at]) for at in range(len(steps))]
    busy = sum(gained[1:], gained[0] * 0) + sum(lost[1:], lost[0] * 0)
    rows, columns = _busiest(busy.sum(axis=1)), _busiest(busy.sum(axis=0))
    cut = np.ix_(rows.shown, columns.shown)
    parts = [(plus[cut], minus[cut]) for plus, minus in zip(gained, lost, strict=True)]
    fig = _stage(steps, rows, columns, colours)
    top = max(1, *(int(np.abs(plus - minus).max(initial=0)) for plus, minus in parts[1:] or parts))
    fig.add_heatmap(**_cells(parts[current]), **_look(steps, rows, columns, top, colours))
    frames = [[{"type": "heatmap", **_cells(part)}] for part in parts]
    animate(fig, steps, current, frames, colours, redraw=True, below_px=TICKS_PX)
    caption = joined(_note(rows, "topic"), _note(columns, "member"))
    return Picture(fig, caption, sentences.balance(steps, current))


def _tally(steps: Steps, at: int, owners: Counts, others: Counts) -> Counts:
    """Partitions by topic and member that `owners` have and `others` had not."""
    mine = np.flatnonzero((owners >= 0) & (owners != others))
    table = np.zeros((len(steps.topics), len(steps.members)), dtype=np.int32)
    np.add.at(table, (steps.topic_of[mine], owners[mine]), 1)
    return table


def _busiest(change: NDArray[np.int64]) -> Side:
    shown = largest(change, limits.TABLE_SIDE)
    return Side(shown, len(change) - len(shown))


def _note(side: Side, word: str) -> str:
    return f"{plural(side.left_out, word)} with fewer changes not shown" if side.left_out else ""


def _cells(parts: tuple[Counts, Counts]) -> dict[str, Any]:
    """The difference as colour, what came and what went on hovering."""
    plus, minus = parts
    return {"z": plus - minus, "customdata": small(np.stack([plus, minus], axis=-1))}


def _look(steps: Steps, rows: Side, columns: Side, top: int, colours: Palette) -> dict[str, Any]:
    return {
        "text": [[f"{steps.topics[row]} · {steps.members[at]}" for at in columns.shown] for row in rows.shown],
        "zmin": -top,
        "zmax": top,
        "colorscale": [[0, colours.revoked], [0.5, colours.ramp[0][1]], [1, colours.gained]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{text} · +%{customdata[0]:,} −%{customdata[1]:,}<extra></extra>",
    }


def _stage(steps: Steps, rows: Side, columns: Side, colours: Palette) -> go.Figure:
    topics = [base.clip(steps.topics[at], NAME_CHARS) for at in rows.shown]
    members = lane_names([steps.members[at] for at in columns.shown], 10)
    height = max(LEAST_ROW_PX * len(topics), min(ROW_PX * len(topics), MOST_PX))
    bottom = BUTTONS_PX + TICKS_PX
    fig = base.figure(
        colours, height + TITLE_PX + bottom, left=base.lane_px(topics), top=TITLE_PX, bottom=bottom, right=24
    )
    shown = thinned(len(members), 0, MEMBER_LABELS)
    fig.update_xaxes(
        range=[-0.5, len(members) - 0.5],
        tickangle=0,
        tickvals=shown,
        ticktext=[members[at] for at in shown],
        tickfont={"family": base.MONO, "size": 11, "color": colours.dim},
    )
    name_lanes(fig, topics, colours.text, size=11)
    return fig
