"""What happened to the group, step by step?"""

import streamlit as st

from app import formats, state, widgets
from app.parts import generations as parts
from app.parts import movement
from assignors.model import AssignorError
from lag.errors import GroupscopeError

widgets.follow()
page = state.shown()
try:
    told, refused = parts.told(page), None
except (AssignorError, GroupscopeError) as error:
    told, refused = None, error
title = st.container(gap="xxsmall")
parts.source(page, told)
if refused is not None:
    widgets.line(":red", "error", "There are no generations to show", formats.md(str(refused)))
if told is None or not told.generations:
    with title:
        parts.nothing(told)
    st.stop()

names = movement.names_of(told.generations)
steps = movement.steps_of(told.generations, names)
at, drawn = movement.controls(told.generations, steps, default=len(told.generations) - 1 if told.live else 1)
with title:
    movement.headline(steps, at)
    parts.where_from(told, at)
movement.one_step(drawn, at)
movement.pictures(drawn, at)
if told.live is not None:
    parts.reconciliation(told.live.generations[at], names)
movement.move_table(told.generations[at], names)
