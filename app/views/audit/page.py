"""Who did what, when and from where: the newest events of the audit log."""

import streamlit as st

from app.server import source
from app.ui import formats, widgets
from app.views.audit import parts
from lag.errors import ConfigError

if not source.current().is_admin:  # a link from somebody else: the page is not in the navigation
    st.title("Only admins can read the audit log")
    st.stop()
try:
    shown = parts.listed()
except ConfigError as error:
    st.title("The audit log cannot be read")
    widgets.line(":red", "error", formats.md(error.cause), formats.md(error.hint))
    st.stop()
st.title(parts.conclusion(shown.events))
st.markdown(f":small[{parts.where()}]")
if shown.problem is not None:
    widgets.line(":orange", "warning", "Events from the history are missing", formats.md(shown.problem))
if shown.events:
    parts.table(shown.events)
parts.pages(shown)
