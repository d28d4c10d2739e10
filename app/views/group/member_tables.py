"""The tables of the Group page: its members, its partitions."""

import pandas as pd
import streamlit as st

from app.ui import formats, widgets
from app.ui.table_limits import MAX_ROWS, MAX_SPARKLINE_ROWS
from app.views.group import tables
from app.views.group.tables import GroupView


def members(view: GroupView) -> None:
    """The members, the one in trouble first."""
    idle = len(view.idle_members())
    legend = f":gray[{len(view.group.members)}{f', {idle} of them idle' if idle else ''}]"
    if not view.group.members:
        widgets.titled("Members", legend)
        st.markdown(f":gray[{_no_members(view)}]")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Members", legend)
        st.space("stretch")
        text = widgets.text_filter("Member", "members_q", 160)
        rows = widgets.containing(tables.members(view), text, *tables.MEMBER_NAMES)
        widgets.downloads("members", lambda: rows.drop(columns=["rank"]))
    _members_table(view, rows.head(MAX_ROWS))
    if len(rows) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(rows):,} members. Filter to see others; the downloads hold all.")
    elif rows.empty:
        widgets.note("No member passes this filter.")


def _members_table(view: GroupView, frame: pd.DataFrame) -> None:
    frame = frame.assign(v=widgets.as_tags(frame["verdict"]), moved=widgets.timedeltas(frame["last_moved_s"]))
    said = [c for c in ("epoch", "note", "instance", "rack") if frame[c].replace("", None).notna().any()]
    epoch, more = [c for c in said if c == "epoch"], [c for c in said if c != "epoch"]
    columns = ["member", "v", *epoch, "partitions", "lag", "share", "moved", "host", *more, "client", "member_id"]
    c = st.column_config
    widgets.table(
        frame[columns],
        key="members",
        most=8,
        alt=f"Members of {view.group.group_id}: verdict, partitions, lag and its share, last commit, host",
        columns={
            "member": c.TextColumn("Member", width=126, pinned=True),
            "v": widgets.verdict_column(124, extra=[(tables.IDLE, "gray"), (tables.WAITING, "blue")]),
            "partitions": c.NumberColumn("Partitions", width=74),
            "lag": widgets.integer("Lag, records", 84),
            "share": c.ProgressColumn("Lag share", min_value=0, max_value=100, format="%d %%", width=84, color="gray"),
            "moved": widgets.seconds_column("Last commit", 84, "Time since any of its committed offsets moved"),
            "host": c.TextColumn("Host", width=80),
            "rack": c.TextColumn("Rack", width=60),
            "instance": c.TextColumn("Instance id", width=110),
            "epoch": c.TextColumn("Epoch", width=54, help="Member epoch, and the group's where it differs (KIP-848)"),
            "note": c.TextColumn("Note", width=150),
            "client": c.TextColumn("Client id", width=120),
            "member_id": c.TextColumn("Member id", width=240),
        },
    )


def _no_members(view: GroupView) -> str:
    if view.group.problems:
        return f"Not known: {formats.md(view.group.problems[0].cause)}."
    if view.lags:
        return (
            "None. The offsets stand, but nobody reads: a stopped application, or one that assigns partitions itself."
        )
    return "None."


def found(frame: pd.DataFrame) -> pd.DataFrame:
    """The partitions that the reader asks for, by part of "topic-partition" or of the owner."""
    if frame.empty:
        return frame
    text = widgets.text_filter("Topic, partition or owner", "partitions_q")
    names = frame["topic"] + "-" + frame["partition"].astype(str)
    return widgets.containing(frame.assign(name=names), text, "name", "owner")


def partitions(frame: pd.DataFrame, of: int) -> None:
    """The table of those of the group's `of` partitions that pass the filter."""
    if frame.empty:
        nothing = "No partition passes this filter." if of else "Nothing is committed, assigned or subscribed."
        st.markdown(f":gray[{nothing}]")
        return
    shown = frame.head(MAX_ROWS)
    sparklines = len(shown) <= MAX_SPARKLINE_ROWS
    view = shown.assign(v=widgets.as_tags(shown["verdict"]), time_lag=widgets.timedeltas(shown["time_lag_s"]))
    extra = [name for name in ("lost", "held") if (frame[name] > 0).any()]
    one_topic = frame["topic"].nunique() == 1
    columns = [
        *([] if one_topic else ["topic"]),
        "partition",
        "v",
        "owner",
        "lag",
        "time_lag",
        "drains",
        *(["trend"] if sparklines else []),
        "note",
        *extra,
        "produce",
        "consume",
        "committed",
        "log_end",
        "last_stable",
        "log_start",
        *(["topic"] if one_topic else []),
    ]
    c = st.column_config
    widgets.table(
        view[columns],
        key="partitions",
        most=16,
        alt=f"{formats.plural(len(view), 'partition')}, worst first: verdict, owner, lag, time lag, rates and offsets",
        columns={
            "topic": c.TextColumn("Topic", width=120, pinned=not one_topic),
            "partition": c.NumberColumn("Partition", width=72, pinned=True),
            "v": widgets.verdict_column(),
            "owner": c.TextColumn("Owner", width=146),
            "lag": widgets.integer("Lag, records", 92),
            "time_lag": widgets.seconds_column("Time lag", 104, "Age of the oldest record not yet committed"),
            "drains": c.TextColumn("Drains in", width=76, alignment="right"),
            "trend": c.LineChartColumn("Lag, kept", width=90, color="gray", y_min=0, y_max=1),
            "note": c.TextColumn("Note", width=210, help="What the numbers do not say"),
            "lost": c.NumberColumn(
                "Lost, records", format="localized", width=92, help="Deleted before the group read them"
            ),
            "held": c.NumberColumn(
                "Held, records", format="localized", width=92, help="Above the last stable offset: an open transaction"
            ),
            "produce": c.NumberColumn("Produced/s", format="%.1f", width=86),
            "consume": c.NumberColumn("Committed/s", format="%.1f", width=92),
            "committed": widgets.integer("Committed", 100),
            "log_end": widgets.integer("Log end", 100, "High watermark"),
            "last_stable": widgets.integer("Last stable", 100),
            "log_start": widgets.integer("Log start", 100),
        },
    )
    if len(frame) > len(shown):
        most = f"The {len(shown):,} most urgent of {len(frame):,} partitions."
        widgets.note(f"{most} Filter to see others; the downloads hold all.")
