"""What is wrong inside one group?"""

import streamlit as st

from app import formats, sentences, sentences_group, state, widgets, words
from app.parts import group as parts
from app.parts import group_tables, lag_over_time
from app.tables import group as tables

widgets.follow()
page = widgets.require_report()
snapshot = page.report.snapshot

chosen = state.url("group")
if chosen is None:
    parts.pick_one(page)
    st.stop()
view = state.group_view(page, chosen)
if view is None:
    parts.gone(page, chosen)
    st.stop()
finding = view.health.finding

# -- conclusion
left, right = st.columns([0.8, 0.2], vertical_alignment="bottom")
with left:
    widgets.headline(page, sentences.group(view))
with right, st.container(gap="xxsmall"):
    parts.picker(page, chosen)
    parts.actions(chosen)
with st.container(gap="xxsmall"):
    st.markdown(f"{words.badge(finding.status)} {parts.reason(view)} {parts.rule(view)}")
    widgets.status_line("", sentences.facts(view), small=True)
    widgets.note(sentences_group.home(view, snapshot))
    parts.problems(view)

# -- pictures
left, right = st.columns([0.56, 0.44], gap="medium")
with left, st.container(gap="xxsmall"):
    lag_over_time.draw(page, view)
with right, st.container(gap="xxsmall"):
    parts.lag_by_partition(view)

# -- members
left, right = st.columns([0.56, 0.44], gap="medium")
with left, st.container(gap="xxsmall"):
    group_tables.members(view)
with right, st.container(gap="xxsmall"):
    parts.who_owns_what(view)
    parts.why_it_is_so(page, view)
    parts.advice(page, view)

# -- partitions
frame = tables.partitions(view)
with st.container(gap="xxsmall"):
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{formats.count(len(frame))}, worst first]")
        rows = group_tables.found(frame)
        st.space("stretch")
        widgets.actions("partitions", lambda: tables.export(rows))
    group_tables.partitions(rows, len(frame))
widgets.explain_verdicts()
