"""The tables of one group on the History page: cells of the span, partitions, error budgets."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.history import parts, tables, text
from lag.history.span import DAY, Scope, Span


def cells(frame: pd.DataFrame, span: Span) -> None:
    """How often: one row for each cell of the span."""
    unit = parts.CELLS[span.cell]
    legend = ":gray[newest first, UTC days]" if span.cell == DAY else ":gray[newest first]"
    widgets.titled_table(f"By {unit}", legend, "hours", tables.cells_export(frame))
    begins = partial(parts.cell_start, length=span.cell, local=state.local())
    view = frame.assign(at=tables.local(frame["at_us"], begins), oldest=widgets.timedeltas(frame["time_lag_s"]))
    optional = ["p95_records"] if _has_values(frame["p95_records"]) else []
    has_verdicts = "rank" in frame
    if has_verdicts:
        view["v"] = widgets.as_tags(tables.labels(frame["rank"]))
        view["trouble"] = widgets.timedeltas(60 * frame["trouble_minutes"].astype("float"))
        optional += ["v", "trouble", "rebalances", "joins", "leaves"]
        optional += ["churn"] if _has_values(frame["churn"]) else []
    c = st.column_config
    widgets.table(
        view[["at", "most_records", "oldest", *optional]],
        key="history_hours",
        most=12,
        alt=f"{formats.plural(len(view), 'row')} by {unit}: highest lag, oldest record, verdict, trouble, rebalances",
        columns={
            "at": c.DatetimeColumn("From", format="D MMM" if span.cell == DAY else "D MMM HH:mm", width=92),
            "most_records": widgets.integer("Highest lag", 84, "Records, the highest of any minute"),
            "oldest": widgets.seconds_column("Oldest record", 88, "The highest time lag of any minute"),
            "p95_records": c.NumberColumn(
                "95 % of partitions",
                format="localized",
                width=116,
                help="Records: 95 % of a topic's partitions had at most this lag, in the worst minute and topic",
            ),
            "v": widgets.verdict_column(122, "Worst"),
            "trouble": widgets.seconds_column("In trouble", 76),
            "rebalances": widgets.integer("Rebalances", 80),
            "joins": widgets.integer("Joins", 48),
            "leaves": widgets.integer("Leaves", 54),
            "churn": c.NumberColumn(
                "Churn", format="percent", width=64, help="Joins and leaves divided by the mean number of members"
            ),
        },
    )
    if not has_verdicts:
        widgets.note("Verdicts and rebalances of this group are not computed yet.")


def partitions(frame: pd.DataFrame) -> None:
    """How bad: one row for each partition."""
    shown = frame.head(MAX_ROWS)
    if frame.empty:
        widgets.titled("Partitions")
        st.markdown(f":gray[{parts.UNREAD if parts.has_errors() else 'No partition has data in this time range.'}]")
        return
    legend = f":gray[{formats.count(len(frame))}, highest lag first]"
    widgets.titled_table("Partitions", legend, "partitions", tables.partitions_export(frame))
    oldest = list(map(_oldest, shown["time_lag_s"], shown["at_least_s"]))
    view = shown.assign(at=tables.local(shown["most_at_us"], state.local()), oldest=oldest)
    view["commit_gap"] = list(map(_commit_gap, shown["commit_gap_max_s"], shown["commit_gap_is_open"]))
    optional = [name for name in ("lost_records", "rewinds", "owner_member") if _has_values(shown[name])]
    c = st.column_config
    widgets.table(
        view[
            [
                *("topic", "partition", "most_records", "at", "avg_records", "last_records", "oldest"),
                *("commit_gap", "lead_min_records", *optional),
            ]
        ],
        key="history_partitions",
        most=12,
        alt=f"{formats.plural(len(view), 'partition')}, highest lag first: when, average, lag at the end",
        columns={
            "topic": c.TextColumn("Topic", width=130, pinned=True),
            "partition": c.NumberColumn("Partition", width=64),
            "most_records": widgets.integer("Highest lag, records", 128),
            "at": c.DatetimeColumn("At", format="D MMM HH:mm", width=100),
            "avg_records": c.NumberColumn("Average lag", format="%.0f", width=84, help="Records, over all samples"),
            "last_records": widgets.integer("Lag at the end", 88),
            "oldest": c.TextColumn("Oldest record", width=100, alignment="right"),
            "commit_gap": c.TextColumn(
                "Longest commit gap",
                width=124,
                alignment="right",
                help="The longest time without a commit for this partition; “at least”: it has not ended",
            ),
            "lead_min_records": widgets.integer(
                "Lowest lead",
                88,
                "Records from the log start to the committed offset: at 0, the next deletion loses unread records",
            ),
            "lost_records": widgets.integer("Lost, records", 92, "Deleted before the group read them"),
            "rewinds": widgets.integer("Rewinds", 68, "How often the committed offset went back"),
            "owner_member": c.TextColumn("Owner at the end", width=130),
        },
    )
    if len(frame) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(frame):,} partitions. Choose a topic to see others.")


def _has_values(column: pd.Series) -> bool:
    """Whether it has anything but zeros and blanks."""
    return bool(column.notna().any() and (column.dropna() != 0).any())


def _oldest(seconds: float, at_least: float) -> str:
    if not np.isnan(at_least) and not seconds > at_least:
        return f"over {formats.duration(at_least)}"
    return formats.duration(seconds)


def _commit_gap(seconds: float, is_open: bool) -> str:
    return f"{'at least ' if is_open else ''}{formats.duration(seconds)}"


def burn_rates(frame: pd.DataFrame, scope: Scope, span: Span) -> None:
    """How fast the error budget is used up."""
    if frame.empty:
        widgets.titled("Error budget")
        st.markdown(":gray[No objective was evaluated for this group in this time range.]")
        return
    legend = ":gray[newest figures of each objective and window]"
    widgets.titled_table("Error budget", legend, "burn", tables.burn_rates_export(frame))
    c = st.column_config
    clock = parts.shown_time(span).clock
    words = [text.burn_rate(burn, at, span, clock) for burn, at in zip(frame["burn"], frame["at_us"], strict=True)]
    view = frame.assign(
        at=tables.local(frame["at_us"], state.local()),
        window=widgets.timedeltas(frame["window_s"]),
        threshold=widgets.timedeltas(frame["threshold_s"]),
        assessment=words,
    )
    columns = ["objective", "target_percent", "threshold", "window", "burn", "assessment", "budget_left_percent"]
    widgets.table(
        view[[*columns, "bad_minutes", "unknown_minutes", "total_minutes", "at"]],
        key="history_burn",
        most=8,
        alt=f"Error budget of {scope.group_id}: {words[0]} in the shortest window",
        columns={
            "objective": c.TextColumn("Objective", width=140, pinned=True),
            "target_percent": c.NumberColumn("Target", format="%.2f %%", width=80),
            "threshold": widgets.seconds_column("Time lag up to", 104),
            "window": widgets.seconds_column("Window", 80),
            "burn": c.NumberColumn(
                "Burn rate", format="%.2f", width=84, help="At 1 the budget lasts exactly one window"
            ),
            "assessment": c.TextColumn("Assessment", width=190),
            "budget_left_percent": c.NumberColumn("Budget left", format="%.1f %%", width=90),
            "bad_minutes": widgets.integer("Bad minutes", 92),
            "unknown_minutes": widgets.integer(
                "Unknown", 76, "Minutes without a known time lag; they do not count as good"
            ),
            "total_minutes": widgets.integer("All minutes", 84),
            "at": c.DatetimeColumn("As of", format="D MMM HH:mm", width=100, help="The end of the window"),
        },
    )
