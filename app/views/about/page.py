"""What is running, with which settings, how fresh its data is, and how to report a fault."""

import streamlit as st

from app.ui import widgets
from app.views.about import notices, parts

widgets.follow()
page = widgets.require_report()

widgets.headline(page, parts.conclusion(page))
with st.container(gap="xxsmall"):
    widgets.status_line(parts.pace(page), "")
    widgets.problems(page)
    parts.policy_problem(page)
    parts.is_open()
    parts.visitor()

left, right = st.columns([0.6, 0.4], gap="medium")
with left:
    parts.brokers(page)
    parts.unread(page)
    parts.following()
    notices.targets(page.now_ms)
    parts.limits()
    parts.report_a_bug(page)
with right:
    parts.versions()
    parts.settings(page)
widgets.explain_verdicts()
