"""Which assignor and how many members for my fleet?"""

import streamlit as st

from app.ui import formats, state, widgets
from app.views.sweeps import fleet as parts
from app.views.sweeps import group, text
from app.views.sweeps import state as state_sweeps
from app.views.sweeps.tables import records
from assignors.model import AssignorError
from lag.errors import HistoryError

widgets.follow()
root = state_sweeps.root()
title = st.container(gap="xxsmall")
with parts.readable(title):
    found = state_sweeps.sweeps(root) if root is not None else []
if root is None or not found:
    parts.none_yet(root)
    st.stop()

pickers = st.container(horizontal=True, gap="small", vertical_alignment="center")
with pickers:
    sweep = parts.which(found)
try:
    state_sweeps.follow(root, sweep)
except (AssignorError, HistoryError) as error:
    parts.not_opened(error)
chosen = state.url("group")
with parts.readable(title):
    frame = state_sweeps.gains(root, sweep)
    rows = records(frame[frame["group_id"] == chosen])
    cells = state_sweeps.cells(root, sweep, rows[0]["group_id"], rows[0]["assignor"]) if rows else None
with title:
    st.header(text.group(rows[0]) if rows else text.fleet(frame), anchor=False)
    parts.about(sweep, len(frame))
    if chosen is not None and not rows:
        told = f"{formats.code(chosen)} is not in this sweep"
        widgets.line(":orange", "search_off", told, "these are all its groups")
if cells is None:
    parts.fleet(frame)
    st.stop()

with pickers:
    group.picker(frame, rows[0]["group_id"])
group.one_group(rows[0], cells)
