"""What does Kafka answer, call by call?"""

import streamlit as st

from app.ui.labs.lab_state import STEP
from app.ui.labs.story import head, linked, step_controls
from app.ui.stepper import position
from app.views.labs.calls import outcome, setup, text
from app.views.labs.calls.records import first_trouble
from app.views.labs.calls.state import LAB
from assignors.labs.calls import play_on

story = linked(LAB)
turns = play_on(story.machine, story.script)
at = position(STEP, len(turns) - 1, story.opens - 1 if story.opens else first_trouble(turns))

st.title(text.headline(turns), anchor=False)
head(LAB, story)

step_controls(at, len(turns) - 1, lambda step: f"{step + 1} of {len(turns)}")
with st.container(gap="xxsmall"):
    outcome.sentences(turns, at)
with st.container(gap="xxsmall"):
    outcome.picture(turns, at)

left, right = st.columns([0.34, 0.66], gap="medium")
with left, st.container(gap="xxsmall"):
    setup.script(story)
with right, st.container(gap="xxsmall"):
    outcome.table(turns, at)
