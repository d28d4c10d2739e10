"""What is wrong inside one group?"""

import streamlit as st

from app.ui import formats, state, verdicts, widgets
from app.views.group import lag_over_time, member_tables, parts, tables, text
from app.views.group import state as cached

widgets.follow()
page = widgets.require_report()
snapshot = page.report.snapshot

chosen = state.url("group")
if chosen is None:
    parts.pick_one(page)
    st.stop()
view = cached.group_view(page, chosen)
if view is None:
    parts.gone(page, chosen)
    st.stop()
finding = view.health.finding

# -- conclusion
left, right = st.columns([0.8, 0.2], vertical_alignment="bottom")
with left:
    widgets.headline(page, text.headline(view))
with right, st.container(gap="xxsmall"):
    parts.picker(page, chosen)
    parts.actions(chosen)
with st.container(gap="xxsmall"):
    st.markdown(f"{verdicts.badge(finding.status)} {parts.reason(view)} {parts.rule(view)}")
    widgets.status_line("", text.facts(view), small=True)
    widgets.note(text.home(view, snapshot))
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
    member_tables.members(view)
with right, st.container(gap="xxsmall"):
    parts.who_owns_what(view)
    parts.why_it_is_so(page, view)
    parts.advice(page, view)

# -- partitions
frame = tables.partitions(view)
with st.container(gap="xxsmall"):
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{formats.count(len(frame))}, worst first]")
        rows = member_tables.found(frame)
        st.space("stretch")
        widgets.actions("partitions", lambda: tables.export(rows))
    member_tables.partitions(rows, len(frame))
widgets.explain_verdicts()
