"""When is a record visible, and when is one lost?"""

import streamlit as st

from app.ui import formats, widgets
from app.ui.labs.lab_state import STEP
from app.ui.labs.story import head, linked, step_controls
from app.ui.stepper import position
from app.views.labs.watermark import outcome, setup, text
from app.views.labs.watermark.state import LAB
from app.views.labs.watermark.tables import first_trouble
from assignors.labs.watermark import begin, play_on

story = linked(LAB)
steps, refusal = play_on(begin(story.replicas, story.settings), story.actions)
at = position(STEP, len(steps) - 1, story.opens or first_trouble(steps))
now = steps[at].state

st.title(text.headline(now), anchor=False)
head(LAB, story)
if refusal is not None:
    widgets.line(":orange", "front_hand", "The story ends early under these rules", formats.md(str(refusal)))

left, right = st.columns([0.7, 0.3], gap="medium")
with left, st.container(gap="xsmall"):
    step_controls(at, len(steps) - 1, lambda step: f"{step} of {len(steps) - 1}")
    with st.container(gap="xxsmall"):
        outcome.sentences(steps, at)
    outcome.picture(steps, at)
    setup.next_action(at, now, len(steps) - 1 - at)
with right, st.container(gap="xsmall"):
    setup.rules(story)

left, right = st.columns([0.52, 0.48], gap="medium")
with left, st.container(gap="xxsmall"):
    outcome.other_rules(story)
with right, st.container(gap="xxsmall"):
    outcome.producers(now)
with st.container(gap="xxsmall"):
    outcome.all_steps(steps, at)
