"""Control the workload of the demo cluster; the other pages show how Kafka reacts."""

import streamlit as st

from app.ui import required_report, widgets
from app.views.demo import parts

widgets.follow()
page = required_report.require_report()
running = parts.running()
cases = parts.cases(page, running)

required_report.headline(page, parts.conclusion(cases))
with st.container(gap="xxsmall"):
    required_report.status_line("Change the workload here, and watch the Overview and Group pages.", "")
    parts.readiness()
    parts.answers()

left, right = st.columns([0.5, 0.5], gap="medium")
if running is not None:
    with left:
        parts.member_actions(running)
    with right:
        parts.topic_actions(running)
parts.table(cases)
