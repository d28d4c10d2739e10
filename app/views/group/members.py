"""The table of a group's members."""

from typing import Any

import pandas as pd
import streamlit as st

from app.ui import downloads, formats, widgets
from app.ui.fitting import fitting, has_values
from app.ui.table_limits import MAX_ROWS
from app.views.group import tables
from app.views.group.view import GroupView
from lag.model import GroupType

MEMBERS_PX = 711
"""The room for the columns at a window of 1,440 pixels."""

OPTIONAL = frozenset({"epoch", "note", "instance", "rack"})
"""The columns that many groups have no values for."""

SPARE = ("member_id", "client", "instance", "rack", "host", "share", "moved")
"""The columns that are left out first if not all fit."""


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
    columns = {
        name: column
        for name, column in _columns(view.group.type).items()
        if name not in OPTIONAL or has_values(frame[name])
    }
    shown = fitting(columns, SPARE, MEMBERS_PX)
    widgets.table(
        frame[list(columns)],
        key="members",
        most=8,
        alt=f"Members of {view.group.group_id}: verdict, partitions, lag and its share, last progress, host",
        columns=columns,
        shown=shown,
    )


def _columns(type_: GroupType) -> dict[str, Any]:
    c = st.column_config
    return {
        "member": c.TextColumn("Member", width=126, pinned=True),
        "v": widgets.verdict_column(124, extra=[(tables.IDLE, "gray"), (tables.WAITING, "blue")]),
        "lag": widgets.integer("Lag", 84, "Records behind on its partitions"),
        "partitions": c.NumberColumn("Partitions", width=74),
        "share": c.ProgressColumn("Lag share", min_value=0, max_value=100, format="%.0f %%", width=84, color="gray"),
        "moved": widgets.seconds_column(*_last_moved(type_)),
        "epoch": c.TextColumn("Epoch", width=54, help="Member epoch, and the group's where it differs (KIP-848)"),
        "host": c.TextColumn("Host", width=80),
        "note": c.TextColumn("Note", width=150),
        "instance": c.TextColumn("Instance id", width=110),
        "rack": c.TextColumn("Rack", width=60),
        "client": c.TextColumn("Client id", width=120),
        "member_id": c.TextColumn("Member id", width=240),
    }


def _last_moved(type_: GroupType) -> tuple[str, int, str]:
    """Label, width and help of the column."""
    if type_ is GroupType.SHARE:
        return (
            "Last moved",
            84,
            "Time since the start offset of one of its partitions moved. Other members may read that partition too",
        )
    return (
        "Last commit",
        84,
        "Time since one of its committed offsets moved. A dash: none moved in the kept polls",
    )


def _no_members(view: GroupView) -> str:
    if view.group.problems:
        return f"Not known: {formats.md(view.group.problems[0].cause)}."
    if view.lags:
        if view.health.consume_rate:
            return "No members, but the group's offsets move: the application assigns partitions itself (`assign()`)."
        return "No members. The application is stopped, or it assigns partitions itself (`assign()`)."
    return "No members."
