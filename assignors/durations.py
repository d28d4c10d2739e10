"""Durations as texts."""


def duration_text(ms: int) -> str:
    """The shortest whole duration, as scenario files write it: seconds, or milliseconds where needed.

    >>> duration_text(90_000), duration_text(1_500)
    ('90s', '1500ms')
    """
    return f"{ms}ms" if ms % 1000 else f"{ms // 1000}s"


def seconds_text(ms: float) -> str:
    """Seconds for a sentence.

    >>> seconds_text(90_000), seconds_text(1_500)
    ('90 s', '1.5 s')
    """
    return f"{ms / 1000:g} s"
