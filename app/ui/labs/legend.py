"""The legend of a lab's picture: the symbol, colour and word of each kind of tile."""

from collections.abc import Iterable

from app.ui import state, widgets
from app.ui.charts.lanes import Style


def legend(entries: Iterable[tuple[str, Style, str]]) -> str:
    """A legend of (symbol, style, word): a filled tile has the colour of its fill, an outlined one that of its ink."""
    colours = state.palette()
    fills = {colours.kept_fill: colours.kept}  # too pale for a letter
    return widgets.swatches(
        (glyph, look.ink if look.outline else fills.get(look.fill, look.fill), word) for glyph, look, word in entries
    )
