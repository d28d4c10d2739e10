"""The plan: what it changes, what to know before it is applied, and Kafka's own command."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from app.ui import formats, widgets
from app.ui.table_limits import MAX_ROWS
from app.ui.widgets import Column
from app.views.reset import files, tables
from lag.reset import summary
from lag.reset.model import Plan


def show_plan(plan: Plan) -> None:
    """Totals first, then warnings, the records to skip, the partitions, and Kafka's command."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Undo plan" if plan.undoes else "Plan", f":gray[{formats.md(plan.specification)}]")
        st.space("stretch")
        files.of_plan(plan)
    st.markdown(f"**{formats.md(summary.headline(plan))}**")
    with st.container(gap="xxsmall"):
        for warning in summary.warnings(plan):
            widgets.line(":orange", "warning", formats.md(warning))
    if not (records := tables.records_frame(plan)).empty:
        widgets.titled("Records to skip", ":gray[values are not shown]")
        show_table(records, len(records), "records", "records to skip", tables.RECORDS)
    if rows := plan.partitions:
        alt = "committed offset before and after"
        show_table(tables.plan_frame(rows[:MAX_ROWS]), len(rows), "table", alt, tables.PLAN)
    if plan.command:
        widgets.note(f"The same with Kafka's own tool{files.needed(plan)}:")
        st.code(plan.command, language="bash", wrap_lines=True)


def show_table(frame: pd.DataFrame, of: int, name: str, alt: str, looks: Mapping[str, Column]) -> None:
    """The first rows of a table, and how many there are if these are not all."""
    fitted = {**looks, "topic": tables.topic_column(frame)}
    described = f"{alt}, {formats.plural(of, 'row')}"
    widgets.table(frame, f"reset_{name}", described, widgets.columns(frame, fitted), most=12)
    if of > len(frame):
        widgets.note(f"The first {len(frame):,} of {of:,} rows.")
