"""The choice of a story at the head of a lab, and what the story shows."""

from collections.abc import Callable, Sequence

import streamlit as st

from app import formats


def choose(key: str, name: str, names: Sequence[str], title: Callable[[str], str], tell: Callable[[], None]) -> None:
    """A list of stories; `name` is the one that is told. The choice stands in the session under `key` for `tell`."""
    st.session_state[key] = name
    st.selectbox("Story", names, key=key, format_func=title, on_change=tell, label_visibility="collapsed", width=400)


def shows(text: str, badge: str = "") -> None:
    """What the story shows, beside its title."""
    st.markdown(f":small[:gray[{formats.md(text)}]]{badge}", width="stretch")
