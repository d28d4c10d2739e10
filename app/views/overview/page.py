"""Which group needs me now?"""

from dataclasses import replace

import streamlit as st

from app.ui import formats, state, widgets
from app.views.overview import parts, tables
from app.views.overview import text as sentences

widgets.follow()
page = widgets.require_report()
table = state.group_table(page)
snapshot, health = page.report.snapshot, page.report.health

widgets.headline(page, sentences.headline(snapshot, health, table))
with st.container(gap="xxsmall"):
    coverage = f"lag known for {table.known:,} of {formats.plural(table.partitions, 'partition')}"
    widgets.status_line(parts.second_sentence(page, table), coverage)
    widgets.problems(page)
if table.frame.empty:
    parts.no_group()
    st.stop()

with st.container(gap="xsmall"):
    visible = parts.visible(table)
    verdicts = parts.verdict_chips(visible)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        states, types = parts.state_chips(visible), parts.type_chips(visible)
        rare = parts.rare_filters(snapshot)
        tools = st.container(horizontal=True, gap="small", vertical_alignment="center", width="content")
        # Last: the table's own toolbar appears over the right end of this line.
        text = widgets.text_filter("Group or topic", "q", "stretch", "80ms")
rows = tables.select(table, replace(rare, verdicts=verdicts, states=states, types=types, text=text))
with tools:
    widgets.actions("groups", lambda: tables.export(rows))
parts.groups(rows)
widgets.explain_verdicts()
