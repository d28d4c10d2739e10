"""The results of all assignors side by side, and the choice of one."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial

import pandas as pd
import streamlit as st

from app.ui import formats, link_values, state, widgets
from app.ui.groups.member_names import member_names
from app.ui.movement.encoding import lane_names
from app.ui.movement.tables import short
from app.ui.scenario import draft_state
from app.ui.scenario.draft import Draft
from app.ui.widgets import Column
from app.views.whatif import tables, text
from assignors.whatif.comparison import Outcome
from assignors.whatif.recommendation import recommendation

HOTTEST_CHARS = 13
OPTIONAL = ("unassigned", "drains", "together", "racks", "hottest_lag", "hottest_rate", "hottest_weight")
"""Columns that are shown only where they have values."""
MOST_AT_A_TIME = 4
OF_WORKERS = 2  # as many as are warm
LOOK_EVERY_S = 0.2
ENOUGH_S = 0.15
"""How long the page waits for plugins: most answer sooner, so that it is drawn once."""

_PLUGINS = ThreadPoolExecutor(MOST_AT_A_TIME, "plugins")
"""Threads that wait for plugin processes, shared by all sessions."""


def outcomes(its: Draft) -> tuple[list[Outcome], dict[str, Future[Outcome]]]:
    """The results of all assignors except those still running, and those, by name."""
    awaited = draft_state.awaited(its)
    running = {name: _PLUGINS.submit(draft_state.outcome, its, name) for name in awaited}
    names = [name for name in draft_state.candidates(its.scenario) if name not in awaited]
    with st.spinner("Running the assignors", show_time=True), ThreadPoolExecutor(OF_WORKERS) as pool:
        found = list(pool.map(partial(draft_state.outcome, its), names))
        wait(running.values(), ENOUGH_S)
    found += [one.result() for one in running.values() if one.done()]
    return found, {name: one for name, one in running.items() if not one.done()}


@st.fragment(parallel=True)
def wait_for(its: Draft, running: Mapping[str, Future[Outcome]]) -> None:
    """Show which plugins are running, while the page accepts edits; redraw it when all have answered."""
    began_s, place = time.monotonic(), st.empty()
    try:
        while wait(running.values(), LOOK_EVERY_S).not_done:
            # Drawing here ends the wait as soon as the viewer does something.
            place.markdown(text.still_planning(list(running), int(time.monotonic() - began_s)))
    finally:
        for one in running.values():
            one.cancel()
    draft_state.have_answered(its)
    st.rerun()


def side_by_side(found: Sequence[Outcome], its: Draft) -> None:
    """All assignors in one table, and under it errors, unknowns and assumptions."""
    names = member_names(its.scenario.members_ever())
    frame = tables.compare(found, dict(zip(names, lane_names(list(names.values()), HOTTEST_CHARS), strict=True)))
    own = formats.code(its.scenario.assignor)
    widgets.titled_table("Assignors compared", f":gray[the group uses {own}]", "assignors", frame)
    columns = _columns(frame)
    widgets.table(
        frame[columns],
        key="side_by_side",
        alt=text.table(frame),
        columns=widgets.columns(frame[columns], LOOKS),
    )
    for sentence in text.under_the_table(found):
        widgets.note(sentence)


def _columns(frame: pd.DataFrame) -> list[str]:
    shown = [column for column in OPTIONAL if column in frame and any(map(bool, frame[column].dropna()))]
    if "hottest_rate" in shown and "hottest_weight" in shown:
        shown.remove("hottest_weight")  # weights stand in for unknown rates
    return ["assignor", "moved", "paused", "rebalances", "idle", "each", *shown, "stayed"]


LOOKS = {
    "assignor": Column("Assignor", 124),
    "moved": Column("Moves", 58, "How often a member gives up a partition; one partition can move several times"),
    "paused": Column("Paused", 60, "Partitions whose consumption paused, summed over the rebalances"),
    "rebalances": Column("Rebalances", 78, "Number of rebalances"),
    "idle": Column("Idle", 40, "Members without a partition at the end"),
    "each": Column("Per member", 70, "Fewest and most partitions of a member"),
    "unassigned": Column("Unassigned", 72, "Partitions without an owner at the end"),
    "drains": Column("Drains in", 84, tables.DRAINS),
    "together": Column("Co-partitioned", 92, "Partition numbers that have the same owner in all topics of equal size"),
    "racks": Column("Rack matches", 70, "Partitions with a replica in their member's rack"),
    "hottest_lag": Column("Highest lag", 98, "The member with the highest lag, as a multiple of the mean"),
    "hottest_rate": Column("Highest rate", 98, "The member with the highest produce rate, as a multiple of the mean"),
    "hottest_weight": Column("Highest weight", 112, "The member with the highest weight, as a multiple of the mean"),
    "stayed": Column("Stayed", 60, "Partitions with the same owner at the start and at the end"),
}


def recommended(found: Sequence[Outcome], own: str) -> None:
    """Which assignor to choose and why, where the group has members and a choice."""
    choice = recommendation(found, own)
    if choice is not None and any(its.last and its.last.members for its in found):
        advice = text.recommended(choice, own)
        st.markdown(f":primary[:material/recommend:] {advice}", help=text.RECOMMENDED_BY)


def chosen(found: Sequence[Outcome], own: str) -> Outcome:
    """The result whose movement is shown: the URL's `assignor`, else the group's own."""
    by_name = {outcome.assignor: outcome for outcome in found}
    return by_name[link_values.one_of("assignor", list(by_name)) or own]


def pick(found: Sequence[Outcome], now: Outcome) -> None:
    """Choose whose movement is shown below; in the URL as `assignor`."""
    st.session_state["whatif_pick"] = now.assignor
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.header("Movement", anchor=False, width="content")
        st.pills(
            "Movement with",
            [outcome.assignor for outcome in found],
            key="whatif_pick",
            format_func=short,
            label_visibility="collapsed",
            on_change=lambda: state.set_url("assignor", st.session_state["whatif_pick"]),
        )
