"""The values of URL parameters, each parsed as the type it must have. Invalid values are ignored, and the page says so.

A link can come from anywhere: a value may be infinity, a thousand digits or a megabyte.
"""

from collections.abc import Collection
from datetime import UTC, datetime

import streamlit as st

from app.ui import formats
from lag.errors import ConfigError
from lag.times import epoch_ms

MAX_TEXT = 2_000
"""Characters of a text that a page reads."""

MAX_DIGITS = 15
"""Larger whole numbers are not exact in the browser."""

_IGNORED = "_ignored_in_link"
_MINUTE = "%Y-%m-%dT%H:%MZ"
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside of this range are ignored: not every library can represent them."""


def text(name: str) -> str | None:
    """The parameter as it is; None if the link has none."""
    return st.query_params.get(name)


def whole(name: str) -> int | None:
    """A whole number from 0 on."""
    given = text(name)
    if not given:
        return None
    if given.isascii() and given.isdigit() and len(given) <= MAX_DIGITS:
        return int(given)
    _ignore(name, given, "a whole number")
    return None


def at_ms(name: str) -> int | None:
    """A time in milliseconds since 1970."""
    number = whole(name)
    try:
        return None if number is None else epoch_ms(number)
    except ConfigError as error:
        _ignore(name, str(number), f"a time in milliseconds since 1970. {error}")
        return None


def one_of(name: str, options: Collection[str]) -> str | None:
    """One of `options`."""
    given = text(name)
    if not given or given in options:
        return given or None
    _ignore(name, given, _one_of(options))
    return None


def short_text(name: str) -> str | None:
    """Its text, "" without one; None if it has more than MAX_TEXT characters."""
    given = text(name) or ""
    if len(given) <= MAX_TEXT:
        return given
    _ignore(name, given, f"a text of at most {MAX_TEXT:,} characters")
    return None


def some_of(name: str, options: Collection[str]) -> list[str]:
    """Those values of a repeated parameter that are among `options`."""
    given = st.query_params.get_all(name)
    for value in given:
        if value and value not in options:
            _ignore(name, value, _one_of(options))
    return [value for value in given if value in options]


def minute(name: str) -> datetime | None:
    """A minute in UTC, such as 2026-11-22T12:00Z."""
    given = text(name)
    if not given:
        return None
    try:
        found = datetime.strptime(given, _MINUTE).replace(tzinfo=UTC)
    except ValueError:
        _ignore(name, given, "a time such as 2026-11-22T12:00Z")
        return None
    if _FIRST <= found < _LAST:
        return found
    _ignore(name, given, "a time from 2000 to 2199")
    return None


def _one_of(options: Collection[str]) -> str:
    return f"one of {formats.few([formats.code(option) for option in options], 6)}" if options else "known here"


def _ignore(name: str, given: str, wanted: str) -> None:
    st.session_state.setdefault(_IGNORED, {})[name] = f"{name}={given}", wanted


def forget_ignored() -> None:
    """Forget what an earlier run ignored. The app calls it before it runs a page."""
    st.session_state.pop(_IGNORED, None)


def ignored() -> list[str]:
    """What this run has ignored so far, one sentence each, as Markdown."""
    found = st.session_state.get(_IGNORED, {})
    return [f"{formats.code(formats.cut(given))} is not {wanted}" for given, wanted in found.values()]
