"""What animations share: a title that names the generation while it plays, and Play and Pause.

The buttons are an extra beside the page's stepper; nothing plays by itself.
"""

from collections.abc import Sequence
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


def animate(
    fig: go.Figure,
    steps: Steps,
    current: int,
    frames: Sequence[Sequence[dict[str, Any]]],
    colours: Palette,
    redraw: bool,
    below_px: int = 0,
) -> None:
    """Add a title that names the generation, a frame per generation, and Play and Pause.

    `frames` holds what changes in the traces of the figure, for each generation. `redraw` is for traces that cannot
    glide, such as heatmaps. The figure's margins need TITLE_PX above and BUTTONS_PX below, and `below_px` for tick
    labels above the buttons.
    """
    traces = list(range(len(fig.data) + 1))
    _add_title(fig, steps, current, colours)
    fig.frames = [
        go.Frame(name=name, data=[*frames[at], _title(steps, at)], traces=traces) for at, name in enumerate(steps.names)
    ]
    fig.update_layout(updatemenus=[_menu(_buttons(_played(steps, current), redraw), below_px, colours)])


def _played(steps: Steps, current: int) -> list[str]:
    """From the next generation with a move; if there is none, from before the first one of all."""
    following = steps.first_move(current)
    if following is None:
        return list(steps.names[(steps.first_move() or 1) - 1 :])
    return list(steps.names[following:])


def _buttons(names: list[str], redraw: bool) -> list[tuple[str, list[Any]]]:
    """Play those generations; Pause stops where it is."""
    how = {
        "frame": {"duration": HOLD_MS if redraw else HOLD_MS + TWEEN_MS, "redraw": redraw},
        "transition": {"duration": 0 if redraw else TWEEN_MS, "easing": "cubic-in-out"},
        "mode": "immediate",
    }
    stop = {"frame": {"duration": 0, "redraw": redraw}, "mode": "immediate", "transition": {"duration": 0}}
    return [("▶ Play", [names, how]), ("❚❚ Pause", [[None], stop])]


def _menu(buttons: list[tuple[str, list[Any]]], below_px: int, colours: Palette) -> dict[str, Any]:
    # Plotly paints a hovered button pale in every theme, so that fill and ink must suit dark text in every theme.
    fill = colours.gained if colours.is_dark else colours.grid
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 6 + below_px, "l": 0, "r": 0, "b": 0},
        "bgcolor": fill,
        "bordercolor": fill,
        "font": {"color": LIGHT.text, "size": 12},
        "buttons": [{"label": label, "method": "animate", "args": args} for label, args in buttons],
    }


def _add_title(fig: go.Figure, steps: Steps, current: int, colours: Palette) -> None:
    """The line above the first row. It is a trace, so that frames can change it."""
    fig.add_scatter(
        text=_title(steps, current)["text"],
        x=[-0.5],
        y=[-0.5],
        mode="text",
        textposition="top right",
        cliponaxis=False,
        hoverinfo="skip",
        textfont={"color": colours.text, "size": 13, "weight": 600},
    )


def _title(steps: Steps, at: int) -> dict[str, Any]:
    """Number, event and how much changed, as the part of a frame: "4 · c1 left  ▲ 34"."""
    kinds = steps.kinds(at)
    changed = ((glyph, int((kinds == kind).sum())) for kind, glyph in GLYPHS.items() if kind != KEPT)
    text = short_title(steps.names[at], steps.events[at], TITLE_CHARS)
    return {"type": "scatter", "text": [text + "".join(f"  {glyph} {n:,}" for glyph, n in changed if n)]}
