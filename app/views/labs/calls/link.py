"""A call story as URL parameters, and back: its name, or a script of somebody's own and what plays it."""

from collections.abc import Mapping
from dataclasses import replace

from app.ui import link_codec
from app.ui.formats import cut
from assignors.labs.calls import STORIES, Kind, ScriptError, Story, play_on
from assignors.model import AssignorError

BY_NAME = {story.name: story for story in STORIES}
PARAMETERS = ("story", "script")
MOST_LETTERS = 4_000


class LinkError(ValueError):
    """A link that cannot be played, or a script that cannot; says why."""


def encode(told: Story) -> dict[str, str]:
    """The story's name, and the script when it was changed. Raises LinkError when it does not fit into a link."""
    if told.script == BY_NAME[told.name].script:
        return {"story": told.name}
    if (packed := link_codec.pack_text(told.script)) is None:
        raise LinkError("The script does not fit into a link. Make it shorter.")
    return {"story": told.name, "script": packed}


def decode(parameters: Mapping[str, str]) -> Story:
    """The story with its changes; the first one where nothing is said. Raises LinkError."""
    told = named(parameters.get("story", STORIES[0].name))
    if "script" in parameters:
        try:
            told = replace(told, script=link_codec.unpack_text(parameters["script"]))
        except AssignorError as error:
            raise LinkError(str(error)) from None
    check(told.kind, told.script)
    return told


def named(name: str) -> Story:
    """The story of that name. Raises LinkError."""
    if name not in BY_NAME:
        raise LinkError(f"There is no story {cut(name)!r}. There are {', '.join(BY_NAME)}.")
    return BY_NAME[name]


def check(kind: Kind, script: str) -> None:
    """Raises LinkError for a script that cannot be played."""
    if len(script) > MOST_LETTERS:
        raise LinkError(f"The script has {len(script):,} letters. Use at most {MOST_LETTERS:,}.")
    try:
        turns = play_on(kind, script)
    except ScriptError as error:
        raise LinkError(str(error)) from None
    if not turns:
        raise LinkError("The script has no calls. Write one a line.")
