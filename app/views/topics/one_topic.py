"""The Topics page with a topic: its groups and partitions."""

import pandas as pd
import streamlit as st

from app.ui import downloads, required_report, state, widgets
from app.ui.groups.deletion import DELETED_IN, two_units
from app.ui.groups.headlines import clocks
from app.ui.table_limits import MAX_LAG_COLUMNS, MAX_OPTIONS, MAX_ROWS
from app.views.topics import text, topic_tables
from app.views.topics.state import topic_view, topics_table
from app.views.topics.topic_tables import TopicView

ABOVE_LOG_START = (
    "Distance of the group's lowest offset from the log start, as a percentage of the log. "
    "Near 0 % and with lag: retention is about to delete unread records"
)


def one_topic(page: state.Shown, name: str) -> None:
    """One topic: its groups, and the lag of each per partition."""
    topic, view = page.report.snapshot.topics.get(name), topic_view(page, name)
    left, right = st.columns([0.8, 0.2], vertical_alignment="bottom")
    with left:
        required_report.headline(page, text.one_topic(name, topic, view.readers, topic_tables.soon(view.readers)))
    with right:
        topics = topics_table(page)
        options = sorted(topics["topic"][~topics["internal"]].head(MAX_OPTIONS))
        widgets.picker("Topic", options, name, "topic_pick", lambda topic: state.set_url("topic", topic))
    if topic is None and view.readers.empty:
        required_report.status_line("It was deleted, or the link is for another cluster.", "")
        return
    with st.container(gap="xxsmall"):
        required_report.status_line("", text.facts(topics, name, topic), small=True)
    _partitions(view, _readers(view.readers, page.report.snapshot.at_ms), name)
    widgets.explain_verdicts()


def _readers(readers: pd.DataFrame, at_ms: int) -> pd.DataFrame:
    """The table of the topic's groups; returns the groups that pass the filter."""
    legend = f":gray[{len(readers):,} with an offset in this topic]"
    if readers.empty:
        widgets.titled("Groups", legend)
        st.markdown(":gray[No group has an offset in this topic.]")
        return readers
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            widgets.titled("Groups", legend)
            st.space("stretch")
            rows = widgets.containing(readers, widgets.text_filter("Group", "readers_q", 160), "group")
            downloads.buttons("readers", lambda: topic_tables.export(rows))
        shown = rows.head(MAX_ROWS)
        _readers_table(shown, at_ms)
        widgets.row_count(len(shown), len(rows), "group")
    return rows


def _readers_table(rows: pd.DataFrame, at_ms: int) -> None:
    left = widgets.timedeltas(two_units(rows["left_s"]))
    since = clocks(rows["onset"], at_ms, state.zone())
    view = rows.assign(v=widgets.as_tags(rows["verdict"]), left=left, since=since)
    c = st.column_config
    widgets.table(
        view[["group", "v", "lag", "since", "known", "left", "where", "lead", "lost"]],
        key="readers",
        most=8,
        alt="Groups that read this topic, most urgent first: lag, and how long until deletion reaches their position",
        columns={
            "group": widgets.page_opener("Group", "open_reader", 152, rows["group"], "group", "group"),
            "v": widgets.verdict_column(124),
            "since": widgets.since_column(),
            "lag": widgets.integer("Lag", 84, "Records behind in this topic"),
            "known": c.TextColumn("Known for", width=90, alignment="right"),
            "left": widgets.seconds_column("Deleted in", 94, DELETED_IN),
            "where": c.TextColumn(
                "Partition",
                width=230,
                help="The one whose unread records are deleted first, or why it is unknown",
            ),
            "lead": c.ProgressColumn(
                "Above log start",
                min_value=0,
                max_value=100,
                format="%.0f %%",
                color="gray",
                width=130,
                help=ABOVE_LOG_START,
            ),
            "lost": widgets.integer("Lost, records", 110, "Deleted before the group read them"),
        },
    )


def _partitions(view: TopicView, readers: pd.DataFrame, name: str) -> None:
    """The table of partitions with the lag of the most urgent of `readers`."""
    matrix = topic_tables.with_lags(view, list(readers["group"].head(MAX_LAG_COLUMNS)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{len(matrix):,}, with the lag of each group, records]")
        st.space("stretch")
        widgets.actions("topic", lambda: matrix)
    _matrix(matrix.head(MAX_ROWS), name)
    if len(readers) > MAX_LAG_COLUMNS:
        widgets.note(
            f"Lag of the {MAX_LAG_COLUMNS} most urgent of {len(readers):,} groups. Filter the groups to see others."
        )
    if len(matrix) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(matrix):,} partitions; downloads contain all.")


def _matrix(rows: pd.DataFrame, name: str) -> None:
    lags = [column for column in rows.columns if column.startswith("lag: ")]
    without = [] if (rows["problem"] != "").any() else ["problem"]
    without += ["last_stable"] if rows["last_stable"].equals(rows["log_end"]) else []
    offsets = [column for column in rows.columns if column not in {"partition", "problem", *lags}]
    order = [name for name in ("partition", *lags, "problem", *offsets) if name not in without]
    c = st.column_config
    widgets.table(
        rows[order],
        key="matrix",
        most=16,
        alt=f"Partitions of {name} with offsets, and the lag of each group",
        columns={
            "partition": c.NumberColumn("Partition", width=76, pinned=True),
            "leader": c.NumberColumn("Leader", width=70, help="Broker id; a dash without a leader"),
            "log_start": widgets.integer("Log start", 104),
            "last_stable": widgets.integer("Last stable", 104),
            "log_end": widgets.integer("Log end", 104),
            "problem": c.TextColumn("Problem", width=220),
            **{column: widgets.integer(column.removeprefix("lag: "), 130) for column in lags},
        },
    )
