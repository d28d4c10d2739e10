"""What the Call lab is set up from: a story, or a script of your own."""

import streamlit as st

from app.ui import formats, state, upload, widgets
from app.ui.story import choose, shows
from app.views.labs.calls import state as state_calls
from app.views.labs.calls import text
from app.views.labs.calls.link import BY_NAME, encode
from assignors.labs.calls import STORIES, Story, usages
from assignors.labs.checklist import Page

_STORY, _SCRIPT, _UPLOAD = "calls_story", "calls_script", "calls_file"
LINE_PX, MOST_LINES = 18, 22


def story(told: Story) -> None:
    """Choose a story, and what it shows."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        choose(_STORY, told.name, list(BY_NAME), lambda name: BY_NAME[name].title, _tell)
        badge = " :orange-badge[changed]" if len(encode(told)) > 1 else ""
        shows(told.shows, Page.CALLS, told.name, badge)
        upload.take_along("Story file", _UPLOAD, "calls.txt", lambda: state_calls.as_file(told), state_calls.take)
    upload.problems(_UPLOAD)


def _tell() -> None:
    state_calls.tell(st.session_state[_STORY])


def script(told: Story) -> None:
    """The calls, to be changed, and how each can be written."""
    widgets.titled(text.MACHINES[told.kind])
    why = state.refused(state_calls.LAB)
    if why is None:
        st.session_state[_SCRIPT] = told.script  # the refused script stays, to be corrected
    lines = min(MOST_LINES, told.script.count("\n") + 1)
    st.text_area(
        "Calls, one a line",
        key=_SCRIPT,
        height=lines * LINE_PX + 40,
        on_change=lambda: state_calls.rewrite(st.session_state[_SCRIPT]),
        help="Change them and leave the field: they are played anew",
    )
    if why is not None:
        widgets.line(":red", "error", "Not played", formats.md(why))
    with st.expander("What can be called", icon=":material/help:"):
        st.code("\n".join(usages(told.kind)), language=None, wrap_lines=True)


def begin_again() -> None:
    """Go to the first story."""
    state_calls.tell(STORIES[0].name)
