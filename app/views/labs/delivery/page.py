"""What is processed twice or lost?"""

import streamlit as st

from app.ui import formats, widgets
from app.views.labs.delivery import outcome, setup, state, text
from assignors.labs.delivery import LabError, compare, run

widgets.follow()
try:
    lab, failure = state.chosen()
except LabError as error:
    widgets.unplayable(str(error), setup.begin_again)
    st.stop()
ledger = run(lab, failure)

st.header(text.headline(ledger), anchor=False)
with st.container(gap="xxsmall"):
    for sentence in text.reasons(lab, failure, ledger):
        st.markdown(formats.md(sentence))
    if numbers := text.in_numbers(lab, failure):
        widgets.note(f"In closed form: {numbers}.")
setup.story(lab, failure)

left, right = st.columns([0.3, 0.7], gap="medium")
with left, st.container(gap="xsmall"):
    setup.controls(lab, failure)
with right, st.container(gap="xsmall"):
    setup.moment(lab, failure)
    outcome.pictures(lab, ledger)

left, right = st.columns([0.66, 0.34], gap="medium")
with left, st.container(gap="xxsmall"):
    outcome.strategies(compare(lab, failure), state.worst_of(lab, failure), lab.strategy)
with right, st.container(gap="xxsmall"):
    outcome.records(lab, ledger)
