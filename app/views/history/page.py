"""Since when, how often, how bad?"""

import streamlit as st

from app.ui import widgets
from app.views.history import fleet, group, parts, state

widgets.follow()
page = widgets.require_report()
past = state.past(page)
if past is None:
    parts.not_kept(page)
    st.stop()
newest = parts.newest(past)
span, place = parts.span(past, newest), state.place()
if place is None:
    fleet.draw(past, span, newest)
else:
    group.draw(past, place, span, newest)
