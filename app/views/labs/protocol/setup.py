"""The controls of the Protocol lab: sliders for settings and assumptions."""

from collections.abc import Iterable
from functools import partial

import streamlit as st

from app.ui import widgets
from app.ui.labs import fields
from app.ui.labs.story import refusal
from app.ui.scenario.story_link import ASSUMED, KAFKA, MOST_NUMBER, ProtocolStory, Slider, value_of
from app.ui.scenario.story_state import LAB


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
    fields.number(
        LAB,
        "Seed",
        "seed",
        story.seed,
        (0, MOST_NUMBER - 1),
        change=LAB.set_seed,
        help="Determines what is random in Kafka: member ids, and the time to the first heartbeat and commit of each "
        "member. The same seed gives the same run.",
    )


def _sliders(story: ProtocolStory, sliders: Iterable[Slider]) -> None:
    for slider in sliders:
        value = value_of(story.scenario, slider)
        fields.field(
            LAB,
            st.slider,
            slider.setting,
            slider.parameter,
            value,
            partial(LAB.set_slider, slider.parameter),
            min_value=min(slider.least, value),  # a value outside the range widens it
            max_value=max(slider.most, value),
            step=slider.step,
        )
