"""The choice of a story at the head of a lab, what the story shows, and which rows of the checklist it plays."""

from collections.abc import Callable, Sequence

import streamlit as st

from app import formats
from assignors.simulation.checklist import Page, rows_of


def choose(key: str, name: str, names: Sequence[str], title: Callable[[str], str], tell: Callable[[], None]) -> None:
    """A list of stories; `name` is the one that is told. The choice stands in the session under `key` for `tell`."""
    st.session_state[key] = name
    st.selectbox("Story", names, key=key, format_func=title, on_change=tell, label_visibility="collapsed", width=400)


def shows(text: str, page: Page, story: str | None, badge: str = "") -> None:
    """What the story shows, beside its title; on hover what is said in the rows that it plays, and what holds.

    `story` is None for somebody's own, which plays no row.
    """
    rows = rows_of(page, story) if story else ()
    plays = f" Plays {', '.join(row.row_id for row in rows)}." if rows else ""
    told = "\n\n".join(f"**{row.row_id}** {formats.md(row.says)} *{formats.md(row.holds)}*" for row in rows)
    st.markdown(f":small[:gray[{formats.md(text)}{plays}]]{badge}", width="stretch", help=told or None)
