"""What moves, who idles, how fast does it drain?"""

import streamlit as st

from app import formats, sentences_whatif, state, state_whatif, widgets
from app.parts import movement
from app.parts import whatif as parts
from assignors.model import AssignorError
from lag.errors import GroupscopeError

widgets.follow()
page = state.shown()
head = st.container(gap="xxsmall")
try:
    draft, refused = state_whatif.draft(page), None
except (AssignorError, GroupscopeError) as error:
    draft, refused = None, error
with head:
    title = st.container()
    parts.source(page, draft)
    parts.upload_problems()
    if refused is not None:
        widgets.line(":red", "error", "This cannot be a what-if", formats.md(str(refused)))
if draft is None:
    with title:
        parts.nothing_chosen()
    st.stop()

left, right = st.columns([0.36, 0.64], gap="medium")
with left, st.container(gap="xxsmall"):
    parts.editor(draft)
    parts.capacity(draft)
with right, st.container(gap="xxsmall"):
    found = parts.outcomes(draft)
    parts.side_by_side(found, draft)
with head:
    parts.notes(page, draft)

with st.container(horizontal=True, gap="small", vertical_alignment="center"):
    chosen = parts.pick(found, draft.scenario.assignor)
    st.space("stretch")
    parts.share(draft)
with title:
    st.header(sentences_whatif.conclusion(chosen, draft.scenario), anchor=False)
if chosen.error is not None:
    widgets.line(":red", "error", "Its reason", formats.md(chosen.error))
    st.stop()

# -- movement of the chosen assignor
names = movement.names_of(chosen.generations)
steps = movement.steps_of(chosen.generations, names)
at, drawn = movement.controls(chosen.generations, steps, default=1)
movement.sentence(steps, at, chosen.generations[at])
movement.one_step(drawn, at)
movement.still_pictures(drawn, at)
movement.in_motion(drawn, at)
movement.move_table(chosen.generations[at], names)
