"""What the Watermark lab is set up from: a story, its rules, and what else shall happen."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from app.ui import formats, state, upload, widgets
from app.ui.story import choose, shows
from app.views.labs.watermark import state as state_watermark
from app.views.labs.watermark.link import MOST_WAIT_MS, encode
from assignors.labs.checklist import Page
from assignors.labs.watermark import STORIES, Story
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

_STORY, _UPLOAD = "watermark_story", "watermark_file"


def story(told: Story) -> None:
    """Choose a story, and what it shows."""
    titles = {its.name: its.title for its in STORIES}
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        choose(_STORY, told.name, list(titles), titles.__getitem__, _tell)
        badge = " :orange-badge[changed]" if len(encode(told)) > 1 else ""
        shows(told.shows, Page.WATERMARK, told.name, badge)
        upload.take_along(
            "Story file", _UPLOAD, "watermark.txt", lambda: state_watermark.as_file(told), state_watermark.take
        )
    upload.problems(_UPLOAD)


def _tell() -> None:
    state_watermark.tell(st.session_state[_STORY])


def rules(told: Story) -> None:
    """The rules to play by."""
    its = told.settings
    _select("A follower truncates to", "truncation", list(Truncation), its.truncation)
    _select("A fetch response carries the high watermark", "timing", list(Timing), its.timing)
    _select("min.insync.replicas", "min_insync_replicas", [1, 2, 3], its.min_insync_replicas)
    _toggle("Unclean leader election", "unclean_leader_election", its.unclean_leader_election)
    _toggle("High watermark waits for min.insync.replicas (KIP-966)", "hw_waits_for_min_isr", its.hw_waits_for_min_isr)


def _select(label: str, field: str, options: Sequence[object], value: object) -> None:
    key = f"watermark_{field}"
    st.session_state[key] = value
    st.selectbox(
        label,
        options,
        key=key,
        on_change=lambda: state_watermark.set_rule(field, st.session_state[key]),
        format_func=str,
    )


def _toggle(label: str, field: str, value: bool) -> None:
    key = f"watermark_{field}"
    st.session_state[key] = value
    st.toggle(label, key=key, on_change=lambda: state_watermark.set_rule(field, st.session_state[key]))


# -- what else shall happen --------------------------------------------------------------------------------------------

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
    name = st.selectbox("Loses its last record", ["nobody", *now.replicas], key="watermark_power", width=150)
    return PowerCut({} if name == "nobody" else {name: 1})


FORMS: Mapping[str, Form] = {
    "A producer sends, acks=all": lambda now: Produce(_next_value(now)),
    "A producer sends, acks=1": lambda now: Produce(_next_value(now), acks_all=False),
    "A follower fetches": _of_replica(Fetch),
    "A follower fetches, the response is lost": _of_replica(_lost),
    "A follower restarts unnoticed": _of_replica(Restart),
    "A broker dies": _of_replica(Crash),
    "A broker comes back": _of_replica(Start),
    "The power fails for all": _power,
    "Time passes": _waits,
}


def then(at: int, now: State, left_out: int) -> None:
    """Let something else happen after the step that is shown."""
    widgets.titled("What happens next")
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        what = st.selectbox("Action", list(FORMS), key="watermark_what", width=250, label_visibility="collapsed")
        action = FORMS[what](now)
        # no on_click: it would do what was in the fields before, when a value and the click arrive together
        if st.button("Do it", icon=":material/add:", key="watermark_add"):
            state_watermark.add(at, action)
            st.rerun()
    if left_out:
        follow = "step that follows" if left_out == 1 else f"{left_out} steps that follow"
        widgets.note(f"It takes the place of the {follow}.")
    if (why := state.refused(state_watermark.LAB)) is not None:
        widgets.line(":red", "error", "That cannot happen", formats.md(why))


def begin_again() -> None:
    """Go to the first story."""
    state_watermark.tell(STORIES[0].name)
