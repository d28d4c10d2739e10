"""What is wrong inside one group?"""

import streamlit as st

from app.ui import formats, required_report, state, widgets
from app.views.group import (
    assignment,
    conclusion,
    members,
    offsets,
    partitions,
    tables,
    text,
)
from app.views.group.answer import next_step
from app.views.group.lag import by_partition, over_time
from app.views.group.state import view as view_of

widgets.follow()
page = required_report.require_report()

chosen = state.url("group")
if chosen is None:
    conclusion.pick_one(page)
    st.stop()
view = view_of(page, chosen)
if view is None:
    conclusion.not_found(page, chosen)
    st.stop()

left, right = st.columns([0.74, 0.26], vertical_alignment="bottom")
with left:
    required_report.headline(page, text.headline(view, state.zone()))
with right, st.container(gap="xxsmall"):
    conclusion.picker(page, chosen)
    conclusion.links(chosen)
with st.container(gap="xxsmall"):
    st.markdown(
        f"{widgets.verdict_badge(view.health.finding.status)} {conclusion.reason(view)} {conclusion.rule(view)}"
    )
    required_report.status_line("", text.facts(view), small=True)
    widgets.note(text.offsets_location(view, page.report.snapshot))
    conclusion.problems(view)
next_step.show(page, view)
if not view.is_read:
    with st.container(gap="xxsmall"):
        over_time.over_time(page, view)
    widgets.note(text.not_read(view))
    widgets.explain_verdicts()
    st.stop()
offsets.rulers(view)

left, right = st.columns([0.56, 0.44], gap="medium")
with left:
    lag_place = st.container(gap="xxsmall")
with right, st.container(gap="xxsmall"):
    by_partition.by_partition(view)

left, right = st.columns([0.56, 0.44], gap="medium")
with left, st.container(gap="xxsmall"):
    members.members(view)
with right, st.container(gap="xxsmall"):
    assignment.chart(view)
    assignment.explain(page, view)
    assignment.advice(page, view)

frame = tables.partitions(view)
with st.container(gap="xxsmall"):
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{formats.count(len(frame))}, most urgent first]")
        rows = partitions.filtered(frame)
        st.space("stretch")
        widgets.actions("partitions", lambda: tables.export(rows))
    partitions.partitions(rows, len(frame), view.group.type)
    offsets.chosen(view)
widgets.explain_verdicts()
with lag_place:  # last, because it may have to read the history
    over_time.over_time(page, view)
