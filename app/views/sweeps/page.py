"""Which assignor and how many members for my fleet?"""

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.sweep_findings import conclusion
from app.views.sweeps import fleet as parts
from app.views.sweeps import group, run_form, runs, text
from app.views.sweeps import state as state_sweeps
from app.views.sweeps.state import Place
from assignors.model import AssignorError
from lag.errors import HistoryError
from lag.sweeps.gains import records

widgets.follow()
runs.show_result()
title = st.container(gap="xxsmall")
with parts.stop_on_error(title):
    found = state_sweeps.sweeps()

form = st.container()
pickers = st.container(horizontal=True, gap="small", vertical_alignment="center")
with pickers:
    sweep = parts.sweep_picker(found)
try:
    state_sweeps.follow(sweep)
except (AssignorError, HistoryError) as error:
    widgets.line(":red", "error", "This case cannot be opened in What if", text.refusal(error))
chosen = state.url("group")
with parts.stop_on_error(title):
    frame = state_sweeps.gains(sweep)
    rows = records(frame[frame["group_id"] == chosen])
    cells = state_sweeps.cells(sweep, rows[0]["group_id"], rows[0]["assignor"]) if rows else None
is_example = sweep.place is Place.EXAMPLE
with title:
    if is_example and not rows:
        parts.introduction()
    else:
        st.title(text.group(rows[0]) if rows else conclusion(frame), anchor=False)
        parts.about(sweep, len(frame))
    if chosen is not None and not rows:
        widgets.line(
            ":orange", "search_off", f"{formats.code(chosen)} is not in this sweep", "These are all its groups"
        )
if cells is not None:
    with form:
        runs.watch()
    with pickers:
        group.picker(frame, rows[0]["group_id"])
    group.one_group(rows[0], cells)
    st.stop()

with form:
    run_form.panel(is_open=is_example)
    if is_example:
        st.header(f"Example: {conclusion(frame)}", anchor=False)
        parts.about(sweep, len(frame))
parts.fleet(sweep, frame)
