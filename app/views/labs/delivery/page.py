"""What is processed twice or lost?"""

import streamlit as st

from app.server.workers.pool import NotComputed
from app.ui import formats, widgets
from app.ui.labs.story import head, linked
from app.views.labs.delivery import outcome, setup, text
from app.views.labs.delivery.state import LAB, worst_of
from assignors.labs.delivery import compare, run

story = linked(LAB)
lab, failure = story.lab, story.failure
ledger = run(lab, failure)

st.title(text.headline(ledger), anchor=False)
with st.container(gap="xxsmall"):
    for sentence in text.reasons(lab, failure, ledger):
        st.markdown(formats.md(sentence))
    if numbers := text.in_numbers(lab, failure):
        widgets.note(f"In numbers: {numbers}.")
head(LAB, story)

left, right = st.columns([0.3, 0.7], gap="medium")
with left, st.container(gap="xsmall"):
    setup.controls(story)
with right, st.container(gap="xsmall"):
    setup.moment(story)
    outcome.pictures(lab, ledger)

with st.container(gap="xxsmall"):
    try:
        outcome.strategies(compare(lab, failure), worst_of(lab, failure), lab.strategy)
    except NotComputed as error:
        widgets.note(formats.md(str(error)))
with st.container(gap="xxsmall"):
    outcome.records(lab, ledger)
