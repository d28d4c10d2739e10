"""What the Protocol lab shows: the story with its changes in the URL, and what comes of it, cached."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

import streamlit as st

from app.ui import state
from app.ui.scenario.played import Played
from app.ui.scenario.story_link import (
    BY_NAME,
    PARAMETERS,
    PROTOCOLS,
    SLIDERS,
    LinkError,
    Told,
    check,
    decode,
    encode,
    value_of,
)
from assignors.model import AssignorError
from assignors.scenario import check_bytes, dump
from assignors.simulation.settings import read
from assignors.simulation.side_by_side import simulate_all
from assignors.simulation.summary import summarize
from assignors.simulation.timeline import Timeline
from assignors.whatif.events import Scenario
from assignors.whatif.rebalance_protocol import RebalanceProtocol

LAB, FINDER, PROTOCOL = "protocol", "finder", "protocol"
"""Where refusals are kept; the parameter of a group id to find; that of one protocol's generations."""


def told() -> Told:
    """What the URL says. Raises LinkError."""
    said = {name: text for name in PARAMETERS if (text := state.url(name)) is not None}
    return decode(said)


def tell(name: str) -> None:
    """Begin another story."""
    _write(Told(name, BY_NAME[name].scenario, {}))


def take(data: bytes, name: str) -> None:
    """Play an uploaded file. Raises ScenarioError when it is none; one that is too large here is refused."""
    _try(Told(None, check_bytes(data, name).scenario, {}))


def change(parameter: str, value: int) -> None:
    """Set one setting; what Kafka or the page refuses leaves all as it was."""
    its = told()
    changes = {**its.changes, parameter: value}
    if value == value_of(its.begun, SLIDERS[parameter]):
        del changes[parameter]
    _try(replace(its, changes=changes, window=(None, None)))


def look(from_ms: int | None, to_ms: int | None) -> None:
    """Show another part of the time; None: as it is at first."""
    _write(replace(told(), window=(from_ms, to_ms)))


def draw_lots(seed: int) -> None:
    """Another seed for what is chance."""
    _write(replace(told(), seed=seed, window=(None, None)))


def as_generations(its: Told, protocol: RebalanceProtocol) -> dict[str, str]:
    """The parameters of the Generations page for what comes of it under that protocol."""
    return {**encode(replace(its, window=(None, None), messages=None)), PROTOCOL: protocol.value}


def show_messages(protocol: RebalanceProtocol | None) -> None:
    """Draw the messages of one protocol."""
    _write(replace(told(), messages=protocol))


def as_file(its: Told) -> bytes:
    """The scenario as YAML."""
    return dump(its.scenario).encode()


def _try(its: Told) -> None:
    try:
        check(its.scenario)
        _write(its)
    except LinkError as error:
        state.refuse(LAB, str(error))


def _write(its: Told) -> None:
    said = encode(its)
    for name in PARAMETERS:
        state.set_url(name, said.get(name))


def played(scenario: Scenario, seed: int) -> Mapping[RebalanceProtocol, Played | str]:
    """The story under each protocol, or why it cannot be played there; shared by all sessions."""
    return _played(sha256(dump(scenario).encode()).hexdigest(), seed, scenario)


@st.cache_resource(max_entries=16, show_spinner="Playing the story")
def _played(key: str, seed: int, _scenario: Scenario) -> Mapping[RebalanceProtocol, Played | str]:
    found = simulate_all(_scenario, read(_scenario.protocol), PROTOCOLS, seed=seed)
    return {protocol: _summed(protocol, its) for protocol, its in found.items()}


def _summed(protocol: RebalanceProtocol, its: Timeline | AssignorError) -> Played | str:
    return str(its) if isinstance(its, AssignorError) else Played(protocol, its, summarize(its))
