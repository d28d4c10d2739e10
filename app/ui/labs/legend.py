"""The legend of a lab's picture: the symbol, colour and word of each kind of tile."""

from collections.abc import Iterable

from app.ui import state, widgets
from app.ui.charts.lanes import Style


def legend(entries: Iterable[tuple[Style, str]]) -> str:
    """A legend of (style, word): a filled tile has the colour of its fill, an outlined one that of its ink."""
    colours = state.palette()
    fills = {colours.kept_fill: colours.kept}  # too pale for a letter
    return widgets.swatches(
        (look.glyph or "■", look.ink if look.outline else fills.get(look.fill, look.fill), word)
        for look, word in entries
    )
