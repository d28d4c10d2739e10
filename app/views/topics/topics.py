"""The pieces of the Topics page while no topic is chosen: all of them."""

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.topics import state as cached
from app.views.topics import tables
from app.views.topics import text as sentences

PRODUCED = (
    "Records a second, between own samples of the last 3 minutes, all partitions together; a dash where two polls have "
    "not read all of them yet (see Note)"
)


def all_topics(page: state.Shown) -> None:
    """Every topic: who reads it, how much it holds, how far the slowest group is behind."""
    frame = cached.topics(page)
    widgets.headline(page, sentences.topics(frame))
    with st.container(gap="xxsmall"):
        widgets.status_line(sentences.topics_more(frame), "")
        widgets.problems(page)
    if frame.empty:
        st.markdown(
            "The cluster has no topic yet. It gets one when a producer writes, or with `kafka-topics --create`."
        )
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        rows = _filtered(frame)
        st.space("stretch")
        widgets.actions("topics", lambda: rows.drop(columns=["rank"]))
    _table(rows.head(MAX_ROWS))
    if len(rows) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} topics. Filter to see others.")
    elif rows.empty:
        widgets.note("No topic passes these filters.")


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    text = widgets.text_filter("Topic", "topics_q", 360)
    read_only = st.toggle("Only topics that are read", key="read", bind="query-params")
    internal = st.toggle("Internal topics", key="internal_topics", bind="query-params")
    rows = frame if internal else frame[~frame["internal"]]
    rows = rows[rows["groups"] > 0] if read_only else rows
    return widgets.containing(rows, text, "topic")


def _table(rows: pd.DataFrame) -> None:
    view = rows.assign(v=widgets.as_tags(rows["state"]), retention=widgets.timedeltas(rows["retention_s"]))
    view = view.assign(w=rows["worst_status"].map(lambda label: [label] if label else None))
    notes = ["note"] if (rows["note"] != "").any() else []
    columns = [
        "topic",
        "v",
        "partitions",
        "groups",
        "worst_lag",
        "worst_group",
        "w",
        "lag",
        "produce",
        "records",
        "retention",
        *notes,
    ]
    c = st.column_config
    widgets.table(
        view[columns],
        key="topics",
        most=22,
        alt=f"{formats.plural(len(view), 'topic')}: partitions, groups, worst lag, records, produce rate, retention",
        columns={
            "topic": widgets.opener(
                "Topic", "open_topic", 190, widgets.open_on_click("open_topic", list(rows["topic"]), "topics", "topic")
            ),
            "v": c.MultiselectColumn(
                "State", options=[s for s, _ in tables.STATES], color=[k for _, k in tables.STATES], width=104
            ),
            "partitions": c.NumberColumn("Partitions", width=76),
            "groups": c.NumberColumn("Groups", width=64, help="Groups with a position in it"),
            "worst_lag": c.NumberColumn(
                "Worst lag", format="localized", width=92, help="Records behind, of the group that is furthest behind"
            ),
            "worst_group": c.TextColumn("Slowest group", width=170),
            "w": widgets.verdict_column(124),
            "lag": c.NumberColumn("Lag of all", format="localized", width=92),
            "produce": c.NumberColumn("Produced/s", format="%.1f", width=84, help=PRODUCED),
            "records": c.NumberColumn(
                "Records", format="localized", width=100, help="Log end minus log start, all partitions"
            ),
            "retention": widgets.seconds_column("Retention", 92, "retention.ms, where it could be read"),
            "note": c.TextColumn("Note", width=220),
        },
    )
