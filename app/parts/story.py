"""The choice of a story at the head of a lab, what the story shows, and which rows of the checklist it plays."""

from collections.abc import Callable, Sequence

import streamlit as st

from app import formats
from assignors.simulation.checklist import Page, rows_of


def choose(key: str, name: str, names: Sequence[str], title: Callable[[str], str], tell: Callable[[], None]) -> None:
    """A list of stories; `name` is the one that is told. The choice stands in the session under `key` for `tell`."""
    st.session_state[key] = name
    st.selectbox("Story", names, key=key, format_func=title, on_change=tell, label_visibility="collapsed", width=400)


def shows(text: str, badge: str = "") -> None:
    """What the story shows, beside its title."""
    st.markdown(f":small[:gray[{formats.md(text)}]]{badge}", width="stretch")


def plays(page: Page, story: str) -> None:
    """The rows of the checklist (docs/stories.md) that it plays: what is said, and what holds, on hover."""
    rows = rows_of(page, story)
    numbers = " · ".join(row.row_id for row in rows)
    told = "\n\n".join(f"**{row.row_id}** {formats.md(row.says)} *{formats.md(row.holds)}*" for row in rows)
    st.markdown(f":small[:gray[It plays {numbers} of the checklist]]", help=told)
