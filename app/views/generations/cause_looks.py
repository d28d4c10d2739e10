"""How kinds of causes look: symbol, word and colour. Colour never stands alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.ui.theme import Palette
from lag.generations.cause_kind import CauseKind


@dataclass(frozen=True, slots=True)
class CauseLook:
    """The symbol as text and as Plotly's marker, the word, the tag's colour in tables, and the colour in charts."""

    glyph: str
    marker: str
    word: str
    tag: str
    ink: str

    @property
    def label(self) -> str:
        """ "▲ joined"."""
        return f"{self.glyph} {self.word}"


def cause_looks(colours: Palette) -> Mapping[CauseKind, CauseLook]:
    """The look of each kind."""
    return {
        CauseKind.JOINED: CauseLook("▲", "triangle-up", "joined", "blue", colours.gained),
        CauseKind.LEFT: CauseLook("▼", "triangle-down", "left or timed out", "orange", colours.revoked_text),
        CauseKind.CAME_BACK: CauseLook("◆", "diamond", "came back", "blue", colours.gained),
        CauseKind.SUBSCRIPTION: CauseLook("●", "circle", "subscription", "violet", colours.text),
        CauseKind.TOPIC: CauseLook("■", "square", "topic changed", "violet", colours.text),
        CauseKind.ASSIGNOR: CauseLook("★", "star", "assignor or protocol", "violet", colours.text),
        CauseKind.OTHER: CauseLook("○", "circle-open", "other", "gray", colours.dim),
    }
