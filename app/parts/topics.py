"""The pieces of the Topics page: all topics, and one of them."""

import pandas as pd
import streamlit as st

from app import formats, sentences, state, widgets
from app.tables import topics as tables
from app.tables.overview import MOST_ROWS
from lag.model import FOREVER, Topic

MOST_OPTIONS = 5_000
LEAD = (
    "How far the lowest position stands above the log start, as a share of the log. "
    "Near 0 % with lag, retention is about to delete records that were not read"
)


def all_topics(page: state.Shown) -> None:
    """Every topic: who reads it, how much it holds, how far the slowest group is behind."""
    frame = state.topics(page)
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
    _table(rows.head(MOST_ROWS))
    if len(rows) > MOST_ROWS:
        widgets.note(f"The first {MOST_ROWS:,} of {len(rows):,} topics. Filter to see others.")
    elif rows.empty:
        widgets.note("No topic passes these filters.")


def _filtered(frame: pd.DataFrame) -> pd.DataFrame:
    text = st.text_input(
        "Topic contains",
        placeholder="Topic…",
        key="topics_q",
        bind="query-params",
        type="search",
        live="150ms",
        label_visibility="collapsed",
        width=360,
    )
    read_only = st.toggle("Only topics that are read", key="read", bind="query-params")
    internal = st.toggle("Internal topics", key="internal_topics", bind="query-params")
    rows = frame if internal else frame[~frame["internal"]]
    rows = rows[rows["groups"] > 0] if read_only else rows
    return rows[rows["topic"].str.contains(text, case=False, regex=False)] if text else rows


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
            "produce": c.NumberColumn(
                "Produced/s", format="%.1f", width=84, help="Between own samples; known for topics that a group reads"
            ),
            "records": c.NumberColumn(
                "Records", format="localized", width=100, help="Log end minus log start, all partitions"
            ),
            "retention": widgets.seconds_column("Retention", 92, "retention.ms, where it could be read"),
            "note": c.TextColumn("Note", width=220),
        },
    )


def one_topic(page: state.Shown, name: str) -> None:
    """One topic: its groups, then partitions by group."""
    snapshot, health = page.report.snapshot, page.report.health
    topic, readers = snapshot.topics.get(name), tables.groups_of(snapshot, health, name)
    left, right = st.columns([0.8, 0.2], vertical_alignment="bottom")
    with left:
        widgets.headline(page, sentences.topic(name, topic, readers))
    with right:
        _picker(page, name)
    if topic is None and readers.empty:
        widgets.status_line("It was deleted, or the link is for another cluster.", "")
        return
    with st.container(gap="xxsmall"):
        widgets.status_line("", facts(state.topics(page), name, topic), small=True)
    matrix = tables.matrix(snapshot, name)
    _readers(readers, tables.risks(snapshot, health, name))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Partitions", f":gray[{len(matrix):,}, with the lag of each group in records]")
        st.space("stretch")
        widgets.actions("topic", lambda: matrix)
    _matrix(matrix, name)


def facts(frame: pd.DataFrame, name: str, topic: Topic | None) -> str:
    """The line of numbers under the headline."""
    row = frame[frame["topic"] == name].iloc[0]
    known = pd.notna(row["records"])
    parts = [
        formats.plural(topic.partitions, "partition") if topic else "deleted",
        f"{formats.plural(int(row['records']), 'record')} in the log" if known else "log size not known",
        f"{formats.rate(row['produce'])} records/s produced" if pd.notna(row["produce"]) else "produce rate not known",
        _retention(topic) if topic else "",
        f"{len(topic.leaderless)} without a leader" if topic and topic.leaderless else "",
    ]
    return " · ".join(part for part in parts if part)


def _retention(topic: Topic) -> str:
    if topic.retention_ms is None:
        return "retention not known"
    return (
        "kept for ever" if topic.retention_ms == FOREVER else f"retention {formats.duration(topic.retention_ms / 1000)}"
    )


def _picker(page: state.Shown, chosen: str) -> None:
    frame = state.topics(page)
    options = sorted(frame["topic"][~frame["internal"]].head(MOST_OPTIONS))
    st.session_state["topic_pick"] = chosen
    st.selectbox(
        "Topic",
        options if chosen in options else [chosen, *options],
        key="topic_pick",
        label_visibility="collapsed",
        on_change=lambda: state.set_url("topic", st.session_state["topic_pick"]),
    )


def _readers(readers: pd.DataFrame, risks: pd.DataFrame) -> None:
    with st.container(gap="xxsmall"):
        widgets.titled("Groups", f":gray[{len(readers)} with a position in this topic]")
        if readers.empty:
            st.markdown(":gray[No group reads this topic, or none has committed yet.]")
            return
        worst = risks.groupby("group").agg(lead=("lead_share", "min"), lost=("lost_records", "sum"))
        view = readers.join(worst, on="group").assign(v=widgets.as_tags(readers["verdict"]))
        c = st.column_config
        widgets.table(
            view[["group", "v", "lag", "known", "lead", "lost"]],
            key="readers",
            most=8,
            alt="Groups that read this topic, most urgent first",
            columns={
                "group": widgets.opener(
                    "Group",
                    "open_reader",
                    200,
                    widgets.open_on_click("open_reader", list(readers["group"]), "group", "group"),
                ),
                "v": widgets.verdict_column(),
                "lag": c.NumberColumn("Lag in this topic", format="localized", width=120),
                "known": c.TextColumn("Known for", width=90, alignment="right"),
                "lead": c.ProgressColumn(
                    "Above log start",
                    min_value=0,
                    max_value=100,
                    format="%.0f %%",
                    color="gray",
                    width=130,
                    help=LEAD,
                ),
                "lost": c.NumberColumn(
                    "Lost, records", format="localized", width=110, help="Deleted before the group read them"
                ),
            },
        )


def _matrix(matrix: pd.DataFrame, name: str) -> None:
    lags = [column for column in matrix.columns if column.startswith("lag: ")]
    hidden = [c for c in ("problem",) if not (matrix[c] != "").any()]
    c = st.column_config
    number = {
        column: c.NumberColumn(label, format="localized", width=104)
        for column, label in (("log_start", "Log start"), ("last_stable", "Last stable"), ("log_end", "Log end"))
    }
    widgets.table(
        matrix.drop(columns=hidden).head(MOST_ROWS),
        key="matrix",
        most=16,
        alt=f"Partitions of {name} with offsets, and the lag of each group",
        columns={
            "partition": c.NumberColumn("Partition", width=76, pinned=True),
            "leader": c.NumberColumn("Leader", width=70, help="Broker id; a dash where there is none"),
            **number,
            "problem": c.TextColumn("Problem", width=220),
            **{column: c.NumberColumn(column.removeprefix("lag: "), format="localized", width=130) for column in lags},
        },
    )
