"""Since when, how often, how bad?"""

import streamlit as st

from app import state_history, widgets
from app.parts import history as parts
from app.parts import history_fleet, history_group

widgets.follow()
page = widgets.require_report()
past = state_history.past(page)
if past is None:
    parts.not_kept(page)
    st.stop()
newest = parts.newest(past)
span, place = parts.span(past, newest), state_history.place()
if place is None:
    history_fleet.draw(past, span, newest)
else:
    history_group.draw(past, place, span, newest)
