"""A token per partition gliding from lane to lane. What keeps its owner does not move at all."""

from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.movement import sentences
from app.ui.movement.encoding import GLYPHS, Picture, lane_names, looks, scale
from app.ui.movement.playback import BUTTONS_PX, TITLE_PX, animate
from app.ui.movement.slots import Grid, grid
from app.ui.movement.steps import KEPT, NO_CELL, Steps, small
from app.ui.theme import Palette

NAMED = 60
NAMED_LANE = 10
"""Tokens carry their partition's number up to this many of them, and in a lane."""
NAMED_ROW_PX = 30
MOST_PX = 640
RIGHT_PX = 44
PHONE_PX = 240
"""Tokens side by side hardly overlap on a phone when they share this width."""


def tokens(steps: Steps, current: int, colours: Palette, whole: Steps | None = None) -> Picture:
    """All generations as one animation that stands at `current` until somebody plays it.

    Where `steps` has only some of the partitions, counts and sentences speak of the `whole`.
    """
    return _Board(steps, steps if whole is None else whole, colours).picture(current)


class _Board:
    """One figure in the making: places, sizes and colours that all of its frames share."""

    def __init__(self, steps: Steps, whole: Steps, colours: Palette) -> None:
        self.steps, self.whole, self.colours = steps, whole, colours
        self.grid: Grid = grid(steps)
        self.kinds = steps.all_kinds()
        self.named = steps.partitions <= NAMED and self.grid.columns <= NAMED_LANE
        self.row_px = NAMED_ROW_PX if self.named else max(8, min(18, MOST_PX // max(1, self.grid.rows)))
        self.letters = base.letters(sorted({steps.topics[topic] for topic in steps.topic_of.tolist()}))
        look = looks(colours)
        self.glyphs = {**GLYPHS, KEPT: "", NO_CELL: ""}
        self.inks = {NO_CELL: colours.text, **{kind: its.ink for kind, its in look.items()}}
        self.names = [str(steps.partition(column)) for column in range(steps.partitions)]
        self.numbers = [
            f"{self.letters.get(tp.topic, '')}{tp.partition}" for tp in map(steps.partition, range(steps.partitions))
        ]

    def picture(self, current: int) -> Picture:
        """The figure at its current frame, with all frames."""
        fig = self.stage()
        fig.add_scatter(**self.token_look(), **self.token_places(current))
        fig.add_scatter(**self.tally_look(), text=self.tallies(current))
        animate(fig, self.whole, current, [self.frame(at) for at in range(len(self.steps))], self.colours, redraw=False)
        key = base.letter_key(self.letters) if self.named else ""
        return Picture(fig, key, sentences.animation(self.whole, current))

    def frame(self, at: int) -> list[dict[str, Any]]:
        """What changes from frame to frame: places, colours, symbols and counts."""
        return [{**self.token_places(at), "type": "scatter"}, {"type": "scatter", "text": self.tallies(at)}]

    def stage(self) -> go.Figure:
        """Lanes with their names, lines between them, fixed axes."""
        names = [*lane_names(self.steps.members), "in transit", "unassigned"]
        tops = self.grid.tops
        used = [lane for lane in range(len(names)) if tops[lane + 1] > tops[lane]]
        height = self.row_px * max(1, self.grid.rows)
        left = base.lane_px([names[lane] for lane in used])
        fig = base.figure(
            self.colours, height + TITLE_PX + BUTTONS_PX, left=left, right=RIGHT_PX, top=TITLE_PX, bottom=BUTTONS_PX
        )
        fig.update_xaxes(visible=False, range=[-0.6, self.grid.columns - 0.4])
        fig.update_yaxes(
            range=[self.grid.rows - 0.5, -0.5],
            showgrid=False,
            tickvals=[(tops[lane] + tops[lane + 1] - 1) / 2 for lane in used],
            ticktext=[names[lane] for lane in used],
            tickfont={"family": base.MONO, "size": 12 if self.row_px >= 14 else 11, "color": self.colours.text},
        )
        line = {"color": self.colours.grid, "width": 1}
        across = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "line": line, "layer": "below"}
        fig.update_layout(shapes=[{**across, "y0": top - 0.5, "y1": top - 0.5} for top in tops[1:-1]])
        return fig

    def token_look(self) -> dict[str, Any]:
        """What stays the same for every token in every frame, its id among it."""
        paint = scale(self.colours)
        size = 24 if self.named else max(6, min(14, self.row_px - 3, PHONE_PX // self.grid.columns))
        return {
            "ids": self.names,
            "customdata": self.names,
            "hovertemplate": "%{customdata}<extra></extra>",
            "mode": "markers+text",
            "marker_symbol": "square",
            "textfont_family": base.MONO,
            "textfont_size": 11 if self.named else size - 3,
            **({} if self.named else {"textfont_color": self.colours.background}),
            "marker_colorscale": paint["colorscale"],
            "marker_cmin": paint["zmin"],
            "marker_cmax": paint["zmax"],
            "marker_size": size,
            "marker_line": {"width": 1, "color": self.colours.background},
        }

    def token_places(self, at: int) -> dict[str, Any]:
        """Place, colour and symbol of every token in one generation, in small integers."""
        kinds = self.kinds[at]
        places = {"x": small(self.grid.x[at]), "y": small(self.grid.y[at]), "marker": {"color": kinds}}
        return {**places, **self.labels(kinds.tolist())}

    def labels(self, kinds: list[int]) -> dict[str, Any]:
        """A symbol on every token that changed, and the partition's number where there is room.

        Text and not the marker's own symbol: while a token glides, Plotly would draw something between two symbols.
        """
        glyphs = [self.glyphs[kind] for kind in kinds]
        if not self.named:
            return {"text": np.array(glyphs)}
        words = [f"{glyph}{number}" for glyph, number in zip(glyphs, self.numbers, strict=True)]
        return {"text": words, "textfont_color": [self.inks[kind] for kind in kinds]}

    def tally_look(self) -> dict[str, Any]:
        """Where the count of each lane stands."""
        tops = self.grid.tops
        middles = [(a + b - 1) / 2 for a, b in pairwise(tops)][: len(self.steps.members)]
        return {
            "x": [self.grid.columns - 0.4] * len(middles),
            "y": middles,
            "mode": "text",
            "textposition": "middle right",
            "cliponaxis": False,
            "hoverinfo": "skip",
            "textfont": {"color": self.colours.dim, "size": 12 if self.row_px >= 14 else 11},
        }

    def tallies(self, at: int) -> list[str]:
        """Partitions of each member; "idle" for none, "gone" for a member that has left."""
        owners = self.whole.owners[at]
        owned = np.bincount(owners[owners >= 0], minlength=len(self.steps.members))
        gone = ~self.steps.present[at] & self.steps.present[:at].any(axis=0)
        return [
            f"{n:,}" if n else "idle" if self.steps.present[at, member] else "gone" if gone[member] else ""
            for member, n in enumerate(owned.tolist())
        ]
