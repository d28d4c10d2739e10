"""One generation, before -> after: a lane per member with what it keeps, gains and gives up."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base, lanes, limits
from app.ui.charts.lanes import Box, Style
from app.ui.formats import joined, plural
from app.ui.movement import sentences
from app.ui.movement.encoding import Picture, lane_names, looks
from app.ui.movement.steps import GAINED, KEPT, NO_OWNER, NOBODY, REVOKED, UNASSIGNED, Steps, largest
from app.ui.movement.stills import SANS_CHAR_PX
from app.ui.theme import Palette

GLYPH_LANE = 14
"""Longest lane whose tiles have room for a symbol beside the number."""
BAR_PX = 24

_KEPT, _GAINED, _GIVEN, _REVOKED, _FREE = range(5)
GLYPHS = {_GAINED: "▲", _GIVEN: "▼", _REVOKED: "▼", _FREE: "✕"}

Columns = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Lane:
    """Columns of the partitions that a member keeps, gains and gives up; for nobody: revoked, and never owned."""

    name: str
    note: str
    parts: tuple[tuple[int, Columns], ...]

    def size(self) -> int:
        """How many tiles the lane has."""
        return sum(len(columns) for _, columns in self.parts)


def one_step(steps: Steps, at: int, colours: Palette) -> Picture:
    """Tiles while the lanes are short enough, else bars; the 40 members with the most change where there are more."""
    rows, more = _lanes(steps, at)
    longest = max((lane.size() for lane in rows), default=0)
    draw = _tiles if longest <= limits.STEP_LANE else _bars
    notes = [lane.note for lane in rows]
    right = round(SANS_CHAR_PX * max(map(len, notes), default=0)) + 12
    names = lane_names([lane.name for lane in rows])
    px = lanes.LANE_PX if draw is _tiles else BAR_PX
    fig = base.figure(colours, px * max(1, len(rows)) + 6, left=base.lane_px(names), right=right, top=2, bottom=2)
    key = draw(fig, steps, at, rows, colours)
    lanes.name_lanes(fig, names, colours.text)
    beside = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False}
    fig.update_layout(annotations=[{**beside, "y": y, "text": note} for y, note in enumerate(notes)])
    left_out = f"{plural(more, 'more member')} with fewer changes" if more else ""
    return Picture(fig, joined(key, left_out), f"{sentences.step(steps, at)}.")


def _lanes(steps: Steps, at: int) -> tuple[list[Lane], int]:
    """Lanes in order of members, and how many members were left out."""
    before, after = steps.before(at), steps.owners[at]
    here = steps.present[at]
    was = steps.present[at - 1] if at else here | np.isin(np.arange(len(steps.members)), before)
    mine = np.flatnonzero(here | was)
    shown = _busiest(mine, before, after)
    rows = [_lane(steps, at, int(member), bool(here[member]), bool(was[member])) for member in shown]
    kinds = np.where(after == NOBODY, steps.kinds(at), KEPT)  # what was deleted is in nobody's lane either
    revoked, free = np.flatnonzero(kinds == REVOKED), np.flatnonzero(kinds == UNASSIGNED)
    if len(revoked) + len(free):
        total = len(revoked) + len(free)
        rows.append(Lane(NO_OWNER, f"{total:,}", ((_REVOKED, revoked), (_FREE, free))))
    return rows, len(mine) - len(shown)


def _busiest(members: Columns, before: NDArray[np.int32], after: NDArray[np.int32]) -> Columns:
    if len(members) <= limits.STEP_MEMBERS:
        return members
    moved = before != after
    ends = np.concatenate([before[moved], after[moved]])
    change = np.bincount(ends[ends > NOBODY], minlength=int(members.max()) + 1)[members]
    return members[largest(change, limits.STEP_MEMBERS)]


def _lane(steps: Steps, at: int, member: int, here: bool, was: bool) -> Lane:
    had, has = steps.before(at) == member, steps.owners[at] == member
    kept, gained, given = (np.flatnonzero(mask) for mask in (had & has, has & ~had, had & ~has))
    change = [f"+{len(gained):,}" if len(gained) else "", f"−{len(given):,}" if len(given) else ""]
    word = "left" if not here else "joined" if not was else ""
    note = " ".join(part for part in (f"{len(kept) + len(gained):,} ", word, *change) if part)
    return Lane(steps.members[member], note.strip(), ((_KEPT, kept), (_GAINED, gained), (_GIVEN, given)))


def _styles(colours: Palette) -> list[Style]:
    look = looks(colours)
    kept, gained, revoked, free = (
        Style(look[kind].fill, look[kind].ink) for kind in (KEPT, GAINED, REVOKED, UNASSIGNED)
    )
    given = Style(colours.background, look[REVOKED].text, look[REVOKED].fill)
    return [kept, gained, given, revoked, free]


def _tiles(fig: go.Figure, steps: Steps, at: int, rows: Sequence[Lane], colours: Palette) -> str:
    """Draw a tile per partition; gives the key to the letters of the topics, where there are several."""
    width = max([lanes.LEAST_SLOTS, *(lane.size() for lane in rows)])
    used = sorted({steps.topics[topic] for topic in steps.topic_of.tolist()})
    letters, glyphs = base.letters(used), GLYPHS if width <= GLYPH_LANE else {}
    styles = _styles(colours)

    def box(kind: int, column: int) -> Box:
        tp, before, after = steps.partition(column), steps.before(at)[column], steps.owners[at][column]
        owner = steps.full_owner(after)
        way = owner if kind == _KEPT else f"{steps.full_owner(before)} → {owner}"
        label = f"{glyphs.get(kind, '')}{letters.get(tp.topic, '')}{tp.partition}"
        return Box(label, styles[kind], f"{tp} · {way}")

    parts = [[(kind, column) for kind, columns in lane.parts for column in columns.tolist()] for lane in rows]
    lanes.boxes(fig, [[box(*one) for one in lane] for lane in parts], width)
    fig.update_xaxes(visible=False, range=[-0.5, width - 0.5])
    return base.letter_key(letters) if width <= limits.LABELLED_LANE else ""


def _bars(fig: go.Figure, steps: Steps, at: int, rows: Sequence[Lane], colours: Palette) -> str:
    """Draw how many partitions each lane has of each kind; what is given up is hollow."""
    words = {_KEPT: "kept", _GAINED: "gained", _GIVEN: "given up", _REVOKED: "revoked", _FREE: "unassigned"}
    for kind, style in enumerate(_styles(colours)):
        sizes = [next((len(columns) for its, columns in lane.parts if its == kind), 0) for lane in rows]
        if any(sizes):
            fig.add_bar(
                y=list(range(len(rows))),
                x=[size or None for size in sizes],  # a bar of nothing would still have an outline
                orientation="h",
                marker={"color": style.fill, "line": {"color": style.outline or style.fill, "width": 1.5}},
                hovertemplate=f"%{{x:,}} {words[kind]}<extra></extra>",
            )
    fig.update_layout(barmode="stack", bargap=0.25)
    fig.update_xaxes(visible=False)
    return ""
