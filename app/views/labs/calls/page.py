"""What does Kafka answer, call by call?"""

import streamlit as st

from app.ui import widgets
from app.ui.story import head
from app.views.labs.calls import outcome, setup, text
from app.views.labs.calls.state import LAB
from assignors.labs.calls import play_on
from assignors.model import AssignorError

widgets.follow()
try:
    story = LAB.current()
except AssignorError as error:
    widgets.unplayable(str(error), LAB.open_first)
    st.stop()
turns = play_on(story.machine, story.script)
at = outcome.position(turns)

st.header(text.headline(turns), anchor=False)
head(LAB, story)

left, right = st.columns([0.34, 0.66], gap="medium")
with left, st.container(gap="xxsmall"):
    setup.script(story)
with right:
    with st.container(gap="xxsmall"):
        outcome.one(turns, at)
    with st.container(gap="xxsmall"):
        outcome.table(turns, at)
