"""Which group needs attention now?"""

from dataclasses import replace

import streamlit as st

from app.ui import formats, required_report, state, widgets
from app.views.overview import parts, tables, text
from app.views.overview.state import group_table

widgets.follow()
page = required_report.require_report()
table = group_table(page)
snapshot, health = page.report.snapshot, page.report.health

required_report.headline(page, text.headline(snapshot, health, table, state.zone()))
with st.container(gap="xxsmall"):
    coverage = f"lag known for {table.known:,} of {formats.plural(table.partitions, 'partition')}"
    required_report.status_line(text.second_sentence(snapshot, health, table), coverage)
    required_report.problems(page)
if table.frame.empty:
    parts.no_group()
    st.stop()

with st.container(gap="xsmall"):
    visible = parts.visible(table)
    verdicts = parts.verdict_chips(visible)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        # First: the keyboard reaches it before the many chips and buttons.
        query = widgets.text_filter("Group or topic", "q", "stretch", "80ms")
        states, types = parts.value_chips("State", visible, "state"), parts.value_chips("Type", visible, "type")
        filters = parts.more_filters(snapshot)
        tools = st.container(horizontal=True, gap="small", vertical_alignment="center", width="content")
        st.space(parts.TOOLBAR_PX)
rows = tables.select(table, replace(filters, verdicts=verdicts, states=states, types=types, text=query))
with tools:
    widgets.actions("groups", lambda: tables.export(rows))
parts.groups(rows, snapshot.at_ms)
widgets.explain_verdicts()
