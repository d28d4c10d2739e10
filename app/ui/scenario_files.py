"""Scenarios of uploads and links: small ones are checked here, others by a worker, since they may take seconds."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from app.server.workers.pool import NotComputed, computed
from assignors.scenario import Problem, ScenarioError, check_bytes, load_scenario
from assignors.whatif.events import Scenario

T = TypeVar("T")

SMALL_BYTES = 20_000
"""Checked in 0.05 s of processor time, whatever it holds."""


def uploaded(data: bytes, name: str) -> Scenario:
    """The scenario of a file. Raises ScenarioError."""
    return _computed(partial(check_bytes, data, name), len(data)).scenario


def linked(text: str) -> Scenario:
    """The scenario of a link. Raises ScenarioError."""
    return _computed(partial(load_scenario, text), len(text))


def _computed(function: Callable[[], T], size_bytes: int) -> T:
    if size_bytes <= SMALL_BYTES:
        return function()
    try:
        return computed(function)
    except NotComputed as error:
        raise ScenarioError([Problem(None, "", str(error))]) from None
