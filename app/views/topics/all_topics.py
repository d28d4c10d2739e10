"""The Topics page without a topic: all of them."""

import pandas as pd
import streamlit as st

from app.ui import formats, required_report, state, verdicts, widgets
from app.ui.charts import limits
from app.ui.groups.deletion import DELETED_IN, two_units
from app.ui.table_limits import MAX_ROWS
from app.views.topics import charts, tables, text
from app.views.topics.state import topic_readers, topics_table

PRODUCED = (
    "Records per second over all partitions, from the polls of the last 3 minutes. "
    "A dash until two polls, including the last one, have read all partitions (see Note)"
)
COLUMNS = "topic w urgent_lag urgent_group deleted_in note v groups lag partitions produce records retention"


def all_topics(page: state.Shown) -> None:
    """All topics with their groups, lag, size and rate."""
    frame = topics_table(page)
    required_report.headline(page, text.all_topics(frame))
    with st.container(gap="xxsmall"):
        required_report.status_line(text.counts(frame), "")
        required_report.problems(page)
    if frame.empty:
        st.markdown("The cluster has no topics. Create one with `kafka-topics.sh --create`.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        rows = _filtered(frame)
        st.space("stretch")
        widgets.actions("topics", lambda: rows.drop(columns=["rank", "urgency"]))
    shown = rows.head(MAX_ROWS)
    _table(shown)
    widgets.row_count(len(shown), len(rows), "topic")
    _who_reads_what(page, rows)
    widgets.explain_verdicts()


def _who_reads_what(page: state.Shown, rows: pd.DataFrame) -> None:
    """The map of the topics that pass the filters and their groups, most urgent first."""
    topics = list(rows["topic"][rows["groups"] > 0])
    by_topic = topic_readers(page)
    groups = tables.by_group({topic: by_topic[topic] for topic in topics})
    if not groups:
        return
    seen = {reader.status for its in groups.values() for reader in its.values()}
    legend = f":small[{widgets.verdict_legend(seen)}]"
    wide, narrow = widgets.by_width("readers_map")
    with narrow:
        widgets.titled("Who reads what", ":gray[lag of each group by topic]")
        st.markdown(legend)
        _reader_list(tables.reader_rows(groups))
    if state.is_phone():
        return  # its window is narrow, and without a chart it need not load Plotly
    with wide:
        widgets.titled("Who reads what", ":gray[groups by topic, with their lag, in the colour of the group's verdict]")
        if len(topics) > limits.READER_TOPICS or len(groups) > limits.READER_GROUPS:
            widgets.note(text.map_limit(len(topics), len(groups)))
            return
        fig = charts.who_reads_what(topics, groups, state.palette())
        widgets.chart(fig, "who_reads_what", text.map_alt(len(topics), groups))
        st.markdown(legend)


def _reader_list(rows: pd.DataFrame) -> None:
    """The map as a list, for a window in which its cells would be too narrow to read."""
    widgets.table(
        rows[["name", "topic", "lag"]].head(MAX_ROWS),
        key="reader_list",
        most=16,
        alt=f"{formats.plural(len(rows), 'pair')} of group and topic, most urgent group first: lag",
        columns={
            "name": widgets.page_opener("Group", "open_listed", 146, rows["group"], "group", "group"),
            "topic": st.column_config.TextColumn("Topic", width=124),
            "lag": widgets.integer("Lag", 76, "Records behind in the topic"),
        },
    )


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
        deleted_in=widgets.timedeltas(two_units(rows["deleted_in_s"])),
        retention=widgets.timedeltas(rows["retention_s"]),
    )
    columns = [one for one in COLUMNS.split() if one != "note" or (rows["note"] != "").any()]
    c = st.column_config
    alike, colours = tables.STATES.values(), state.palette()
    widgets.table(
        view[columns],
        key="topics",
        most=22,
        alt=f"{formats.plural(len(view), 'topic')} by urgency: most urgent group, its verdict and lag, deletion, size",
        columns={
            "topic": widgets.page_opener("Topic", "open_topic", 150, rows["topic"], "topics", "topic"),
            "v": c.MultiselectColumn(
                "State", options=list(tables.STATES), color=[verdicts.tint(s, colours) for s in alike], width=92
            ),
            "partitions": c.NumberColumn("Partitions", width=72),
            "groups": c.NumberColumn("Groups", width=58, help="Groups with an offset in the topic"),
            "w": widgets.verdict_column(124, "Worst verdict"),
            "urgent_lag": widgets.integer("Lag", 78, "Records behind in the topic, for the group with this verdict"),
            "urgent_group": c.TextColumn(
                "Group", width=154, help="The group with the highest lag among those with this verdict"
            ),
            "deleted_in": widgets.seconds_column("Deleted in", 94, f"{DELETED_IN}. For the group with the least time"),
            "lag": widgets.integer("Total lag", 80, "Records behind, summed over the groups"),
            "produce": c.NumberColumn("Produced/s", format="%.1f", width=78, help=PRODUCED),
            "records": widgets.integer("Records", 82, "Log end minus log start, summed over the partitions"),
            "retention": widgets.seconds_column("Retention", 88, "retention.ms, where it could be read"),
            "note": c.TextColumn("Note", width=148),
        },
    )
