"""The table of a group's partitions."""

from typing import Any

import pandas as pd
import streamlit as st

from app.ui import formats, widgets
from app.ui.fitting import fitting, has_values
from app.ui.table_limits import MAX_ROWS, MAX_SPARKLINE_ROWS
from app.ui.widgets import Column
from lag.model import GroupType
from lag.verdict.offset_terms import offset_terms

SPARE = ("produce", "consume", "trend")
"""The columns that are left out first if not all fit."""

COMMITTED = Column("Committed", 92)
START_OFFSET = Column(
    "Start offset",
    92,
    "All records below it are acknowledged or archived. The broker also excludes acknowledged records above it from "
    "the lag (KIP-1226)",
)
"""The column of a share group in place of COMMITTED."""


def filtered(frame: pd.DataFrame) -> pd.DataFrame:
    """The partitions that pass the text filter on "topic-partition" and owner."""
    if frame.empty:
        return frame
    text = widgets.text_filter("Topic, partition or owner", "partitions_q")
    names = frame["topic"] + "-" + frame["partition"].astype(str)
    return widgets.containing(frame.assign(name=names), text, "name", "owner", "owner_in_full")


def partitions(frame: pd.DataFrame, of: int, type_: GroupType) -> None:
    """The table of the partitions that pass the filter, of `of` in all."""
    if frame.empty:
        why = (
            "passes the filter"
            if of
            else f"has a {offset_terms(type_).offset}, is assigned, or belongs to a subscribed topic"
        )
        st.markdown(f":gray[No partition {why}.]")
        return
    without = _without(frame)
    columns = {name: column for name, column in _columns(type_).items() if name not in without}
    shown = fitting(columns, SPARE if "lost" in columns else ("log_start", *SPARE))
    rows = frame.head(MAX_ROWS)
    rows = rows.assign(v=widgets.as_tags(rows["verdict"]), time_lag=widgets.timedeltas(rows["time_lag_s"]))
    widgets.table(
        rows[list(columns)],
        key="partitions",
        most=16,
        alt=f"{formats.plural(len(rows), 'partition')}, most urgent first: verdict, owner, lag, rates, offsets",
        columns=columns,
        shown=shown,
    )
    widgets.row_count(len(rows), len(frame), "partition")


def _without(rows: pd.DataFrame) -> set[str]:
    """The columns that say nothing about these partitions."""
    empty = {name for name in ("owner", "note") if not has_values(rows[name])}
    zero = {name for name in ("lost", "held") if not (rows[name] > 0).any()}
    topic = {"topic"} if rows["topic"].nunique() == 1 else set()
    stable = {"last_stable"} if rows["last_stable"].equals(rows["log_end"]) else set()
    return empty | zero | topic | stable | ({"trend"} if len(rows) > MAX_SPARKLINE_ROWS else set())


def _columns(type_: GroupType) -> dict[str, Any]:
    c, is_shared = st.column_config, type_ is GroupType.SHARE
    done = offset_terms(type_).done
    return {
        "topic": c.TextColumn("Topic", width=110, pinned=True),
        "partition": c.NumberColumn("Partition", width=72, pinned=True),
        "v": widgets.verdict_column(124),
        "lag": widgets.integer("Lag, records", 84),
        "owner": c.TextColumn("Members" if is_shared else "Owner", width=130),
        "time_lag": widgets.seconds_column("Time lag", 92, f"Age of the oldest record that is not {done} yet"),
        "drains": c.TextColumn("Drains in", width=72, alignment="right"),
        "trend": c.LineChartColumn("Lag trend", width=80, color="gray", y_min=0, y_max=1),
        "note": c.TextColumn("Note", width=186, help="Problems, losses and evidence"),
        "lost": widgets.integer("Lost, records", 92, "Deleted before the group read them"),
        "held": widgets.integer("Held, records", 92, "Above the last stable offset, because of an open transaction"),
        "produce": c.NumberColumn("Produced/s", format="%.1f", width=82),
        "consume": c.NumberColumn(
            f"{done.capitalize()}/s",
            format="%.1f",
            width=122 if is_shared else 94,
            help="How fast the start offset moves" if is_shared else None,
        ),
        "committed": widgets.integer(*(START_OFFSET if is_shared else COMMITTED)),
        "log_end": widgets.integer("Log end", 92, "High watermark"),
        "last_stable": widgets.integer("Last stable", 92, "Last stable offset"),
        "log_start": widgets.integer("Log start", 92),
    }
