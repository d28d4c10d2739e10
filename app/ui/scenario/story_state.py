"""The Protocol lab's story in the URL, and its runs under each protocol, cached."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from app.server.workers.pool import NotComputed, TimedOut, computed
from app.ui import scenario_files
from app.ui.labs.lab_state import LabState
from app.ui.scenario.played import Played, play
from app.ui.scenario.story_link import PROTOCOLS, SLIDERS, STORIES, ProtocolStory, value_of
from assignors.model import AssignorError
from assignors.scenario import dump
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

FINDER, PROTOCOL = "finder", "protocol"
"""The URL parameters of a group id to find, and of the protocol whose generations are shown."""

_WHOLE = {"from": None, "to": None}
"""The time shown, as at first."""


class ProtocolLab(LabState[ProtocolStory]):
    """Its files are scenarios."""

    def file(self, story: ProtocolStory) -> bytes:
        """The scenario as YAML."""
        return dump(story.scenario).encode()

    def upload(self, data: bytes, name: str) -> None:
        """Show an uploaded scenario. Raises ScenarioError; a scenario that is too large for a page is refused."""
        scenario = scenario_files.uploaded(data, name)
        try:
            self.open(self.first.changed({"scenario": scenario}))
        except AssignorError as error:
            self.refuse(error)

    def set_slider(self, parameter: str, value: int) -> None:
        """Change one setting."""
        is_base = value == value_of(self.current().base, SLIDERS[parameter])
        self.change({parameter: None if is_base else value, **_WHOLE})

    def set_seed(self, seed: int) -> None:
        """Change what is random."""
        self.change({"seed": seed, **_WHOLE})

    def to_generations(self, story: ProtocolStory, protocol: RebalanceProtocol) -> dict[str, str]:
        """The parameters of the Generations page for the story under that protocol."""
        return {**self.parameters(story.changed({"messages": None, **_WHOLE})), PROTOCOL: protocol.value}


LAB = ProtocolLab(STORIES)


def played(scenario: Scenario, seed: int) -> Mapping[RebalanceProtocol, Played | str]:
    """The story under each protocol, or why it cannot be simulated there; shared by all sessions."""
    try:
        return _played(scenario, seed)
    except NotComputed as error:
        return _without_result(error)


@st.cache_resource(max_entries=16, show_spinner="Simulating the story", hash_funcs={Scenario: dump})
def _played(scenario: Scenario, seed: int) -> Mapping[RebalanceProtocol, Played | str]:
    try:
        return computed(partial(play, scenario, seed, PROTOCOLS))
    except TimedOut as error:  # kept, so that it does not take as long again with the next redraw
        return _without_result(error)


def _without_result(error: NotComputed) -> Mapping[RebalanceProtocol, str]:
    return dict.fromkeys(PROTOCOLS, str(error))
