"""A scenario, or another text, small enough for a link: compressed in a URL parameter, and back."""

import base64
import zlib

from assignors.model import AssignorError
from assignors.scenario import dump, load_scenario
from assignors.whatif.events import Scenario

MOST_LETTERS = 6_000
"""Longer links are cut by mail, chat and proxies."""

MOST_BYTES = 2_000_000
"""What a scenario file may have; a link must not unpack to more."""

UNREADABLE = "What this link holds cannot be read: it was cut off or changed. Ask for the link again, or for the file."


def pack(scenario: Scenario) -> str | None:
    """The URL parameter; None when it would be too long."""
    return pack_text(dump(scenario))


def unpack(text: str) -> Scenario:
    """The scenario of a link. Raises AssignorError when it was cut off, changed, or never was one."""
    return load_scenario(unpack_text(text))


def pack_text(text: str) -> str | None:
    """The URL parameter; None when it would be too long."""
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")
    return packed if len(packed) <= MOST_LETTERS else None


def unpack_text(text: str) -> str:
    """The text of a link. Raises AssignorError when it was cut off or changed."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        opener = zlib.decompressobj()
        told = opener.decompress(packed, MOST_BYTES).decode()
    except (ValueError, zlib.error):
        raise AssignorError(UNREADABLE) from None
    if opener.unconsumed_tail or not opener.eof:
        raise AssignorError(UNREADABLE)
    return told
