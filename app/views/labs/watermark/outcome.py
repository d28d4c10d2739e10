"""The steps of a story: replicas, explanations, responses to producers, and the end under other rules."""

from collections.abc import Sequence

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.labs.story import legend
from app.ui.widgets import Column
from app.views.labs.watermark import charts, tables, text
from app.views.labs.watermark.tables import Cell
from assignors.labs.watermark import WatermarkStory
from assignors.labs.watermark.model import State, Step

PRODUCER_COLUMNS = {
    "record": Column("Record", 60),
    "acks": Column("acks", 44),
    "offset": Column("Offset", 50),
    "epoch": Column("Epoch", 50),
    "response": Column("Response", 190),
    "now": Column("Now", 110),
}
STEP_COLUMNS = {
    "number": Column("Step", 50),
    "what": Column("What happens", 520),
    "leader": Column("Leader", 54),
    "epoch": Column("Epoch", 50),
    "isr": Column("ISR", 64),
    "visible": Column("Visible", 90, "Records that a consumer can read"),
    "at_ms": Column("At, ms", 70),
}
RULE_COLUMNS = {
    "rules": Column("Truncation, election", 176),
    "lost": Column("Lost", 64, "Acknowledged records that the leader does not hold"),
    "differ": Column("Diverge at", 70, "Offsets at which two logs hold different records"),
    "leader": Column("Leader", 54),
    "visible": Column("Visible", 80),
    "stops": Column("Stops because", 400),
}


def sentences(steps: Sequence[Step], at: int) -> None:
    """What happened, and why the high watermark is where it is."""
    st.markdown(f"**{formats.md(steps[at].sentence)}**")
    for sentence in text.why(steps[max(0, at - 1)].state, steps[at].state):
        st.markdown(formats.md(sentence))


def picture(steps: Sequence[Step], at: int) -> None:
    """The replicas after the step."""
    colours, state_ = state.palette(), steps[at].state
    lanes, looks = tables.lanes(steps, at), charts.styles(colours)
    seen = {kind for lane in lanes for _, kind in lane.cells}
    first = charts.first_offset(lanes)
    same = f" :gray[The first {first} records are the same on all replicas.]" if first else ""
    ink = colours.text
    marks = widgets.swatches(
        [("e0", ink, "leader epoch 0"), ("┃", colours.gained, "high watermark (HW)"), ("┊", ink, "log end (LEO)")]
    )
    cells = legend((looks[kind], kind) for kind in Cell if kind in seen)
    widgets.titled(f"Epoch {state_.epoch}", f"{marks}\u2003{cells}{same}")
    widgets.chart(charts.replicas(lanes, colours), "watermark_replicas", text.picture(steps, at))


def producers(now: State) -> None:
    """The responses to producers, and where their records are."""
    frame = tables.producers(now)
    widgets.titled("Responses to producers")
    if frame.empty:
        st.markdown(":gray[Nothing has been appended yet.]")
        return
    widgets.table(
        frame,
        key="producers",
        most=8,
        alt=f"{formats.plural(len(frame), 'record')} with the response to its producer and where it is now",
        columns=widgets.columns(frame, PRODUCER_COLUMNS),
    )


def all_steps(steps: Sequence[Step], at: int) -> None:
    """All steps as a table."""
    frame = tables.steps_frame(steps)
    widgets.titled_table("All steps", ":gray[▸ shown above]", "steps", frame)
    ends = [name for name in map(str, frame) if name.endswith("HW/LEO")]
    shown = frame.assign(number=[f"{'▸ ' if step == at else ''}{step}" for step in frame["step"]])
    widgets.table(
        shown[["number", "what", "leader", "epoch", "isr", *ends, "visible", "at_ms"]],
        key="steps",
        most=14,
        alt=f"{formats.plural(len(frame), 'step')} with leader, epoch, ISR, high watermarks and log ends",
        columns=widgets.columns(shown, {**STEP_COLUMNS, **{name: Column(name, 82) for name in ends}}),
    )


def other_rules(story: WatermarkStory) -> None:
    """The end of the story under other rules."""
    frame = tables.other_rules(story)
    widgets.titled("The end under other rules", ":gray[▸ the rules above]")
    optional = ["stops"] if frame["stops"].any() else []
    widgets.table(
        frame[["rules", "lost", "differ", "leader", "visible", *optional]],
        key="rules",
        placeholder="none",
        alt=f"{len(frame)} sets of rules with lost records, diverging offsets, leader and visible records at the end",
        columns=widgets.columns(frame, RULE_COLUMNS),
    )
