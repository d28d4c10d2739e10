"""How a kind of move looks: fill, ink, symbol and word. Colour never stands alone."""

from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.charts.movement.steps import GAINED, KEPT, NO_CELL, REVOKED, UNASSIGNED, Steps
from app.theme import Palette

CLEAR = "rgba(0,0,0,0)"
WORDS = {KEPT: "kept", GAINED: "gained", REVOKED: "revoked", UNASSIGNED: "unassigned", NO_CELL: "does not exist"}


@dataclass(frozen=True, slots=True)
class Look:
    """Fill, ink on that fill, ink on the page; Plotly's name of the symbol and the glyph that looks like it."""

    fill: str
    ink: str
    text: str
    symbol: str
    glyph: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, what it leaves out or takes for granted (empty: nothing), and its finding for who cannot see it."""

    figure: go.Figure
    caption: str
    alt: str


def looks(colours: Palette) -> dict[int, Look]:
    """Kind -> look, in the order of MoveKind."""
    dark = colours.revoked_ink
    return {
        KEPT: Look(colours.kept_fill, colours.text, colours.dim, "square", "■"),
        GAINED: Look(colours.gained, colours.background, colours.gained, "triangle-up", "▲"),
        REVOKED: Look(colours.revoked, dark, colours.revoked_text, "triangle-down", "▼"),
        UNASSIGNED: Look(colours.unassigned, dark, colours.unassigned_text, "x", "✕"),
    }


def scale(colours: Palette) -> dict[str, Any]:
    """Colour scale and limits that turn kinds, NO_CELL included, into fills. For heatmaps and markers alike."""
    fills = [CLEAR, *(look.fill for look in looks(colours).values())]
    stops = [[at / len(fills), fill] for i, fill in enumerate(fills) for at in (i, i + 1)]
    return {"colorscale": stops, "min": NO_CELL - 0.5, "max": UNASSIGNED + 0.5}


def what_happened(steps: Steps, before: int, after: int, kind: int) -> str:
    """For hovering: "c1 kept", "c1 → c2 gained", "does not exist"."""
    if kind in (NO_CELL, UNASSIGNED):
        return WORDS[kind]
    return (
        f"{steps.owner(before)} {WORDS[kind]}"
        if kind == KEPT
        else (f"{steps.owner(before)} → {steps.owner(after)} {WORDS[kind]}")
    )
