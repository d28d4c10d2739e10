"""What happened to the group, step by step?"""

import streamlit as st

from app.ui import formats, link_values, required_report, state, widgets
from app.ui.groups import predictions
from app.ui.movement import panel
from app.views.generations import fleet, link, parts, timeline
from assignors.model import AssignorError
from lag.errors import GroupscopeError

widgets.follow()
page = state.shown()
try:
    shown, refused = parts.shown(page), None
except (AssignorError, GroupscopeError) as error:
    shown, refused = None, error
title, beside = st.container(gap="xxsmall"), st.container()
if shown is None or not shown.generations:
    with beside:
        parts.source(page, shown)
if refused is not None:
    title.title("There are no generations to show", anchor=False)
    widgets.line(":red", "error", "The link cannot be opened", formats.md(str(refused)))
    st.stop()
if shown is None:
    fleet.fleet(required_report.require_report(), title)
    st.stop()
if not shown.generations:
    with title:
        parts.nothing(shown, page)
    st.stop()

names = panel.names_of(shown.generations)
steps = panel.steps_of(shown.generations, names)
live = shown.live
if live is None:
    at = panel.position(shown.generations, default=1)
    topic = panel.controls(steps, at)
else:
    keys = parts.keys(live)
    place = link.place(keys, link.asked(), old=link_values.whole("gen"))
    at = place.position
    link.write(keys, at)
    topic = panel.controls(steps, at, lambda position: link.write(keys, position))
with title:
    panel.headline(steps, at)
    if live is not None and place.missing is not None:
        parts.nearest(place.missing, keys[at].number)
    if live is not None and page is not None:
        predictions.show(predictions.came_true(page, shown.title, live).get(at), names)
    parts.where_from(shown, at, names)
by_clock = st.container()
drawn = panel.draw(topic, at)
panel.one_step(drawn)  # a figure before most widgets: with it the browser begins to load Plotly
if live is not None:
    with by_clock:
        timeline.timeline(live, at, names, state.now_ms(), lambda position: link.write(keys, position))
with beside:
    parts.source(page, shown)
panel.pictures(drawn)
if live is not None:
    parts.reconciliation(live.generations[at], names)
panel.move_table(shown.generations, at, names)
