"""What animations share: a title that names the generation while it plays, and Play and Pause.

The buttons are an extra beside the page's stepper; nothing ever plays by itself.
"""

from typing import Any

import plotly.graph_objects as go

from app.ui.movement.encoding import GLYPHS, short_title
from app.ui.movement.steps import KEPT, Steps
from app.ui.theme import LIGHT, Palette

TWEEN_MS = 400
HOLD_MS = 700
BUTTONS_PX = 34
TITLE_PX = 24
TITLE_CHARS = 30


def add_buttons(fig: go.Figure, names: tuple[str, ...], current: int, redraw: bool, below_px: int = 0) -> None:
    """Play from the generation after the current one, all of them after the last; Pause stops where it is.

    `redraw` is for traces that cannot glide, such as heatmaps. The figure's bottom margin needs BUTTONS_PX, and
    `below_px` where tick labels stand above the buttons.
    """
    rest = list(names[current + 1 :]) or list(names)
    how = {
        "frame": {"duration": HOLD_MS if redraw else HOLD_MS + TWEEN_MS, "redraw": redraw},
        "transition": {"duration": 0 if redraw else TWEEN_MS, "easing": "cubic-in-out"},
        "mode": "immediate",
    }
    stop = {"frame": {"duration": 0, "redraw": redraw}, "mode": "immediate", "transition": {"duration": 0}}
    fig.update_layout(updatemenus=[_menu([("▶ Play", [rest, how]), ("❚❚ Pause", [[None], stop])], below_px)])


def _menu(buttons: list[tuple[str, list[Any]]], below_px: int) -> dict[str, Any]:
    # Plotly paints a hovered button pale in every theme, so that the ink must be dark in every theme.
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 6 + below_px, "l": 0, "r": 0, "b": 0},
        "bgcolor": LIGHT.grid,
        "bordercolor": LIGHT.grid,
        "font": {"color": LIGHT.text, "size": 12},
        "buttons": [{"label": label, "method": "animate", "args": args} for label, args in buttons],
    }


def add_title(fig: go.Figure, steps: Steps, current: int, x: float, colours: Palette) -> None:
    """The line above the first row, from `x` on. It is a trace, so that frames can change it; it needs TITLE_PX."""
    fig.add_scatter(
        text=title(steps, current)["text"],
        x=[x],
        y=[-0.5],
        mode="text",
        textposition="top right",
        cliponaxis=False,
        hoverinfo="skip",
        textfont={"color": colours.text, "size": 13, "weight": 600},
    )


def title(steps: Steps, at: int) -> dict[str, Any]:
    """Number, event and how much changed, as the part of a frame: "4 · c1 left  ▲ 34"."""
    kinds = steps.kinds(at)
    changed = ((glyph, int((kinds == kind).sum())) for kind, glyph in GLYPHS.items() if kind != KEPT)
    text = short_title(steps.names[at], steps.events[at], TITLE_CHARS)
    return {"type": "scatter", "text": [text + "".join(f"  {glyph} {n:,}" for glyph, n in changed if n)]}
