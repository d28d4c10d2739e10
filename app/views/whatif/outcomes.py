"""What each assignor makes of a what-if, side by side, and which of them is looked at."""

import time
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.member_names import member_names
from app.ui.movement.encoding import lane_names
from app.ui.movement.tables import short
from app.ui.scenario import state as state_whatif
from app.ui.scenario.draft import Draft
from app.views.whatif import tables, text
from assignors.whatif.comparison import Outcome

HOTTEST_CHARS = 13
OPTIONAL = ("unassigned", "drains", "together", "racks", "hottest_lag", "hottest_rate", "hottest_weight")
"""Columns that are there when they say something."""
MOST_AT_A_TIME = 4
LOOK_EVERY_S = 0.2

_PLUGINS = ThreadPoolExecutor(MOST_AT_A_TIME, "plugins")
"""They run in processes of their own; here they are waited for, as many at a time for all sessions together."""


def outcomes(its: Draft, awaited: Collection[str]) -> list[Outcome]:
    """What each assignor makes of it, but for those that are still waited for."""
    names = [name for name in state_whatif.candidates(its.scenario) if name not in awaited]
    with st.spinner("Running the assignors", show_time=True), ThreadPoolExecutor(MOST_AT_A_TIME) as pool:
        return list(pool.map(partial(state_whatif.outcome, its), names))


@st.fragment(parallel=True)
def wait_for(its: Draft, awaited: Sequence[str]) -> None:
    """Say who is still planning, while the page stands and takes edits; once all have answered, draw it anew."""
    began_s, said = time.monotonic(), st.empty()
    running = [_PLUGINS.submit(state_whatif.outcome, its, name) for name in awaited]
    try:
        while wait(running, LOOK_EVERY_S).not_done:
            # Whatever is drawn here ends this as soon as the viewer has done something.
            said.markdown(text.still_planning(awaited, int(time.monotonic() - began_s)))
    finally:
        for one in running:
            one.cancel()
    state_whatif.have_answered(its)
    st.rerun()


def side_by_side(found: Sequence[Outcome], its: Draft) -> None:
    """All assignors in one table, and under it who cannot plan, what is not known, and what the broker's rest on."""
    names = member_names(its.scenario.members_ever())
    frame = tables.compare(found, dict(zip(names, lane_names(list(names.values()), HOTTEST_CHARS), strict=True)))
    own = formats.code(its.scenario.assignor)
    widgets.titled_table("Assignors side by side", f":gray[{own} is the group's own]", "assignors", frame)
    columns = _columns(frame)
    widgets.table(
        frame[columns],
        key="side_by_side",
        alt=text.table(frame),
        columns={column: _look(column) for column in columns},
    )
    for sentence in text.under_the_table(found):
        widgets.note(sentence)
    if rests_on := text.on_a_broker(found, its.scenario):
        widgets.note(rests_on)


def _columns(frame: pd.DataFrame) -> list[str]:
    shown = [column for column in OPTIONAL if column in frame and any(map(bool, frame[column].dropna()))]
    if "hottest_rate" in shown and "hottest_weight" in shown:
        shown.remove("hottest_weight")  # a measure that stands in for rates where those are not known
    return ["assignor", "moved", "paused", "rebalances", "idle", "each", *shown, "stayed"]


def _look(column: str) -> Any:
    label, width, help_ = LOOKS[column]
    if column in tables.COUNTS:
        return widgets.integer(label, width, help_)
    return st.column_config.TextColumn(label, width=width, help=help_, pinned=column == "assignor")


LOOKS: dict[str, tuple[str, int, str | None]] = {
    "assignor": ("Assignor", 124, None),
    "moved": ("Moved", 58, "Partitions that a member gave up, once for each time"),
    "paused": ("Paused", 60, "Partitions that stopped, once for each rebalance in which they did"),
    "rebalances": ("Rebalances", 78, "Rebalances from the start to the end"),
    "idle": ("Idle", 40, "Members without a partition at the end"),
    "each": ("Each has", 64, "Fewest and most partitions of a member"),
    "unassigned": ("No owner", 68, "Partitions that nobody has at the end"),
    "drains": ("Drains in", 84, "When the slowest member has worked off its lag"),
    "together": ("Together", 84, "Topics of equal size whose partitions of one number sit at one member"),
    "racks": ("Rack hits", 70, "Partitions with a replica in their member's rack"),
    "hottest_lag": ("Hottest by lag", 108, "Most lag of a member, as a multiple of the mean"),
    "hottest_rate": ("Hottest by rate", 108, "Most records produced for a member, as a multiple of the mean"),
    "hottest_weight": ("Hottest by weight", 112, "Most weight of a member, as a multiple of the mean"),
    "stayed": ("Stayed", 60, "Partitions that are with the same member at the end as at the start"),
}
"""Column -> label, width in pixels, what it counts."""


def pick(found: Sequence[Outcome], own: str) -> Outcome:
    """Choose whose movement is shown below; in the URL as `assignor`."""
    names = [outcome.assignor for outcome in found]
    asked = state.url("assignor")
    st.session_state["whatif_pick"] = asked if asked in names else own
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.subheader("Movement under", anchor=False, width="content")
        st.pills(
            "Movement under",
            names,
            key="whatif_pick",
            format_func=short,
            label_visibility="collapsed",
            on_change=lambda: state.set_url("assignor", st.session_state["whatif_pick"]),
        )
    chosen = st.session_state["whatif_pick"] or own
    return next(outcome for outcome in found if outcome.assignor == chosen)
