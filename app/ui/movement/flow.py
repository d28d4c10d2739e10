"""Who gave how many partitions to whom in one generation: a Sankey diagram."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base, limits
from app.ui.formats import plural
from app.ui.movement import sentences
from app.ui.movement.encoding import Picture, lane_names
from app.ui.movement.steps import NO_OWNER, NOBODY, Owners, Steps, largest
from app.ui.theme import Palette

NODE_PX = 26
LEAST_PX = 180
MOST_PX = 720
LINK_OPACITY = 0.4


@dataclass(frozen=True, slots=True)
class Streams:
    """Names of givers and takers, and between whom how many partitions pass (positions in those)."""

    givers: tuple[str, ...]
    takers: tuple[str, ...]
    sources: NDArray[np.intp]
    targets: NDArray[np.intp]
    sizes: NDArray[np.intp]


def flow(steps: Steps, at: int, colours: Palette) -> Picture:
    """Givers on the left, takers on the right; what stays where it was is left out."""
    found = streams(steps, at)
    nodes = max(len(found.givers), len(found.takers))
    fig = base.figure(colours, max(LEAST_PX, min(MOST_PX, NODE_PX * nodes)), left=4, right=4, top=6, bottom=6)
    fig.update_xaxes(visible=False)
    fig.update_yaxes(visible=False)
    if not len(found.sizes):
        fig.add_annotation(text="no partition moved", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    else:
        _draw(fig, found, colours)
    kept = int((steps.owners[at] == steps.before(at))[steps.owners[at] >= 0].sum())
    return Picture(fig, f"{plural(kept, 'partition')} kept the same owner", sentences.flow(steps, at))


def streams(steps: Steps, at: int) -> Streams:
    """Where the partitions of that generation went; beyond 50 owners the largest 20 of either side and the others."""
    before, after = np.maximum(steps.before(at), NOBODY), np.maximum(steps.owners[at], NOBODY)
    moved = (before != after) & (steps.owners[at] >= NOBODY)
    givers, source = _ends(steps, before[moved])
    takers, target = _ends(steps, after[moved])
    pairs, sizes = np.unique(np.stack([source, target]), axis=1, return_counts=True)
    return Streams(givers, takers, pairs[0], pairs[1], sizes)


def _ends(steps: Steps, owners: Owners) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Names of one side, and which of them each partition belongs to."""
    who, which, sizes = np.unique(owners, return_inverse=True, return_counts=True)
    if len(who) <= limits.FLOW_MEMBERS:
        return tuple(steps.owner(int(owner)) for owner in who), which
    kept = largest(sizes, limits.FLOW_TOP)
    place = np.full(len(who), len(kept), dtype=np.intp)
    place[kept] = np.arange(len(kept))
    names = [steps.owner(int(owner)) for owner in who[kept]]
    return (*names, f"other ({len(who) - len(kept):,})"), place[which]


def _draw(fig: go.Figure, found: Streams, colours: Palette) -> None:
    givers, takers = lane_names(found.givers, 18), lane_names(found.takers, 18)
    lost = np.array([name == NO_OWNER for name in found.takers])
    inks = np.where(lost[found.targets], colours.revoked, colours.gained)
    fig.add_sankey(
        arrangement="fixed",
        node={
            "label": [*_sized(givers, found.sources, found.sizes), *_sized(takers, found.targets, found.sizes)],
            "color": colours.kept,
            "line": {"width": 0},
            "thickness": 10,
            "pad": 14,
            "hovertemplate": "%{label}<extra></extra>",
        },
        link={
            "source": found.sources,
            "target": found.targets + len(givers),
            "value": found.sizes,
            "color": [_pale(ink) for ink in inks.tolist()],
            "hovertemplate": "%{source.label} → %{target.label}<br>%{value:,} partitions<extra></extra>",
        },
        textfont={"family": base.MONO, "size": 12, "color": colours.text, "shadow": _halo(colours.background)},
    )


def _sized(names: list[str], ends: NDArray[np.intp], sizes: NDArray[np.intp]) -> list[str]:
    totals = np.bincount(ends, weights=sizes, minlength=len(names)).astype(int)
    return [f"{name} {total:,}" for name, total in zip(names, totals.tolist(), strict=True)]


def _pale(ink: str) -> str:
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{LINK_OPACITY})"


def _halo(colour: str) -> str:
    """Keeps labels readable where streams run behind them."""
    return ", ".join(f"{x}px {y}px 1px {colour}" for x in (-1, 0, 1) for y in (-1, 0, 1))
