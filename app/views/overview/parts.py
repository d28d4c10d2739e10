"""The parts of the Overview."""

from typing import Any

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.group_table import GroupTable, sparkline
from app.ui.groups.deletion import DELETED_IN, two_units
from app.ui.groups.headlines import clocks
from app.ui.table_limits import MAX_ROWS, MAX_SPARKLINE_ROWS
from app.views.overview import tables
from app.views.overview.tables import Filters
from lag.model import ClusterSnapshot
from lag.verdict.catalogue import VERDICTS
from lag.verdict.status import URGENCY, Status

WHY = "The evidence for the verdict. For a group that is OK, the reason why its time lag is not known"
TIME_LAG = (
    "Age of the oldest record that is not committed yet, computed from the polled offsets. "
    "A dash if it is older than the kept polls (see Why) or not known"
)
TOOLBAR_PX = 100
"""Room at the right end of the line above the table, where the table's own toolbar appears."""

COLUMNS = "group v lag since known time_lag drains deleted_in members why state type"
TREND = "Lag in the last polls, relative to the group's peak, or to 1,000 records if the peak is lower"


def no_group() -> None:
    """The cluster has no group."""
    st.markdown("The cluster has no consumer group. A group appears here when its first member joins or commits.")
    st.code("groupscope up     # a demo cluster with groups in every state", language="bash")


def visible(table: GroupTable) -> pd.DataFrame:
    """The rows that the chips count, with or without internal groups."""
    frame = table.frame
    return frame if st.session_state.get("internal") else frame[~frame["hidden"]]


def verdict_chips(rows: pd.DataFrame) -> list[str]:
    """One chip per verdict that occurs, with its count."""
    number = tables.counts(rows, "status")
    chosen = state.picked("verdict")
    options = [s.value for s in URGENCY if s.value in number or s.value in chosen]

    def text(value: str) -> str:
        status = Status(value)
        return f"{widgets.verdict_tile(status)} {VERDICTS[status].word} **{number[value]:,}**"

    return state.chips("Verdict", options, text, "verdict", wrap=True)


def more_filters(snapshot: ClusterSnapshot) -> Filters:
    """The filters in a popover: topic, minimum lag, internal groups."""
    with st.popover("More", icon=":material/tune:"):
        topic = st.selectbox(
            "Topic", sorted(snapshot.topics), index=None, key="reads", bind="query-params", placeholder="Any topic"
        )
        least = state.whole_number("Minimum lag, records", "lag", step=1000)
        internal = st.toggle("Internal groups (Kafka's and groupscope's own)", key="internal", bind="query-params")
    return Filters(topic=topic, lag_at_least=least, internal=internal)


def value_chips(label: str, rows: pd.DataFrame, column: str) -> list[str]:
    """One chip per value of `column`, with its count, the most frequent first."""
    number = tables.counts(rows, column)
    options = sorted({*number, *state.picked(column)}, key=lambda v: (-number[v], v))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", width="content"):
        st.markdown(f":small[{label}]", width="content")
        return state.chips(label, options, lambda v: f"{v} **{number[v]}**", column)


def groups(rows: pd.DataFrame, at_ms: int) -> None:
    """The table of groups, most urgent first, as of `at_ms`."""
    shown = rows.head(MAX_ROWS)
    view = shown.assign(
        v=widgets.as_tags(shown["verdict"]),
        since=clocks(shown["onset"], at_ms, state.zone()),
        time_lag=widgets.timedeltas(shown["time_lag_s"]),
        deleted_in=widgets.timedeltas(two_units(shown["deleted_in_s"])),
    )
    columns = COLUMNS.split()
    if len(shown) <= MAX_SPARKLINE_ROWS:
        view = view.assign(spark=shown["trend"].map(sparkline))
        columns.insert(columns.index("drains") + 1, "spark")
    widgets.table(
        view[columns],
        key="groups",
        columns=_columns(shown["group"]),
        alt=f"{formats.plural(len(view), 'group')} by urgency: verdict, lag, onset, time lag, drain time, members, why",
    )
    widgets.row_count(len(shown), len(rows), "group")


def _columns(ids: pd.Series) -> dict[str, Any]:
    c = st.column_config
    return {
        "group": widgets.page_opener("Group", "open_group", 158, ids, "group", "group"),
        "v": widgets.verdict_column(124),
        "lag": widgets.integer("Lag", 78, "Records behind, summed over the partitions with a known lag"),
        "since": widgets.since_column(118),
        "known": c.TextColumn("Known for", width=74, alignment="right", help="Partitions with a known lag"),
        "time_lag": widgets.seconds_column("Time lag", 92, TIME_LAG),
        "drains": c.TextColumn("Drains in", width=72, alignment="right", help="Slowest partition, at current rates"),
        "deleted_in": widgets.seconds_column("Deleted in", 94, DELETED_IN),
        "spark": c.LineChartColumn("Lag trend", width=80, color="gray", y_min=0, y_max=1, help=TREND),
        "members": c.NumberColumn("Members", width=66),
        "why": c.TextColumn("Why", width=190, help=WHY),
        "state": c.TextColumn("State", width=80),
        "type": c.TextColumn("Type", width=72),
    }
