"""The controls of the Watermark lab: its rules, and the next action."""

from collections.abc import Callable, Mapping

import streamlit as st

from app.ui import widgets
from app.ui.labs import fields
from app.ui.labs.story import refusal
from app.views.labs.watermark.state import LAB
from assignors.labs.watermark import WatermarkStory
from assignors.labs.watermark.model import (
    Action,
    Crash,
    Fetch,
    PowerCut,
    Produce,
    Restart,
    Start,
    State,
    Timing,
    Truncation,
    Wait,
)
from assignors.labs.watermark.stories import MOST_WAIT_MS

_TRUNCATIONS = {
    Truncation.HIGH_WATERMARK: "its high watermark (before KIP-101)",
    Truncation.LEADER_EPOCH: "where its epochs diverge from the leader's (KIP-101, KIP-279)",
}
_TIMINGS = {
    Timing.TEXTBOOK: "as advanced by this fetch",
    Timing.EXACT: "from before this fetch; if empty, from replica.fetch.wait.max.ms later",
}


def rules(story: WatermarkStory) -> None:
    """How followers truncate, leaders are elected, and the high watermark moves."""
    fields.select(LAB, "A follower truncates to", "truncation", _TRUNCATIONS, story.truncation)
    fields.select(LAB, "A fetch response carries the high watermark", "timing", _TIMINGS, story.timing)
    fields.select(
        LAB, "min.insync.replicas", "min_insync", {number: str(number) for number in (1, 2, 3)}, story.min_insync
    )
    fields.field(LAB, st.toggle, "Unclean leader election", "unclean", story.unclean)
    fields.field(LAB, st.toggle, "High watermark waits for min.insync.replicas (KIP-966)", "waits", story.waits)


Form = Callable[[State], Action]


def _of_replica(make: Callable[[str], Action]) -> Form:
    def form(now: State) -> Action:
        others = [name for name in now.replicas if name != now.leader] or list(now.replicas)
        options = others if make in (Fetch, Restart, _lost) else list(now.replicas)
        return make(st.selectbox("Replica", options, key="watermark_replica", width=90))

    return form


def _lost(name: str) -> Action:
    return Fetch(name, response_lost=True)


def _next_value(now: State) -> str:
    written = {entry.value for replica in now.replicas.values() for entry in replica.log}
    written |= {made.entry.value for made in now.produced}
    return next(value for number in range(1000) if (value := f"m{number}") not in written)


def _waits(_now: State) -> Action:
    ms = st.number_input("Milliseconds", 1, MOST_WAIT_MS, 30_001, step=500, key="watermark_ms", width=130)
    return Wait(int(ms))


def _power(now: State) -> Action:
    name = st.selectbox("Loses its last record", ["none", *now.replicas], key="watermark_power", width=150)
    return PowerCut({} if name == "none" else {name: 1})


FORMS: Mapping[str, Form] = {
    "A producer sends, acks=all": lambda now: Produce(_next_value(now)),
    "A producer sends, acks=1": lambda now: Produce(_next_value(now), acks_all=False),
    "A follower fetches": _of_replica(Fetch),
    "A follower fetches, the response is lost": _of_replica(_lost),
    "A follower restarts quickly": _of_replica(Restart),
    "A broker crashes": _of_replica(Crash),
    "A broker starts again": _of_replica(Start),
    "All brokers lose power": _power,
    "Time passes": _waits,
}


def next_action(at: int, now: State, following: int) -> None:
    """Add an action after the step that is shown."""
    widgets.titled("Next action")
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        what = st.selectbox("Action", list(FORMS), key="watermark_what", width=250, label_visibility="collapsed")
        action = FORMS[what](now)
        if widgets.clicked("Add", "watermark_add", icon=":material/add:"):
            LAB.add(at, action)
            st.rerun()
    if following:
        steps = "the following step" if following == 1 else f"the {following} following steps"
        widgets.note(f"This replaces {steps}.")
    refusal(LAB)
