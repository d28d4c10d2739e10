"""Why does a rebalance take this long, and would another protocol do better?"""

import streamlit as st

from app.ui import formats, widgets
from app.ui.scenario import story_state as state
from app.ui.scenario.played import Played
from app.ui.scenario.story_link import LinkError
from app.views.labs.protocol import advice as beside
from app.views.labs.protocol import outcome, setup, text

widgets.follow()
try:
    told = state.told()
except LinkError as error:
    widgets.unplayable(str(error), setup.begin_again)
    st.stop()
found = state.played(told.scenario, told.seed)
played = [its for its in found.values() if isinstance(its, Played)]

st.header(text.headline(played), anchor=False)
if played:
    st.markdown(formats.md(text.members(played)))
outcome.problems(found)
setup.story(told)

left, right = st.columns([0.77, 0.23], gap="medium")
with left, st.container(gap="xxsmall"):
    outcome.picture(told, played)
with right, st.container(gap="xsmall"):
    setup.controls(told)

if played:
    left, right = st.columns([0.6, 0.4], gap="medium")
    with left, st.container(gap="xxsmall"):
        outcome.side_by_side(played)
        beside.generations(told)
        beside.advice(told)
        beside.finder()
    with right, st.container(gap="xxsmall"):
        outcome.waits(played)
