"""The Topics page without a topic: all of them."""

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.topics import tables, text
from app.views.topics.state import topics_table

PRODUCED = (
    "Records per second over all partitions, from the polls of the last 3 minutes. "
    "A dash until two polls have read all partitions (see Note)"
)
COLUMNS = "topic v partitions groups worst_lag worst_group w lag produce records retention"


def all_topics(page: state.Shown) -> None:
    """All topics with their groups, lag, size and rate."""
    frame = topics_table(page)
    widgets.headline(page, text.all_topics(frame))
    with st.container(gap="xxsmall"):
        widgets.status_line(text.counts(frame), "")
        widgets.problems(page)
    if frame.empty:
        st.markdown("The cluster has no topics. Create one with `kafka-topics.sh --create`.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        rows = _filtered(frame)
        st.space("stretch")
        widgets.actions("topics", lambda: rows.drop(columns=["rank"]))
    shown = rows.head(MAX_ROWS)
    _table(shown)
    widgets.row_count(len(shown), len(rows), "topic")


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    query = widgets.text_filter("Topic", "topics_q", 360)
    read_only = st.toggle("Only topics with groups", key="read", bind="query-params")
    internal = st.toggle("Internal topics", key="internal_topics", bind="query-params")
    rows = frame if internal else frame[~frame["internal"]]
    rows = rows[rows["groups"] > 0] if read_only else rows
    return widgets.containing(rows, query, "topic")


def _table(rows: pd.DataFrame) -> None:
    view = rows.assign(
        v=widgets.as_tags(rows["state"]),
        w=widgets.as_tags(rows["urgent_status"]),
        retention=widgets.timedeltas(rows["retention_s"]),
    )
    notes = ["note"] if (rows["note"] != "").any() else []
    c = st.column_config
    widgets.table(
        view[[*COLUMNS.split(), *notes]],
        key="topics",
        most=22,
        alt=f"{formats.plural(len(view), 'topic')}: partitions, groups, highest lag, records, produce rate, retention",
        columns={
            "topic": widgets.page_opener("Topic", "open_topic", 190, rows["topic"], "topics", "topic"),
            "v": c.MultiselectColumn(
                "State", options=[s for s, _ in tables.STATES], color=[k for _, k in tables.STATES], width=104
            ),
            "partitions": c.NumberColumn("Partitions", width=76),
            "groups": c.NumberColumn("Groups", width=64, help="Groups with committed offsets in the topic"),
            "worst_lag": widgets.integer("Highest lag", 92, "Records behind, of the slowest group"),
            "worst_group": c.TextColumn("Slowest group", width=170),
            "w": widgets.verdict_column(124),
            "lag": widgets.integer("Total lag", 92),
            "produce": c.NumberColumn("Produced/s", format="%.1f", width=84, help=PRODUCED),
            "records": widgets.integer("Records", 100, "Log end minus log start, summed over the partitions"),
            "retention": widgets.seconds_column("Retention", 92, "retention.ms, where it could be read"),
            "note": c.TextColumn("Note", width=220),
        },
    )
