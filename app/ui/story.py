"""The choice of a story at the head of a lab, what the story shows, and which rows of the checklist it plays."""

from collections.abc import Callable, Sequence

import streamlit as st

from app.ui import formats
from assignors.labs.checklist import Page, rows_of


def choose(key: str, name: str, names: Sequence[str], title: Callable[[str], str], tell: Callable[[], None]) -> None:
    """A list of stories; `name` is the one that is told. The choice stands in the session under `key` for `tell`."""
    st.session_state[key] = name
    st.selectbox("Story", names, key=key, format_func=title, on_change=tell, label_visibility="collapsed", width=400)


def shows(text: str, page: Page, story: str | None, badge: str = "") -> None:
    """What the story shows, beside its title; on hover what is said in the rows that it plays, and what holds.

    `story` is None for somebody's own, which plays no row.
    """
    rows = rows_of(page, story) if story else ()
    told = "\n\n".join(f"**{row.row_id}** {formats.md(row.says)} *{formats.md(row.holds)}*" for row in rows)
    said = formats.md(" ".join(part for part in (text, plays(page, story or "")) if part))
    st.markdown(f":small[:gray[{said}]]{badge}", width="stretch", help=told or None)


def plays(page: Page, story: str) -> str:
    """ "Plays 1b.1, 1b.2 of the checklist."; "" for none of its rows."""
    rows = [row.row_id for row in rows_of(page, story)]
    return f"Plays {', '.join(rows)} of the checklist." if rows else ""
