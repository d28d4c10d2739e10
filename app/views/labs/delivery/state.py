"""What the Delivery lab shows: the lab and the failure in the URL, and what all strategies come to, cached."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from app.ui import lab_files, state
from app.views.labs.delivery.link import NAMES, PARAMETERS, check, decode, encode, written
from assignors.labs.delivery import Failure, FailureKind, Lab, LabError, Strategy, first_life, under, worst
from assignors.labs.delivery.closed_form import Outcome

LAB = "delivery"
OUTSIDERS = (FailureKind.OUTSIDER_REFUSED, FailureKind.OUTSIDER_ACCEPTED)


def chosen() -> tuple[Lab, Failure]:
    """What the URL says; the first story where it says nothing. Raises LabError."""
    said = {name: text for name in NAMES if (text := state.url(name)) is not None}
    return decode(said)


def show(lab: Lab, failure: Failure) -> None:
    """Put a lab and a failure into the URL; what cannot be is refused, and the page stays as it was."""
    failure = _possible(lab, failure)
    try:
        check(lab, failure)
    except LabError as error:
        state.refuse(LAB, str(error))
        return
    said = encode(lab, failure)
    for name in NAMES:
        state.set_url(name, said.get(name))


def change(field: str, text: str) -> None:
    """Change one field to what somebody typed."""
    lab, failure = chosen()
    try:
        parsed = decode({**encode(lab, replace(failure, step=0)), PARAMETERS[field]: text})
    except LabError as error:
        state.refuse(LAB, str(error))
        return
    show(parsed[0], replace(parsed[1], step=failure.step))


def as_file(lab: Lab, failure: Failure) -> bytes:
    """All of it as a text file."""
    return lab_files.write(LAB, written(lab, failure))


def take(data: bytes, name: str) -> None:
    """Play an uploaded file. Raises ScenarioError naming the line, or what contradicts what."""
    said = lab_files.read(data, LAB, NAMES)
    try:
        show(*decode(said))
    except LabError as error:
        raise lab_files.refused(error) from None


def switch(strategy: Strategy) -> None:
    """Another strategy, and the failure at the same moment."""
    show(*under(*chosen(), strategy))


def _possible(lab: Lab, failure: Failure) -> Failure:
    """The same failure with a step that this lab has, and something for a standalone consumer to commit."""
    step = min(failure.step, len(first_life(lab, failure.failed_commits)))
    outsider = failure.outsider if failure.kind in OUTSIDERS else ()
    if failure.kind in OUTSIDERS and len(outsider) != len(lab.end):
        outsider = lab.start
    return replace(failure, step=step, outsider=outsider)


def worst_of(lab: Lab, failure: Failure) -> Mapping[Strategy, Outcome]:
    """Per strategy the most records twice and lost, whenever the failure comes."""
    anytime = replace(failure, step=0)
    return _worst(repr((lab, sorted(lab.expired), anytime.kind, sorted(anytime.failed_commits))), lab, anytime)


@st.cache_resource(max_entries=64, show_spinner=False)
def _worst(key: str, _lab: Lab, _failure: Failure) -> Mapping[Strategy, Outcome]:
    return worst(_lab, _failure)
