"""What would move, who would be idle, and how fast would the lag drain?"""

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.groups import predictions
from app.ui.movement import panel
from app.ui.scenario import draft_state
from app.views.whatif import drain_chart, editor, first_members, outcomes, start, text
from assignors.model import AssignorError
from lag.errors import GroupscopeError

widgets.follow()
page = state.shown()
head = st.container(gap="xxsmall")
try:
    draft, refused = draft_state.draft(page), None
except (AssignorError, GroupscopeError) as error:
    draft, refused = None, error
lacks_members = draft is not None and first_members.are_missing(draft)
with head:  # the headline before all widgets and tables, which a browser takes half a second to load
    if draft is None:
        start.nothing_chosen()
    elif lacks_members:
        st.title(first_members.headline(draft), anchor=False)
    else:
        found, running = outcomes.outcomes(draft)
        chosen = outcomes.chosen(found, draft.scenario.assignor)
        st.title(text.conclusion(chosen, draft.scenario), anchor=False)
        outcomes.recommended(found, draft.scenario.assignor)
    start.source(page, draft)
    if refused is not None:
        widgets.line(":red", "error", "The scenario cannot be loaded", formats.md(str(refused)))
if draft is None:
    with st.container(gap="xxsmall"):
        start.gallery()
    st.stop()

with head:
    start.notes(page, draft)
left, right = st.columns([0.31, 0.69], gap="medium")
with left:
    editing = st.container(gap="xxsmall")
    # The first figure comes early: with it the browser begins to load Plotly, which takes it a second.
    if not lacks_members and chosen.error is None:
        drain_chart.lag_over_time(chosen, draft.scenario)
with editing:
    editor.editor(draft)
    editor.capacity(draft)
if lacks_members:
    with right, st.container(gap="xxsmall"):
        first_members.choices(draft)
    st.stop()
with right, st.container(gap="xxsmall"):
    outcomes.side_by_side(found, draft)
    if running:
        outcomes.wait_for(draft, running)
    outcomes.pick(found, chosen)
if chosen.error is not None:
    st.stop()
if page is not None:
    predictions.keep(page, draft)

# -- movement of the chosen assignor
names = panel.names_of(chosen.generations)
steps = panel.steps_of(chosen.generations, names)
with right, st.container(gap="xxsmall"):
    moving = st.container(gap="xxsmall")
    at = panel.position(chosen.generations, default=steps.first_move() or 1)
    topic = panel.controls(steps, at)
    with moving:
        panel.sentence(steps, at, chosen.generations[at])
    if rests_on := text.on_a_broker(found, draft.scenario):
        widgets.note(rests_on)
below = st.container()
panel.move_table(chosen.generations, at, names)

drawn = panel.draw(topic, at)
with moving:
    panel.motion(drawn)
with below:
    panel.one_step(drawn)
    panel.pictures(drawn, with_motion=False)
