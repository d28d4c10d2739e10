"""A group without members: the effect of starting some."""

import pandas as pd
import streamlit as st

from app.ui import formats, widgets
from app.ui.scenario import draft, draft_state
from app.ui.scenario.draft import Draft
from app.views.whatif import tables
from assignors.whatif.suggested_joins import suggested_joins

MOST_COUNTS = 8
_OPENER = "start_members"


def are_missing(its: Draft) -> bool:
    """Whether the group has topics and no members, and nothing happens yet."""
    return not its.scenario.members and not its.scenario.events and bool(its.scenario.topics)


def headline(its: Draft) -> str:
    """How many partitions wait for members."""
    partitions = sum(draft.topics_at_end(its.scenario).values())
    return f"This group has {formats.plural(partitions, 'partition')} and no members: choose how many to start"


def choices(its: Draft) -> None:
    """One row per number of members that start together, with the group's assignor; a click adds them."""
    counts = _counts(sum(draft.topics_at_end(its.scenario).values()))
    frame = pd.DataFrame([_row(its, count) for count in counts]).dropna(axis=1, how="all")

    def start() -> None:
        count = counts[st.session_state[_OPENER].row]
        draft_state.edit(lambda now: started(now, count))

    assignor = formats.code(its.scenario.assignor)
    widgets.titled_table("If members start", f":gray[together, with {assignor}; a click adds them]", "members", frame)
    widgets.table(
        frame,
        key="first_members",
        alt=f"{counts[0]} to {counts[-1]} members that start together: partitions, idle members, lag of one member",
        columns={
            "members": widgets.opener("Members", _OPENER, 120, start),
            "each": st.column_config.TextColumn("Partitions per member", width=160),
            "idle": widgets.integer("Idle", 80),
            "most_lag": widgets.integer("Most lag of a member", 160, "Records behind, of the member with most"),
            "drains": st.column_config.TextColumn("Drains in", width=120, help=tables.DRAINS),
        },
    )


def started(its: Draft, count: int) -> Draft:
    """The draft after that many members have joined in one rebalance, subscribed to all topics."""
    joins = suggested_joins(its.scenario, count, tuple(draft.topics_at_end(its.scenario)), None)
    return its.then(draft.joining_together(joins))


def _counts(partitions: int) -> list[int]:
    """One member and up, and one for each partition."""
    most = min(partitions, draft.MOST_AT_ONCE)
    return sorted({*range(1, min(most, MOST_COUNTS) + 1), most})


def _row(its: Draft, count: int) -> dict[str, object]:
    last = draft_state.outcome(started(its, count), its.scenario.assignor).last
    row: dict[str, object] = {"members": formats.plural(count, "member")}
    if last is None:
        return row
    lag = last.skews.get("lag_records")
    return row | {
        "each": tables.each(last),
        "idle": len(last.idle_members),
        "most_lag": None if lag is None else round(lag.most),
        "drains": tables.drains(last),
    }
