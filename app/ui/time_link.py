"""Times in the URL: a minute in UTC, such as 2026-11-22T12:00Z."""

from datetime import UTC, datetime

from app.ui import state

_FORM = "%Y-%m-%dT%H:%MZ"
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Times outside of this range are ignored: not every library can represent them."""


def time_in_url(name: str) -> datetime | None:
    """The time of a URL parameter; None if there is none, or the text is not a time."""
    try:
        found = datetime.strptime(state.url(name) or "", _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if _FIRST <= found < _LAST else None


def set_time(name: str, at: datetime | None) -> None:
    """Set a URL parameter to the minute of `at`, or remove it."""
    state.set_url(name, None if at is None else f"{at.astimezone(UTC):{_FORM}}")
