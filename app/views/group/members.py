"""The table of a group's members."""

import pandas as pd
import streamlit as st

from app.ui import downloads, formats, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.group import tables
from app.views.group.view import GroupView
from lag.model import GroupType

COLUMNS = "member v lag partitions share moved epoch host note instance rack client member_id"


def members(view: GroupView) -> None:
    """The members, most urgent first."""
    idle = len(view.idle_members())
    legend = f":gray[{len(view.group.members)}{f', {idle} idle' if idle else ''}]"
    if not view.group.members:
        widgets.titled("Members", legend)
        st.markdown(f":gray[{_no_members(view)}]")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Members", legend)
        st.space("stretch")
        text = widgets.text_filter("Member", "members_q", 160)
        rows = widgets.containing(tables.members(view), text, *tables.MEMBER_NAMES)
        downloads.buttons("members", lambda: rows.drop(columns=["rank"]))
    shown = rows.head(MAX_ROWS)
    _members_table(view, shown)
    widgets.row_count(len(shown), len(rows), "member")


def _members_table(view: GroupView, frame: pd.DataFrame) -> None:
    frame = frame.assign(v=widgets.as_tags(frame["verdict"]), moved=widgets.timedeltas(frame["last_moved_s"]))
    empty = [name for name in ("epoch", "note", "instance", "rack") if not frame[name].replace("", None).notna().any()]
    c = st.column_config
    widgets.table(
        frame[COLUMNS.split()].drop(columns=empty),
        key="members",
        most=8,
        alt=f"Members of {view.group.group_id}: verdict, partitions, lag and its share, last progress, host",
        columns={
            "member": c.TextColumn("Member", width=126, pinned=True),
            "v": widgets.verdict_column(124, extra=[(tables.IDLE, "gray"), (tables.WAITING, "blue")]),
            "partitions": c.NumberColumn("Partitions", width=74),
            "lag": widgets.integer("Lag", 84, "Records behind on its partitions"),
            "share": c.ProgressColumn("Lag share", min_value=0, max_value=100, format="%d %%", width=84, color="gray"),
            "moved": widgets.seconds_column(*_last_moved(view.group.type)),
            "host": c.TextColumn("Host", width=80),
            "rack": c.TextColumn("Rack", width=60),
            "instance": c.TextColumn("Instance id", width=110),
            "epoch": c.TextColumn("Epoch", width=54, help="Member epoch, and the group's where it differs (KIP-848)"),
            "note": c.TextColumn("Note", width=150),
            "client": c.TextColumn("Client id", width=120),
            "member_id": c.TextColumn("Member id", width=240),
        },
    )


def _last_moved(type_: GroupType) -> tuple[str, int, str]:
    """Label, width and help of the column."""
    if type_ is GroupType.SHARE:
        return "Last moved", 84, "Time since the start offset of one of its partitions moved, which it may share"
    return "Last commit", 84, "Time since one of its committed offsets moved"


def _no_members(view: GroupView) -> str:
    if view.group.problems:
        return f"Not known: {formats.md(view.group.problems[0].cause)}."
    if view.lags:
        return "No members. The application is stopped, or it assigns partitions itself (`assign()`)."
    return "No members."
