"""Counts as text."""


def plural(n: int, one: str, many: str | None = None) -> str:
    """`plural(2, "group")` -> "2 groups"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
