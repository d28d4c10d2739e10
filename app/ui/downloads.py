"""Buttons that download a table as CSV or JSON, and what is in the file."""

import json
from collections.abc import Callable
from typing import Any
from unicodedata import category, normalize

import pandas as pd
import streamlit as st


def buttons(name: str, table: Callable[[], pd.DataFrame]) -> None:
    """CSV and JSON of a table, generated on click."""
    button("CSV", lambda: csv(table()), f"{name}.csv", "text/csv", f"{name}_csv", type="tertiary")
    button("JSON", lambda: records(table()), f"{name}.json", "application/json", f"{name}_json", type="tertiary")


def button(label: str, data: Callable[[], bytes], file: str, mime: str, key: str, **options: Any) -> None:
    """A button that downloads `data`, which is computed at the click."""
    st.download_button(label, data, file, mime, key=key, icon=":material/download:", on_click="ignore", **options)


FORMULA_SIGNS = frozenset("=+-@")
UNSEEN = frozenset(("Cc", "Cf", "Zl", "Zp", "Zs"))
"""The Unicode categories of controls, formats such as the zero-width space, and blanks."""


def csv(frame: pd.DataFrame) -> bytes:
    """CSV that is safe in a spreadsheet: text that starts like a formula gets a leading apostrophe."""
    text = frame.select_dtypes(["object", "string", "category"]).columns
    safe = frame.assign(**{c: frame[c].astype("object").map(_inert) for c in text})
    return safe.rename(columns=_inert).to_csv(index=False).encode()


def _inert(value: object) -> object:
    """Spreadsheets skip leading blanks and invisible characters, and treat full-width signs as the plain ones."""
    if not isinstance(value, str) or len(value) < 2:
        return value
    first = next((c for c in normalize("NFKC", value) if not c.isspace() and category(c) not in UNSEEN), "")
    return f"'{value}" if value[:1] in "\t\r\n" or first in FORMULA_SIGNS else value


def records(frame: pd.DataFrame) -> bytes:
    """A JSON array with one object per row; unknown is null."""
    return json.dumps(json.loads(frame.to_json(orient="records")), indent=1, ensure_ascii=False).encode()
