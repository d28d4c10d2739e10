"""Which columns of a table fit beside each other; the others stay in its column menu and in its downloads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

PAGE_PX = 1_300
"""The room for the columns of a table as wide as the page, at a window of 1,440 pixels."""


def fitting(columns: Mapping[str, Any], spare: Sequence[str], most_px: int = PAGE_PX) -> list[str]:
    """The names of `columns` (name -> its settings with `width` in pixels) that are shown, in their order.

    Those in `spare` are left out, one after the other, until the rest is at most `most_px` wide.
    """
    shown = dict(columns)
    for name in spare:
        if sum(column["width"] for column in shown.values()) <= most_px:
            break
        shown.pop(name, None)
    return list(shown)


def hidden_note(columns: Mapping[str, Any], shown: Iterable[str]) -> str:
    """Where the columns are that are left out; "" if none is."""
    labels = [str(columns[name]["label"]) for name in columns if name not in set(shown)]
    return f"More columns: {', '.join(labels)}. Show them with the eye icon above the table." if labels else ""


def has_values(column: pd.Series) -> bool:
    """Whether the column has any value; empty text does not count."""
    return bool(column.replace("", None).notna().any())
