"""Which settings cause problems?"""

import streamlit as st

from app.ui import formats, widgets
from app.views.advice import parts
from lag.errors import ConfigError

widgets.follow()
try:
    advice, error = parts.pasted(), None
except ConfigError as raised:
    advice, error = None, raised

st.title(parts.headline(advice, error), anchor=False)
if error is not None:
    widgets.line(":red", "error", formats.md(error.cause.rstrip(".")), formats.md(error.hint))
left, right = st.columns([0.42, 0.58], gap="medium")
with left, st.container(gap="xsmall"):
    parts.properties()
    parts.workload()
with right, st.container(gap="xsmall"):
    if advice is not None:
        parts.findings(advice)
    elif error is None:
        parts.introduction()
