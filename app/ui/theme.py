"""Colours of the charts, for the light and the dark theme (.streamlit/config.toml has the rest of the theme).

Colour encodes what happened, never which member: kept grey, gained blue, revoked vermillion, unassigned purple.
Text on a fill, or in its colour, has its own colour with a contrast of at least 4.5:1.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme: `_fill` for areas, `_ink` for text on the fill, `_text` for text on the background."""

    text: str
    dim: str
    grid: str
    background: str
    kept: str
    kept_fill: str
    gained: str
    revoked: str
    revoked_ink: str
    revoked_text: str
    unassigned: str
    unassigned_text: str
    ramp: tuple[tuple[float, str], ...]
    is_dark: bool = False


LIGHT = Palette(
    text="#1B1F24",
    dim="#5B636E",
    grid="#E6E8EB",
    background="#FFFFFF",
    kept="#6B6B6B",
    kept_fill="#D3D6DA",
    gained="#0072B2",
    revoked="#D55E00",
    revoked_ink="#000000",
    revoked_text="#A84300",
    unassigned="#CC79A7",
    unassigned_text="#8E4585",
    ramp=((0.0, "#F3F5F7"), (1.0, "#A9C1D3")),
)

DARK = Palette(
    text="#E4E7EB",
    dim="#A7AFBA",
    grid="#2A2E35",
    background="#14161A",
    kept="#999999",
    kept_fill="#4A505A",
    gained="#56B4E9",
    revoked="#E69F00",
    revoked_ink="#14161A",
    revoked_text="#E69F00",
    unassigned="#CC79A7",
    unassigned_text="#D99BBD",
    ramp=((0.0, "#1D2025"), (1.0, "#3F5C74")),
    is_dark=True,
)


def blend(colour: str, other: str, share: float) -> str:
    """`#RRGGBB` of which `share` (0 to 1) is `colour`, the rest `other`."""
    pairs = ((int(colour[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in pairs)


def luminance(colour: str) -> float:
    """The relative luminance of `#RRGGBB`, from 0 (black) to 1 (white) (WCAG 2)."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
