"""A cell per partition that lights up where a generation changes it: for thousands of partitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base
from app.ui.movement import sentences
from app.ui.movement.blocks import topic_starts
from app.ui.movement.encoding import Picture, scale
from app.ui.movement.playback import BUTTONS_PX, TITLE_PX, animate
from app.ui.movement.steps import NO_CELL, Kinds, Steps
from app.ui.theme import Palette

COLUMNS = 100
CELL_PX = 14
LEAST_PX = 5
MOST_PX = 640
NAME_CHARS = 14
LABEL_PX = 14
SPLIT_TOPICS = 40
"""Up to this many topics each begins a row of its own; more flow one after the other."""


@dataclass(frozen=True, slots=True)
class Mosaic:
    """Row and column of each partition, and where each topic that begins a row begins."""

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    rows: int
    columns: int
    topics: tuple[tuple[int, str], ...]

    def spread(self, kinds: Kinds) -> Kinds:
        """Kinds by row and column; NO_CELL where no partition is."""
        cells = np.full((self.rows, self.columns), NO_CELL, dtype=np.int8)
        cells[self.row, self.column] = kinds
        return cells


def mosaic(steps: Steps) -> Mosaic:
    """Partitions in order, topic after topic. The place of a partition never changes."""
    n, tops = steps.partitions, topic_starts(steps)
    if len(tops) > SPLIT_TOPICS:
        tops = tops[:1]
    sizes = np.diff([*tops, n])
    columns = int(min(COLUMNS, max(sizes, default=1)))
    first_row = np.concatenate([[0], np.cumsum(-(-sizes // columns))])
    part = np.repeat(np.arange(len(tops)), sizes)
    inside = np.arange(n) - np.repeat(np.array(tops, dtype=np.intp), sizes)
    named = len(tops) > 1 or len(topic_starts(steps)) == 1
    topics = [(int(first_row[at]), steps.topics[steps.topic_of[top]]) for at, top in enumerate(tops) if named]
    return Mosaic(first_row[part] + inside // columns, inside % columns, int(first_row[-1]), columns, tuple(topics))


def tiles(steps: Steps, current: int, colours: Palette) -> Picture:
    """All generations as one animation that stands at `current` until somebody plays it."""
    places, kinds = mosaic(steps), steps.all_kinds()
    fig = _stage(places, colours)
    fig.add_heatmap(z=places.spread(kinds[current]), **_cells(steps, places, colours))
    frames = [[{"type": "heatmap", "z": places.spread(row)}] for row in kinds]
    animate(fig, steps, current, frames, colours, redraw=True)
    in_order = "" if places.topics else f"{len(steps.topics):,} topics in order of name, row by row"
    return Picture(fig, in_order, sentences.animation(steps, current))


def _stage(places: Mosaic, colours: Palette) -> go.Figure:
    px = max(LEAST_PX, min(CELL_PX, MOST_PX // max(1, places.rows)))
    height = px * max(1, places.rows)
    names = [base.clip(name, NAME_CHARS) for _, name in places.topics]
    fig = base.figure(
        colours,
        height + TITLE_PX + BUTTONS_PX,
        left=base.lane_px(names) if names else 8,
        top=TITLE_PX,
        bottom=BUTTONS_PX,
    )
    labelled = _apart([row for row, _ in places.topics], LABEL_PX / px)
    fig.update_xaxes(visible=False, range=[-0.5, places.columns - 0.5])
    fig.update_yaxes(
        range=[places.rows - 0.5, -0.5],
        showgrid=False,
        tickvals=[places.topics[at][0] + 0.2 for at in labelled],
        ticktext=[names[at] for at in labelled],
        tickfont={"family": base.MONO, "size": 11, "color": colours.text},
    )
    return fig


def _apart(rows: list[int], least: float) -> list[int]:
    """Which of those rows get a label, so that no two labels touch."""
    kept: list[int] = []
    for at, row in enumerate(rows):
        if not kept or row - rows[kept[-1]] >= least:
            kept.append(at)
    return kept


def _cells(steps: Steps, places: Mosaic, colours: Palette) -> dict[str, Any]:
    names = np.full((places.rows, places.columns), "", dtype=object)
    names[places.row, places.column] = [str(steps.partition(at)) for at in range(steps.partitions)]
    return {
        **scale(colours),
        "xgap": 0.5,
        "ygap": 0.5,
        "customdata": names.tolist(),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
