"""Since when, how often, how bad?"""

import streamlit as st

from app.ui import required_report, widgets
from app.ui.cluster_history import cluster_history, not_written
from app.views.history import fleet, group, parts, state

widgets.follow()
history = cluster_history(required_report.require_report())
not_written()
if history is None:
    parts.no_history()
    st.stop()
newest = parts.newest_minute(history)
span, scope = parts.span(history, newest), state.scope()
if scope is None:
    fleet.draw(history, span, newest)
else:
    group.draw(history, scope, span, newest)
