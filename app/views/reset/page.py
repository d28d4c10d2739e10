"""What would a reset of a group's offsets do?"""

import streamlit as st

from app.ui import required_report, widgets
from app.views.reset import apply, form, link, parts, results, runs, text

widgets.follow()
page = required_report.require_report()
choice = link.read()
title = st.container(gap="xxsmall")
with title:
    required_report.headline(page, text.headline(choice))
    required_report.status_line("", text.state_of(page, choice), small=True)
form.draw(page, choice)
running = runs.watch()
runs.last_error()
plan, result = runs.plan(), runs.result()
if plan is not None and not running:
    if result is not None:
        results.show_result(plan, result)
    parts.show_plan(plan)
    if runs.is_outdated(choice):
        widgets.line(":orange", "warning", "The choices have changed since this plan was made", "Make the plan again.")
    else:
        apply.show_apply(plan)
elif not running:
    widgets.note(
        "The plan shows, for each partition, its old and new offset and how many records are reread or skipped, and "
        "Kafka's own command. Nothing is written to the cluster."
    )
