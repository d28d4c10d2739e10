"""The results of the calls: one at a time, and all as a table."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app.ui import formats, widgets
from app.ui.stepper import go, stepper
from app.ui.widgets import Column
from app.views.labs.calls import tables, text
from app.views.labs.calls.state import STEP
from assignors.labs.calls import Turn

LOOKS = {
    "step": Column("", 44),
    "call": Column("Call", 190),
    "outcome": Column("Result", 330),
    "time": Column("Time", 70),
    "group": Column("Group", 150),
    "generation": Column("Generation", 80),
    "epoch": Column("Epoch", 56),
    "target epoch": Column("Target", 60),
}
STATE_PX = 190
"""Of the other columns of the state."""


def one(turns: Sequence[Turn], at: int) -> None:
    """Previous, next and the slider; the call, its result, and what it has changed."""
    last, turn = len(turns) - 1, turns[at]
    if last:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            stepper(STEP, at, last, "Step", lambda step: f"{step + 1} of {last + 1}", partial(go, STEP))
    st.markdown(formats.code(turn.call.text))
    icon, colour = ("block", "red") if turn.error else ("check", "green")
    st.markdown(f":{colour}[:material/{icon}:] {formats.md(turn.outcome)}")
    if (meaning := text.meaning(turn.error)) is not None:
        st.markdown(f":small[{formats.md(meaning)}]")
    changes = tables.changed(turns, at)
    if not changes:
        widgets.note("The state is unchanged.")
    for name, (before, after) in changes.items():
        was = f" :gray[was {formats.md(before)}]" if before else ""
        st.markdown(f":small[:gray[{name}:] {formats.md(after or tables.NONE)}{was}]")


def table(turns: Sequence[Turn], at: int) -> None:
    """All calls, with the state after each."""
    frame = tables.turns_frame(turns)
    widgets.titled_table("All calls", ":gray[▸ shown above, ✕ refused]", "calls", frame)
    marks = [f"{'▸' if row == at else ''}{'✕' if turn.error else ''}" for row, turn in enumerate(turns)]
    shown = frame.drop(columns="error").assign(
        step=[f"{mark}{' ' if mark else ''}{number}" for mark, number in zip(marks, frame["step"], strict=True)]
    )
    looks = {name: LOOKS.get(name, Column(name[0].upper() + name[1:], STATE_PX)) for name in map(str, shown)}
    widgets.table(
        shown,
        key="calls",
        most=24,
        alt=f"{formats.plural(len(frame), 'call')}, the result of each, and the state after it",
        columns=widgets.columns(shown, looks),
    )
