"""Will these settings hurt?"""

import streamlit as st

from app.ui import formats, widgets
from app.views.advice import parts
from lag.errors import ConfigError

widgets.follow()
try:
    advised, refused = parts.pasted(), None
except ConfigError as error:
    advised, refused = None, error

st.header(parts.conclusion(advised, refused), anchor=False)
if refused is not None:
    widgets.line(":red", "error", formats.md(refused.cause.rstrip(".")), formats.md(refused.hint))
left, right = st.columns([0.42, 0.58], gap="medium")
with left, st.container(gap="xsmall"):
    parts.box()
    parts.work()
with right, st.container(gap="xsmall"):
    if advised is not None:
        parts.findings(advised)
    elif refused is None:
        parts.nothing_yet()
