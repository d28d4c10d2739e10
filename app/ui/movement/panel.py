"""Movement from generation to generation: the stepper, still pictures, the step, the animation, the moves."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st

from app.ui import downloads, formats, link_values, state, stepper, widgets
from app.ui.charts.base import clip
from app.ui.groups.member_names import MAX_NAME_LENGTH, full_member_names, member_names
from app.ui.movement import animation, counts, encoding, flow, from_generations, sentences, step, stills, tables
from app.ui.movement.encoding import Picture
from app.ui.movement.steps import Steps
from app.ui.table_limits import MAX_ROWS
from assignors.whatif.generations import Generation

_AT, _TOPIC = "gen", "topic"
BETWEEN_WORDS = re.compile(r"([\s;,:]+)")
ALL_TOPICS = "All topics"
MOST_SLIDER_LETTERS = 20
"""As many stand above the slider of a phone."""
LEAST_STREAMS = 20
"""Fewer moves are seen in the lanes one by one."""


def names_of(generations: Sequence[Generation]) -> dict[str, str]:
    """Display names of the members of all generations."""
    return member_names(member for generation in generations for member in generation.members)


def steps_of(generations: Sequence[Generation], names: Mapping[str, str]) -> Steps:
    """The generations as arrays, members by their display names."""
    steps = from_generations.steps_of(generations)
    members = tuple(names.get(member, member) for member in steps.members)
    words = (BETWEEN_WORDS.split(event) for event in steps.events)
    events = ("".join(clip(names.get(word, word), MAX_NAME_LENGTH) for word in event) for event in words)
    return replace(steps, members=members, ids=steps.members, events=tuple(events))


def position(generations: Sequence[Generation], default: int) -> int:
    """The position in the URL's `gen`, within the generations."""
    return stepper.position(_AT, len(generations) - 1, default)


def controls(steps: Steps, at: int, write: Callable[[int], None] | None = None) -> Steps:
    """Previous, next, slider, and one topic of many; the arrow keys work, and the URL's `topic` names the topic.

    Returns the steps of the topic chosen; `write` gets another position, instead of the URL's `gen`.
    """

    def text(step: int) -> str:
        return encoding.short_title(steps.names[step], steps.events[step], MOST_SLIDER_LETTERS)

    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if len(steps) > 1:
            stepper.stepper(_AT, at, len(steps) - 1, "Generation", text, write or partial(stepper.go, _AT))
        return _one_topic(steps)


def headline(steps: Steps, at: int) -> None:
    """The step as the page's conclusion."""
    st.title(formats.md(sentences.step(steps, at)), anchor=False)


def sentence(steps: Steps, at: int, generation: Generation) -> None:
    """What this generation is, and how many partitions it paused."""
    paused = generation.quality.paused
    cost = f" {formats.plural(paused, 'partition')} paused." if paused and at else ""
    st.markdown(f"**{formats.md(sentences.step(steps, at))}.**{cost}")


def legend() -> str:
    """The legend of colours and symbols."""
    drawn = encoding.looks(state.palette())
    return widgets.swatches((encoding.GLYPHS[kind], one.text, encoding.WORDS[kind]) for kind, one in drawn.items())


def _one_topic(steps: Steps) -> Steps:
    if len(steps.topics) < 2:
        return steps
    topic = link_values.one_of(_TOPIC, steps.topics)

    def choose(chosen: str) -> None:
        state.set_url(_TOPIC, None if chosen == ALL_TOPICS else chosen)

    widgets.picker("Topic", [ALL_TOPICS, *steps.topics], topic or ALL_TOPICS, "movement_topic", choose, width=200)
    return steps if topic is None else steps.topic(topic)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The pictures of a step; `motion` is None where there is one generation, `flow` where few partitions move."""

    step: Picture
    title: str
    still: Picture
    counts: Picture
    motion: Picture | None
    flow: Picture | None


def draw(steps: Steps, at: int) -> Drawn:
    """The pictures of a step, which the page then shows."""
    colours = state.palette()
    moves = int(flow.streams(steps, at).sizes.sum())
    return Drawn(
        step=step.one_step(steps, at, colours),
        title=f"Step {f'{steps.names[at - 1]} → ' if at else ''}{steps.names[at]}",
        still=stills.generations_by_partitions(steps, at, colours),
        counts=counts.members_by_generations(steps, at, colours),
        motion=animation.animation(steps, at, colours) if len(steps) > 1 else None,
        flow=flow.flow(steps, at, colours) if moves >= LEAST_STREAMS else None,
    )


def one_step(drawn: Drawn) -> None:
    """The assignment after this generation, and what changed."""
    _titled(drawn.title, legend(), drawn.step, "step")


def motion(drawn: Drawn) -> None:
    """The animation, standing at this generation; nothing where there is only one."""
    if drawn.motion is not None:
        _titled("Animation", legend(), drawn.motion, "motion")


def pictures(drawn: Drawn, with_motion: bool = True) -> None:
    """All generations: partition by partition, still and in motion; member by member; from whom to whom it went.

    Two columns of their own, and the last picture where there is room, so that a tall one leaves no hole beside it.
    """
    left, right = st.columns([0.62, 0.38], gap="medium")
    with left:
        _titled("Partitions by generation", legend(), drawn.still, "still")
        if with_motion:
            motion(drawn)
    with right:
        _titled("Members by generation", ":gray[partitions owned]", drawn.counts, "counts")
    if drawn.flow is not None:
        is_higher = drawn.counts.figure.layout.height >= drawn.still.figure.layout.height
        with left if is_higher and not with_motion else right:
            _titled("Flow between members", ":gray[partitions that moved]", drawn.flow, "flow")


def _titled(title: str, remark: str, picture: Picture, key: str) -> None:
    with st.container(gap="xxsmall"):
        widgets.titled(title, remark)
        widgets.chart(picture.figure, f"movement_{key}", picture.alt)
        if picture.caption:
            widgets.note(formats.md(picture.caption))


def move_table(generations: Sequence[Generation], at: int, names: Mapping[str, str]) -> None:
    """What changed in a generation, with downloads of all of it, which have the full names of members."""
    generation, frame = generations[at], tables.move_rows(generations[at], names)
    full_names = full_member_names(member for one in generations for member in one.members)
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            widgets.titled("Moves", f":gray[{formats.plural(len(frame), 'partition')} changed]")
            downloads.buttons("moves", lambda: tables.move_rows(generation, full_names))
            downloads.button(
                "Assignment",
                lambda: downloads.csv(tables.plan_rows(generation, full_names)),
                "plan.csv",
                "text/csv",
                "plan_csv",
                type="tertiary",
                help="CSV of every partition and its owner after this generation",
            )
        _rows(frame)


def _rows(frame: pd.DataFrame) -> None:
    if frame.empty:
        st.markdown(":gray[No partition changed owners.]")
        return
    c = st.column_config
    widgets.table(
        frame.head(MAX_ROWS),
        key="moves",
        width="content",
        most=12,
        alt=f"Moves of {formats.plural(len(frame), 'partition')}: change, owner before, owner after",
        columns={
            "topic": c.TextColumn("Topic", width=220, pinned=True),
            "partition": c.NumberColumn("Partition", width=84),
            "change": c.TextColumn("Change", width=110),
            "from": c.TextColumn("From", width=220),
            "to": c.TextColumn("To", width=220),
        },
    )
    if len(frame) > MAX_ROWS:
        widgets.note(f"The first {MAX_ROWS:,} of {len(frame):,} partitions; downloads contain all.")
