"""What the Watermark lab shows: the story with its changes in the URL, and the step."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from app.ui import lab_files, state
from app.views.labs.watermark.link import BY_NAME, LETTERS, MOST_ACTIONS, PARAMETERS, decode, encode, written
from assignors.labs.watermark import Story, begin, play_on, step
from assignors.labs.watermark.model import Action, WatermarkError

LAB = "watermark"
STEP = "step"


def told() -> Story:
    """The story that the URL names, with what was changed in it. Raises WatermarkError."""
    said: Mapping[str, str] = {name: text for name in PARAMETERS if (text := state.url(name)) is not None}
    return decode(said)


def tell(name: str) -> None:
    """Begin another story, at its first action."""
    _write(BY_NAME[name], 1)


def as_file(its: Story) -> bytes:
    """All of it as a text file."""
    return lab_files.write(LAB, written(its), LETTERS)


def take(data: bytes, name: str) -> None:
    """Play an uploaded file. Raises ScenarioError naming the line, or the value that cannot be."""
    said = lab_files.read(data, LAB, PARAMETERS)
    try:
        _write(decode(said), 1)
    except WatermarkError as error:
        raise lab_files.refused(error) from None


def set_rule(field: str, value: Any) -> None:
    """Tell the same story under another rule."""
    its = told()
    _write(replace(its, settings=replace(its.settings, **{field: value})))


def go(at: int) -> None:
    """Go to a step."""
    state.set_url(STEP, str(at))


def add(at: int, action: Action) -> None:
    """Let something else happen after a step; what followed is left out. What cannot happen is refused."""
    its = told()
    steps, _ = play_on(begin(its.replicas, its.settings), its.actions[:at])
    try:
        if at >= MOST_ACTIONS:
            raise WatermarkError(f"A story has at most {MOST_ACTIONS} actions.")
        step(steps[-1].state, action)
    except WatermarkError as error:
        state.refuse(LAB, str(error))
        return
    _write(replace(its, actions=(*its.actions[:at], action)), at + 1)


def _write(its: Story, at: int | None = None) -> None:
    said = encode(its)
    for name in PARAMETERS:
        state.set_url(name, said.get(name))
    if at is not None:
        go(at)
