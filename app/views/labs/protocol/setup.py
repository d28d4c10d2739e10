"""What the Protocol lab is set up from: a story or somebody's own file, and sliders for settings and assumptions."""

from collections.abc import Iterable

import streamlit as st

from app.ui import formats, state, upload, widgets
from app.ui.scenario import story_state as state_protocol
from app.ui.scenario.story_link import ASSUMED, BY_NAME, KAFKA, MOST_NUMBER_LETTERS, Slider, Told, value_of
from app.ui.story import choose, shows
from assignors.labs.checklist import Page
from assignors.simulation.stories import STORIES

MOST_SEED = 10**MOST_NUMBER_LETTERS - 1
_OWN, _UPLOAD = "own", "protocol_file"


def story(its: Told) -> None:
    """Choose a story, and what it shows; what was uploaded is your own."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        choose(
            "protocol_story",
            its.story or _OWN,
            [*BY_NAME, *([] if its.story else [_OWN])],
            lambda name: BY_NAME[name].scenario.name if name in BY_NAME else its.begun.name,
            _tell,
        )
        shows(its.begun.description, Page.PROTOCOL, its.story)
        upload.take_along(
            "Scenario file", _UPLOAD, "scenario.yaml", lambda: state_protocol.as_file(its), state_protocol.take
        )
    upload.problems(_UPLOAD)
    if (why := state.refused(state_protocol.LAB)) is not None:
        widgets.line(":red", "error", "Not changed", formats.md(why))


def _tell() -> None:
    if (name := st.session_state["protocol_story"]) in BY_NAME:
        state_protocol.tell(name)


def controls(its: Told) -> None:
    """Kafka's settings, and what no setting of Kafka says."""
    widgets.titled("Settings", ":gray[ms]")
    _sliders(its, KAFKA)
    label, icon = "Assumed: network, processing, restarts", ":material/tune:"
    assumed = st.expander(label, icon=icon, key="protocol_assumed", on_change="rerun")
    if assumed.open:  # closed, its sliders would be drawn with every change of another one
        with assumed:
            _sliders(its, ASSUMED)
            _seed(its)


def _seed(its: Told) -> None:
    st.session_state["protocol_seed"] = its.seed
    st.number_input(
        "Seed",
        0,
        MOST_SEED,
        key="protocol_seed",
        on_change=lambda: state_protocol.draw_lots(st.session_state["protocol_seed"]),
        help="What is chance in Kafka: member ids, and how far each member is from its next heartbeat and commit. The "
        "same seed gives the same story.",
    )


def _sliders(its: Told, sliders: Iterable[Slider]) -> None:
    for slider in sliders:
        value = value_of(its.scenario, slider)
        key = f"protocol_{slider.parameter}"
        st.session_state[key] = value
        st.slider(
            slider.setting,
            min(slider.least, value),
            max(slider.most, value),
            step=slider.step,
            key=key,
            on_change=_slide,
            args=(slider.parameter, key),
        )


def _slide(parameter: str, key: str) -> None:
    state_protocol.change(parameter, st.session_state[key])


def begin_again() -> None:
    """Go to the first story."""
    state_protocol.tell(STORIES[0].name)
