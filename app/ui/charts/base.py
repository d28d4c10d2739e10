"""The layout of every figure: transparent, with plain axes, without a legend box or zoom."""

from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any

import plotly.graph_objects as go

from app.ui.formats import short
from app.ui.theme import Palette

MONO = "Source Code Pro, monospace"
SANS = "Source Sans, sans-serif"
MONO_CHAR_PX = 7.25


def figure(colours: Palette, height: int, left: int = 44, right: int = 8, top: int = 8, bottom: int = 24) -> go.Figure:
    """An empty figure of `height` pixels with those margins."""
    axis: dict[str, Any] = {
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "fixedrange": True,
        "automargin": False,
        "ticklabelstandoff": 4,
        "tickfont": {"size": 12, "color": colours.dim},
    }
    return go.Figure(
        layout={
            "height": height,
            "margin": {"l": left, "r": right, "t": top, "b": bottom, "pad": 0},
            "showlegend": False,
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "dragmode": False,
            "hovermode": "closest",
            "font": {"family": SANS, "size": 12, "color": colours.text},
            "xaxis": axis,
            "yaxis": {**axis, "showgrid": True, "gridcolor": colours.grid},
            "hoverlabel": {
                "bgcolor": colours.background,
                "bordercolor": colours.grid,
                "font": {"family": SANS, "size": 12},
            },
        }
    )


def kinds(fills: Sequence[str], first: int = 0) -> dict[str, Any]:
    """What a heatmap needs to draw the number `first` in the first of the fills, the next number in the second one."""
    n = len(fills)
    stops = [[at / n, fill] for i, fill in enumerate(fills) for at in (i, i + 1)]
    return {"colorscale": stops, "zmin": first - 0.5, "zmax": first + n - 0.5, "showscale": False}


def outline(fig: go.Figure, colours: Palette, x: tuple[float, float], y: tuple[float, float]) -> None:
    """A frame around what is current, from and to those positions."""
    line = {"color": colours.text, "width": 2}
    fig.add_shape(type="rect", x0=x[0], x1=x[1], y0=y[0], y1=y[1], line=line)


def lane_px(names: list[str], most: int = 22) -> int:
    """Left margin for monospace lane labels."""
    return round(MONO_CHAR_PX * min(most, max(map(len, names), default=1)) + 12)


def clip(name: str, most: int = 22) -> str:
    """A lane label that fits: the middle is left out, because the ends tell members apart."""
    return name if len(name) <= most else f"{name[: most // 2 - 1]}…{name[-(most - most // 2) :]}"


def ticks(top: float, steps: int = 4) -> tuple[list[float], list[str]]:
    """Round tick values from 0 up to `top`, with short labels."""
    if top <= 0:
        return [0.0], ["0"]
    raw = top / steps
    size = 10.0 ** (len(str(int(raw))) - 1) if raw >= 1 else 1.0
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw and (size * m) % 1 == 0)
    values = [step * i for i in range(int(top // step) + 1)]
    return values, [_tick(v) for v in values]


def spread(n: int, most: int) -> list[int]:
    """At most about `most` of the positions 0 to n - 1, evenly spaced, the first and the last among them."""
    step = max(1, -(-n // most))
    return [at for at in range(0, n, step) if at == 0 or n - 1 - at >= step] + ([n - 1] if n > 1 else [])


def _tick(value: float) -> str:
    text = short(value)
    number, _, unit = text.partition(" ")
    return f"{float(number):g} {unit}" if unit else text


def letters(topics: Sequence[str]) -> dict[str, str]:
    """A short letter per topic, where their names have no room; none for a single topic."""
    if len(topics) < 2 or len(topics) > 26:
        return {}
    return dict(zip(sorted(topics), ascii_lowercase, strict=False))


def letter_key(letters: Mapping[str, str]) -> str:
    """What the letters stand for: "a orders, b payments"."""
    return ", ".join(f"{letter} {topic}" for topic, letter in letters.items())
