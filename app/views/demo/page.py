"""Control the workload of the demo cluster; the other pages show how Kafka reacts."""

import streamlit as st

from app.ui import widgets
from app.views.demo import parts

widgets.follow()
page = widgets.require_report()
cases = parts.cases(page)

widgets.headline(page, parts.conclusion(cases))
with st.container(gap="xxsmall"):
    widgets.status_line("Change the workload here, and watch the Overview and Group pages.", "")
    parts.readiness()
    parts.said()

left, right = st.columns([0.5, 0.5], gap="medium")
running = parts.running()
if running is not None:
    with left:
        parts.member_actions(running)
    with right:
        parts.topic_actions(running)
parts.table(cases)
