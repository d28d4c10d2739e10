"""Plays actions of the watermark lab that must all be possible."""

from collections.abc import Iterable

from assignors.labs.watermark import play_on
from assignors.labs.watermark.model import Action, State, Step


def play(state: State, actions: Iterable[Action]) -> tuple[Step, ...]:
    """Every step, the beginning first. Raises the WatermarkError of the first action that cannot happen."""
    steps, refusal = play_on(state, actions)
    if refusal is not None:
        raise refusal
    return steps
