"""Why does a rebalance take this long, and would another protocol do better?"""

import streamlit as st

from app.ui import formats
from app.ui.labs.story import head, linked
from app.ui.scenario.played import Played
from app.ui.scenario.story_state import LAB, played
from app.views.labs.protocol import advice, outcome, setup, text

story = linked(LAB)
results = played(story.scenario, story.seed)
runs = [result for result in results.values() if isinstance(result, Played)]

st.title(text.headline(runs), anchor=False)
if runs:
    st.markdown(formats.md(text.members(runs)))
outcome.problems(results)
head(LAB, story)

left, right = st.columns([0.77, 0.23], gap="medium")
with left, st.container(gap="xxsmall"):
    outcome.picture(story, runs)
with right, st.container(gap="xsmall"):
    setup.controls(story)

if runs:
    left, right = st.columns([0.6, 0.4], gap="medium")
    with left, st.container(gap="xxsmall"):
        outcome.side_by_side(runs)
        advice.generations(story)
        advice.advice(story)
        advice.finder()
    with right, st.container(gap="xxsmall"):
        outcome.waits(runs)
