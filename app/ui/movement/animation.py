"""The animation that fits the size of a group."""

from dataclasses import replace

from app.ui.charts import limits
from app.ui.charts.limits import Movement
from app.ui.formats import joined
from app.ui.movement.aggregate import topics_by_members
from app.ui.movement.encoding import Picture
from app.ui.movement.steps import Steps
from app.ui.movement.tiles import tiles
from app.ui.movement.tokens import tokens
from app.ui.theme import Palette


def animation(steps: Steps, current: int, colours: Palette) -> Picture:
    """Tokens, movers, tiles or counts by size, standing at `current`; the caption says which, and what is left out."""
    movers = steps.movers()
    choice = limits.movement(steps.partitions, len(steps.members), int(movers.sum()), len(steps), current)
    shown, at = steps.window(choice.first, choice.last), current - choice.first
    if choice.encoding is Movement.MOVERS:
        picture = tokens(shown.only(movers), at, colours, whole=shown)
    else:
        draw = {Movement.TOKENS: tokens, Movement.GRID: tiles, Movement.AGGREGATE: topics_by_members}
        picture = draw[choice.encoding](shown, at, colours)
    return replace(picture, caption=joined(choice.why, picture.caption))
