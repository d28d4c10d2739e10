"""What happened to the group, step by step?"""

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.movement import panel
from app.views.generations import parts
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

names = panel.names_of(told.generations)
steps = panel.steps_of(told.generations, names)
at, drawn = panel.controls(told.generations, steps, default=len(told.generations) - 1 if told.live else 1)
with title:
    panel.headline(steps, at)
    parts.where_from(told, at)
panel.one_step(drawn, at)
panel.pictures(drawn, at)
if told.live is not None:
    parts.reconciliation(told.live.generations[at], names)
panel.move_table(told.generations[at], names)
