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
    shown, refused = parts.shown(page), None
except (AssignorError, GroupscopeError) as error:
    shown, refused = None, error
title = st.container(gap="xxsmall")
parts.source(page, shown)
if refused is not None:
    widgets.line(":red", "error", "There are no generations to show", formats.md(str(refused)))
if shown is None or not shown.generations:
    with title:
        parts.nothing(shown)
    st.stop()

names = panel.names_of(shown.generations)
steps = panel.steps_of(shown.generations, names)
at, drawn = panel.controls(shown.generations, steps, default=len(shown.generations) - 1 if shown.live else 1)
with title:
    panel.headline(steps, at)
    parts.where_from(shown, at)
panel.one_step(drawn, at)
panel.pictures(drawn, at)
if shown.live is not None:
    parts.reconciliation(shown.live.generations[at], names)
panel.move_table(shown.generations[at], names)
