"""The controls of the Protocol lab: sliders for settings and assumptions."""

from collections.abc import Iterable

import streamlit as st

from app.ui import widgets
from app.ui.scenario.story_link import ASSUMED, KAFKA, MOST_NUMBER, ProtocolStory, Slider, value_of
from app.ui.scenario.story_state import LAB
from app.ui.story import refusal


def controls(story: ProtocolStory) -> None:
    """Kafka's settings, and assumptions about network, application and hosts."""
    refusal(LAB)
    widgets.titled("Settings", ":gray[ms]")
    _sliders(story, KAFKA)
    label, icon = "Assumed: network, processing, restarts", ":material/tune:"
    assumed = st.expander(label, icon=icon, key="protocol_assumed", on_change="rerun")
    if assumed.open:  # closed, its sliders would be drawn with every change of another one
        with assumed:
            _sliders(story, ASSUMED)
            _seed(story)


def _seed(story: ProtocolStory) -> None:
    st.session_state["protocol_seed"] = story.seed
    st.number_input(
        "Seed",
        0,
        MOST_NUMBER - 1,
        key="protocol_seed",
        on_change=lambda: LAB.set_seed(st.session_state["protocol_seed"]),
        help="Determines what is random in Kafka: member ids, and the time to the first heartbeat and commit of each "
        "member. The same seed gives the same run.",
    )


def _sliders(story: ProtocolStory, sliders: Iterable[Slider]) -> None:
    for slider in sliders:
        value = value_of(story.scenario, slider)
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
    LAB.set_slider(parameter, st.session_state[key])
