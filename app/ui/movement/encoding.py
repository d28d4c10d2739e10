"""How a kind of move looks: fill, ink, symbol and word. Colour never stands alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from app.ui.charts import base
from app.ui.charts.lanes import CLEAR
from app.ui.groups.member_names import LANE_NAME_LENGTH
from app.ui.movement.steps import GAINED, KEPT, NO_CELL, REVOKED, UNASSIGNED, Steps
from app.ui.theme import Palette

WORDS = {KEPT: "kept", GAINED: "new owner", REVOKED: "revoked", UNASSIGNED: "unassigned", NO_CELL: "does not exist"}
GLYPHS = {KEPT: "■", GAINED: "▲", REVOKED: "▼", UNASSIGNED: "✕"}


@dataclass(frozen=True, slots=True)
class Look:
    """Fill, ink on that fill, ink on the page; Plotly's name of the symbol, which looks like its glyph."""

    fill: str
    ink: str
    text: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure, what it leaves out or assumes (empty: nothing), and its finding for those who cannot see it."""

    figure: go.Figure
    caption: str
    alt: str


def looks(colours: Palette) -> dict[int, Look]:
    """Kind -> look, in the order of MoveKind."""
    dark = colours.revoked_ink
    return {
        KEPT: Look(colours.kept_fill, colours.text, colours.dim, "square"),
        GAINED: Look(colours.gained, colours.background, colours.gained, "triangle-up"),
        REVOKED: Look(colours.revoked, dark, colours.revoked_text, "triangle-down"),
        UNASSIGNED: Look(colours.unassigned, dark, colours.unassigned_text, "x"),
    }


def scale(colours: Palette) -> dict[str, Any]:
    """Colour scale and limits of a heatmap that turn kinds, NO_CELL included, into fills."""
    return base.kinds([CLEAR, *(look.fill for look in looks(colours).values())], NO_CELL)


def what_happened(steps: Steps, before: int, after: int, kind: int) -> str:
    """For hovering: "c1 kept", "c1 → c2 moved", "assigned to c2", "does not exist"."""
    if kind in (NO_CELL, UNASSIGNED):
        return WORDS[kind]
    if kind in (KEPT, REVOKED):
        return f"{steps.owner(before)} {WORDS[kind]}"
    return f"{steps.owner(before)} → {steps.owner(after)} moved" if before >= 0 else f"assigned to {steps.owner(after)}"


def lane_names(names: Sequence[str], most: int = LANE_NAME_LENGTH) -> list[str]:
    """Names of members that fit beside their lanes."""
    return [base.clip(name, most) for name in names]


def short_title(name: str, event: str, most: int) -> str:
    """Number and event of a generation, long words and explanations cut: "4 · consu…0a1b left"."""
    words = event.partition(";")[0].replace("(rebalance ", "(").split()
    text = " ".join([f"{name} ·", *(base.clip(word, 11) for word in words)])
    return text if len(text) <= most else f"{text[: most - 1]}…"
