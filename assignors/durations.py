"""Durations as text."""

from itertools import pairwise

_UNITS = ((86_400, "day"), (3_600, "h"), (60, "min"), (1, "s"))


def duration(seconds: float) -> str:
    """The two largest units.

    >>> duration(45), duration(843), duration(3605), duration(586_800)
    ('45 s', '14 min 3 s', '1 h', '6 days 19 h')
    """
    whole = round(seconds)
    for (size, unit), (smaller, smaller_unit) in pairwise(_UNITS):
        if whole >= size:
            count, rest = divmod(whole, size)
            plural = "s" if unit == "day" and count > 1 else ""
            return f"{count} {unit}{plural}" + (f" {rest // smaller} {smaller_unit}" if rest >= smaller else "")
    return f"{whole} s"


def duration_text(ms: int) -> str:
    """The shortest whole duration, as scenario files write it: seconds, or milliseconds where needed.

    >>> duration_text(90_000), duration_text(1_500)
    ('90s', '1500ms')
    """
    return f"{ms}ms" if ms % 1000 else f"{ms // 1000}s"


def seconds_text(ms: float) -> str:
    """Exact seconds for a sentence.

    >>> seconds_text(90_000), seconds_text(1_500)
    ('90 s', '1.5 s')
    """
    return f"{ms / 1000:g} s"
