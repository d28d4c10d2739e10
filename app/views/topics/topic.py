"""The pieces of the Topics page once a topic is chosen: its groups, and its partitions."""

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_LAG_COLUMNS, MAX_OPTIONS, MAX_ROWS
from app.views.topics import state as cached
from app.views.topics import text as sentences
from app.views.topics import topic_tables as tables
from app.views.topics.topic_tables import TopicView
from lag.model import FOREVER, Topic

LEFT = (
    "How long, at the earliest, until deletion reaches the oldest record that the group has not read: retention.ms "
    "less the age of that record, or the way to the log start at the pace of the last deletions, whichever is less"
)
LEAD = (
    "How far the lowest position stands above the log start, as a share of the log. "
    "Near 0 % with lag, retention is about to delete records that were not read"
)


def one_topic(page: state.Shown, name: str) -> None:
    """One topic: its groups, then partitions by group."""
    topic, view = page.report.snapshot.topics.get(name), cached.topic(page, name)
    left, right = st.columns([0.8, 0.2], vertical_alignment="bottom")
    with left:
        widgets.headline(page, sentences.topic(name, topic, view.readers, tables.soon(view.readers)))
    with right:
        _picker(page, name)
    if topic is None and view.readers.empty:
        widgets.status_line("It was deleted, or the link is for another cluster.", "")
        return
    with st.container(gap="xxsmall"):
        widgets.status_line("", facts(cached.topics(page), name, topic), small=True)
    _partitions(view, _readers(view.readers), name)


def facts(frame: pd.DataFrame, name: str, topic: Topic | None) -> str:
    """The line of numbers under the headline."""
    row = frame[frame["topic"] == name].iloc[0]
    known = pd.notna(row["records"])
    parts = [
        formats.plural(topic.partitions, "partition") if topic else "deleted",
        f"{formats.plural(int(row['records']), 'record')} in the log" if known else "log size not known",
        f"{formats.rate(row['produce'])} records/s produced" if pd.notna(row["produce"]) else _no_rate(row),
        _retention(topic) if topic else "",
        f"{len(topic.leaderless)} without a leader" if topic and topic.leaderless else "",
    ]
    return " · ".join(part for part in parts if part)


def _no_rate(row: pd.Series) -> str:
    return f"produce rate not known: {row['produce_why']}" if row["produce_why"] else "produce rate not known"


def _retention(topic: Topic) -> str:
    if topic.retention_ms is None:
        return "retention not known"
    return (
        "kept for ever" if topic.retention_ms == FOREVER else f"retention {formats.duration(topic.retention_ms / 1000)}"
    )


def _picker(page: state.Shown, chosen: str) -> None:
    frame = cached.topics(page)
    options = sorted(frame["topic"][~frame["internal"]].head(MAX_OPTIONS))
    st.session_state["topic_pick"] = chosen
    st.selectbox(
        "Topic",
        options if chosen in options else [chosen, *options],
        key="topic_pick",
        label_visibility="collapsed",
        on_change=lambda: state.set_url("topic", st.session_state["topic_pick"]),
    )


def _readers(readers: pd.DataFrame) -> pd.DataFrame:
    """The groups of the topic; returns those that pass the filter."""
    legend = f":gray[{len(readers):,} with a position in this topic]"
    if readers.empty:
        widgets.titled("Groups", legend)
        st.markdown(":gray[No group reads this topic, or none has committed yet.]")
        return readers
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            widgets.titled("Groups", legend)
            st.space("stretch")
            rows = widgets.containing(readers, widgets.text_filter("Group", "readers_q", 160), "group")
            widgets.downloads("readers", lambda: tables.export(rows))
        _readers_table(rows.head(MAX_ROWS))
        if len(rows) > MAX_ROWS:
            widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} groups. Filter to see others.")
        elif rows.empty:
            widgets.note("No group passes this filter.")
    return rows


def _readers_table(rows: pd.DataFrame) -> None:
    left = widgets.timedeltas(tables.two_units(rows["left_s"]))
    view = rows.assign(v=widgets.as_tags(rows["verdict"]), left=left)
    c = st.column_config
    widgets.table(
        view[["group", "v", "lag", "known", "left", "where", "lead", "lost"]],
        key="readers",
        most=8,
        alt="Groups that read this topic, most urgent first: lag, and how long until deletion reaches their position",
        columns={
            "group": widgets.opener(
                "Group", "open_reader", 200, widgets.open_on_click("open_reader", list(rows["group"]), "group", "group")
            ),
            "v": widgets.verdict_column(),
            "lag": widgets.integer("Lag in this topic", 120),
            "known": c.TextColumn("Known for", width=90, alignment="right"),
            "left": widgets.seconds_column("Retention left", 110, LEFT),
            "where": c.TextColumn("Least on", width=230, help="Where the least is left, or why it is not known"),
            "lead": c.ProgressColumn(
                "Above log start",
                min_value=0,
                max_value=100,
                format="%.0f %%",
                color="gray",
                width=130,
                help=LEAD,
            ),
            "lost": widgets.integer("Lost, records", 110, "Deleted before the group read them"),
        },
    )


def _partitions(view: TopicView, readers: pd.DataFrame, name: str) -> None:
    """The partitions, beside them the lag of the most urgent of `readers`."""
    matrix = tables.with_lags(view, list(readers["group"].head(MAX_LAG_COLUMNS)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{len(matrix):,}, with the lag of each group in records]")
        st.space("stretch")
        widgets.actions("topic", lambda: matrix)
    _matrix(matrix.head(MAX_ROWS), name)
    if len(readers) > MAX_LAG_COLUMNS:
        widgets.note(
            f"The lag of the {MAX_LAG_COLUMNS} most urgent of {len(readers):,} groups. Filter the groups to see others."
        )
    if len(matrix) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(matrix):,} partitions; the files have all.")


def _matrix(rows: pd.DataFrame, name: str) -> None:
    lags = [column for column in rows.columns if column.startswith("lag: ")]
    hidden = [c for c in ("problem",) if not (rows[c] != "").any()]
    c = st.column_config
    widgets.table(
        rows.drop(columns=hidden),
        key="matrix",
        most=16,
        alt=f"Partitions of {name} with offsets, and the lag of each group",
        columns={
            "partition": c.NumberColumn("Partition", width=76, pinned=True),
            "leader": c.NumberColumn("Leader", width=70, help="Broker id; a dash where there is none"),
            "log_start": widgets.integer("Log start", 104),
            "last_stable": widgets.integer("Last stable", 104),
            "log_end": widgets.integer("Log end", 104),
            "problem": c.TextColumn("Problem", width=220),
            **{column: widgets.integer(column.removeprefix("lag: "), 130) for column in lags},
        },
    )
