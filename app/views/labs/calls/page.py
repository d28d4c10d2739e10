"""What does Kafka answer, call by call?"""

import streamlit as st

from app.ui import widgets
from app.views.labs.calls import outcome, setup, state, text
from app.views.labs.calls.link import LinkError
from assignors.labs.calls import play_on

widgets.follow()
try:
    told = state.told()
except LinkError as error:
    widgets.unplayable(str(error), setup.begin_again)
    st.stop()
turns = play_on(told.kind, told.script)
at = outcome.position(turns)

st.header(text.headline(turns), anchor=False)
setup.story(told)

left, right = st.columns([0.34, 0.66], gap="medium")
with left, st.container(gap="xxsmall"):
    setup.script(told)
with right:
    with st.container(gap="xxsmall"):
        outcome.one(turns, at)
    with st.container(gap="xxsmall"):
        outcome.table(turns, at)
