"""The animation that fits the size of a group."""

from dataclasses import replace

from app.charts import limits
from app.charts.limits import Movement
from app.charts.movement.aggregate import topics_by_members
from app.charts.movement.look import Picture
from app.charts.movement.steps import Steps
from app.charts.movement.stills import joined
from app.charts.movement.tiles import tiles
from app.charts.movement.tokens import tokens
from app.theme import Palette


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
