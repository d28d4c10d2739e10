"""Times in the URL: a minute in UTC, such as 2026-11-22T12:00Z."""

from datetime import UTC, datetime

from app.ui import state

_FORM = "%Y-%m-%dT%H:%MZ"


def set_time(name: str, at: datetime | None) -> None:
    """Set a URL parameter to the minute of `at`, or remove it."""
    state.set_url(name, None if at is None else f"{at.astimezone(UTC):{_FORM}}")
