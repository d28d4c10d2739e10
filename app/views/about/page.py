"""What is running, with which settings, how fresh its data is, and how to report a fault."""

import streamlit as st

from app.ui import required_report, widgets
from app.ui.cluster_history import not_written
from app.views.about import notices, parts

widgets.follow()
page = required_report.require_report()

required_report.headline(page, parts.conclusion(page))
with st.container(gap="xxsmall"):
    required_report.status_line(parts.pace(page), "")
    required_report.problems(page)
    parts.policy_problem(page)
    not_written()
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
