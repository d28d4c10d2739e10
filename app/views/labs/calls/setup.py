"""The controls of the Call lab: the script, and what can be called."""

import streamlit as st

from app.ui import formats, widgets
from app.views.labs.calls import text
from app.views.labs.calls.state import LAB
from assignors.labs.calls import CallStory, usages

_SCRIPT = "calls_script"
LINE_PX, MOST_LINES = 18, 22


def script(story: CallStory) -> None:
    """The calls, to edit, and how each is written."""
    widgets.titled(text.MACHINES[story.machine])
    why = LAB.refusal()
    if why is None:
        st.session_state[_SCRIPT] = story.script  # a refused script stays, so that it can be corrected
    lines = min(MOST_LINES, story.script.count("\n") + 1)
    st.text_area(
        "Calls, one per line",
        key=_SCRIPT,
        height=lines * LINE_PX + 40,
        on_change=lambda: LAB.set_script(st.session_state[_SCRIPT]),
        help="Edit the calls and leave the field to play them",
    )
    if why is not None:
        widgets.line(":red", "error", "Not played", formats.md(why))
    with st.expander("Available calls", icon=":material/help:"):
        st.code("\n".join(usages(story.machine)), language=None, wrap_lines=True)
