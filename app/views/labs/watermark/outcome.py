"""The steps of a story: replicas, explanations, responses to producers, and the end under other rules."""

from collections.abc import Sequence

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.stepper import asked, stepper
from app.views.labs.watermark import charts, tables, text
from app.views.labs.watermark.state import STEP, go
from app.views.labs.watermark.tables import Cell
from assignors.labs.watermark import WatermarkStory
from assignors.labs.watermark.model import State, Step


def position(steps: Sequence[Step]) -> int:
    """The step that the URL asks for; by default the last one."""
    last = len(steps) - 1
    return min(asked(STEP, last), last)


def controls(steps: Sequence[Step], at: int) -> None:
    """Previous, next and the slider."""
    last = len(steps) - 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if last:
            stepper(STEP, at, last, "Step", lambda step: f"{step} of {last}", go)


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
    cells = [
        ("□" if looks[kind].outline else "■", looks[kind].outline or looks[kind].fill, kind.value) for kind in Cell
    ]
    marks = [("┃", colours.gained, "high watermark"), ("┊", colours.text, "log end")]
    widgets.titled(
        f"Epoch {state_.epoch}",
        widgets.swatches([*marks, *(cell for cell, kind in zip(cells, Cell, strict=True) if kind in seen)]),
    )
    st.plotly_chart(
        charts.replicas(lanes, colours),
        theme=None,
        config=widgets.PLOTLY,
        key="watermark_replicas",
        alt=f"Step {at}: {text.picture(steps[at])}",
    )


def producers(now: State) -> None:
    """The responses to producers, and where their records are."""
    frame = tables.producers(now)
    widgets.titled("Responses to producers")
    if frame.empty:
        st.markdown(":gray[Nothing has been appended yet.]")
        return
    c = st.column_config
    widgets.table(
        frame,
        key="producers",
        most=8,
        alt=f"{formats.plural(len(frame), 'record')} with the response to its producer and where it is now",
        columns={
            "record": c.TextColumn("Record", width=60, pinned=True),
            "acks": c.TextColumn("acks", width=44),
            "offset": c.NumberColumn("Offset", width=50),
            "epoch": c.NumberColumn("Epoch", width=50),
            "response": c.TextColumn("Response", width=190),
            "now": c.TextColumn("Now", width=110),
        },
    )


def all_steps(steps: Sequence[Step], at: int) -> None:
    """All steps as a table."""
    frame = tables.steps_frame(steps)
    widgets.titled_table("All steps", ":gray[▸ shown above]", "steps", frame)
    ends = [name for name in map(str, frame) if name.endswith("HW/LEO")]
    shown = frame.assign(number=[f"{'▸ ' if step == at else ''}{step}" for step in frame["step"]])
    c = st.column_config
    widgets.table(
        shown[["number", "what", "leader", "epoch", "isr", *ends, "visible", "at_ms"]],
        key="steps",
        most=14,
        alt=f"{formats.plural(len(frame), 'step')} with leader, epoch, ISR, high watermarks and log ends",
        columns={
            "number": c.TextColumn("Step", width=50, pinned=True),
            "what": c.TextColumn("What happens", width=520),
            "leader": c.TextColumn("Leader", width=54),
            "epoch": c.NumberColumn("Epoch", width=50),
            "isr": c.TextColumn("ISR", width=64),
            "visible": c.TextColumn("Visible", width=90, help="Records that a consumer can read"),
            "at_ms": c.NumberColumn("At, ms", format="localized", width=70),
            **{name: c.TextColumn(name, width=82) for name in ends},
        },
    )


def other_rules(story: WatermarkStory) -> None:
    """The end of the story under other rules."""
    frame = tables.other_rules(story)
    widgets.titled("The end under other rules", ":gray[▸ the rules above]")
    c = st.column_config
    optional = ["stops"] if frame["stops"].any() else []
    widgets.table(
        frame[["rules", "lost", "differ", "leader", "visible", *optional]],
        key="rules",
        placeholder="none",
        alt=f"{len(frame)} sets of rules with lost records, diverging offsets, leader and visible records at the end",
        columns={
            "rules": c.TextColumn("Truncation, election", width=176, pinned=True),
            "lost": c.TextColumn("Lost", width=64, help="Acknowledged records that the leader does not hold"),
            "differ": c.TextColumn("Diverge at", width=70, help="Offsets at which two logs hold different records"),
            "leader": c.TextColumn("Leader", width=54),
            "visible": c.TextColumn("Visible", width=80),
            "stops": c.TextColumn("Stops because", width=400),
        },
    )
