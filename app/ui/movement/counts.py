"""Members x generations: how many partitions each member has, whatever their number."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base, lanes, limits
from app.ui.formats import joined, plural
from app.ui.movement import sentences
from app.ui.movement.encoding import Picture, lane_names
from app.ui.movement.steps import Steps, largest
from app.ui.movement.stills import thinned, window_note
from app.ui.theme import Palette

ROW_PX = 26
LEAST_ROW_PX = 15
MOST_PX = 620
DIGIT_PX = 7
DIGITS_PX = 430
"""Width of all cells in the desktop layout: digits are drawn while they fit."""
NOT_A_MEMBER = "·"
LABELS = 10
"""As many generation numbers fit side by side on a phone."""

Counts = NDArray[np.int32]
Mask = NDArray[np.bool_]


def members_by_generations(steps: Steps, current: int, colours: Palette) -> Picture:
    """Partitions of each member after each generation: paler means fewer, 0 means idle, a dot means not a member."""
    first, last = limits.window(len(steps), current, limits.STILL_ROWS)
    shown, column = steps.window(first, last), current - first
    rows = _rows(shown)
    counts, here = shown.counts().T[rows], shown.present.T[rows]
    fig = _canvas([steps.members[row] for row in rows], shown, column, colours)
    _ramp(fig, [steps.full_owner(row) for row in rows.tolist()], shown, counts, here, colours)
    for mask, ink, weight in _texts(counts, here, colours):
        if mask.any():
            words = np.where(here, counts.astype(str), NOT_A_MEMBER)
            lanes.write(fig, np.where(mask, words, "").tolist(), ink, weight)
    base.outline(fig, colours, x=(column - 0.5, column + 0.5), y=(-0.5, len(rows) - 0.5))
    more = len(steps.members) - len(rows)
    left_out = f"{plural(more, 'member')} with fewer changes not shown" if more else ""
    return Picture(fig, joined(left_out, window_note(first, last, len(steps))), sentences.counts(shown, column))


def _rows(steps: Steps) -> NDArray[np.intp]:
    """Members in order; beyond the limit those whose count changes most."""
    change = np.abs(np.diff(steps.counts().astype(np.int64), axis=0)).sum(axis=0)
    return largest(change, limits.COUNT_ROWS)


def _canvas(members: list[str], steps: Steps, column: int, colours: Palette) -> go.Figure:
    labels = lane_names(members)
    height = max(len(labels) * LEAST_ROW_PX, min(len(labels) * ROW_PX, MOST_PX))
    fig = base.figure(colours, height + 26, left=base.lane_px(labels), right=4, top=4, bottom=22)
    shown = thinned(len(steps), column, LABELS)
    fig.update_xaxes(
        range=[-0.5, len(steps) - 0.5],
        tickangle=0,
        tickvals=shown,
        ticktext=[f"<b>{steps.names[at]}</b>" if at == column else steps.names[at] for at in shown],
    )
    lanes.name_lanes(fig, labels, colours.text)
    return fig


def _ramp(fig: go.Figure, members: list[str], steps: Steps, counts: Counts, here: Mask, colours: Palette) -> None:
    titles = [steps.title(at) for at in range(len(steps))]
    fig.add_heatmap(
        z=np.where(here, counts, np.nan),
        zmin=0,
        zmax=max(1, int(counts.max(initial=0))),
        colorscale=[list(stop) for stop in colours.ramp],
        showscale=False,
        xgap=1,
        ygap=2,
        hoverongaps=False,
        customdata=[[f"{name} · {title}" for title in titles] for name in members],
        hovertemplate="%{customdata} · %{z:,} partitions<extra></extra>",
    )


def _fits(counts: Counts) -> bool:
    digits = len(str(int(counts.max(initial=0))))
    return int(counts.shape[1]) * (digits * DIGIT_PX + 6) <= DIGITS_PX


def _texts(counts: Counts, here: Mask, colours: Palette) -> list[tuple[Mask, str, int]]:
    """Where text is written, in which colour and weight: bold what changed, purple the 0 of an idle member.

    Where numbers do not fit, only the 0.
    """
    idle = (here & (counts == 0), colours.unassigned_text, 700)
    if not _fits(counts):
        return [idle]
    changed = np.zeros_like(here)
    changed[:, 1:] = here[:, 1:] & (~here[:, :-1] | (counts[:, 1:] != counts[:, :-1]))
    busy = here & (counts > 0)
    return [
        (busy & changed, colours.text, 700),
        (busy & ~changed, colours.text, 400),
        idle,
        (~here, colours.dim, 400),
    ]
