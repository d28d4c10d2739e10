"""Links: a scenario or a script compressed into a URL parameter, a lab's story as its name and what was changed."""

import base64
import zlib
from collections.abc import Mapping
from typing import TypeVar

from app.ui import scenario_files
from assignors.labs.story import Story, from_values
from assignors.model import AssignorError
from assignors.scenario import Problem, ScenarioError, dump
from assignors.whatif.events import Scenario

MOST_LETTERS = 6_000
"""Longer links are cut by mail, chat and proxies."""

MOST_BYTES = 2_000_000
"""The size limit of a scenario file; a link must not unpack to more."""

UNREADABLE = "The data in this link cannot be read: it was cut off or changed. Ask for the link again, or for the file."

_PACKED = ("scenario", "script")
S = TypeVar("S", bound=Story)


def encode(story: S, stories: Mapping[str, S]) -> dict[str, str]:
    """The URL parameters: the name of its preset, and what differs from it; of a story without one from the first.

    Raises ScenarioError when it does not fit into a link.
    """
    changes = story.texts(stories.get(story.name) or next(iter(stories.values())))
    packed = {name: pack_text(text) if name in _PACKED else text for name, text in changes.items() if name != "story"}
    parameters = {"story": story.name} if story.name in stories else {}
    for name, text in packed.items():
        if text is None:
            raise ScenarioError([Problem(None, name, "This does not fit into a link. Make it shorter.")])
        parameters[name] = text
    return parameters


def decode(parameters: Mapping[str, str], stories: Mapping[str, S]) -> S:
    """The story of a link; the first one without parameters. Raises AssignorError naming what is wrong."""
    texts = {name: unpack_text(text) if name in _PACKED else text for name, text in parameters.items()}
    return from_values(texts, stories)


def pack(scenario: Scenario) -> str | None:
    """The URL parameter of a scenario; None when it would be too long."""
    return pack_text(dump(scenario))


def unpack(text: str) -> Scenario:
    """The scenario of a URL parameter. Raises AssignorError when it was cut off or changed."""
    return scenario_files.linked(unpack_text(text))


def pack_text(text: str) -> str | None:
    """The URL parameter of a text; None when it would be too long."""
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return packed if len(packed) <= MOST_LETTERS else None


def unpack_text(text: str) -> str:
    """The text of a URL parameter. Raises AssignorError when it was cut off or changed."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        inflater = zlib.decompressobj()
        unpacked = inflater.decompress(packed, MOST_BYTES).decode()
    except (ValueError, zlib.error):
        raise AssignorError(UNREADABLE) from None
    if inflater.unconsumed_tail or not inflater.eof:
        raise AssignorError(UNREADABLE)
    return unpacked
