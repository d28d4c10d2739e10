"""What-ifs and simulations: of a scenario that is given, or of a live group with events."""

import json
from typing import Any, TypeVar

from pydantic import Field

from app.server.api.endpoint import Call, Query
from app.server.api.endpoints import whatif
from app.server.api.endpoints.generations import group_scenario
from app.server.api.endpoints.whatif import SimulateQuery, WhatIfQuery
from app.server.api.problem import ApiError, field_error, invalid_fields
from app.server.source import Source
from app.server.tools.tool import LONGEST_NAME, PLACE, Answered, OfCluster
from assignors.scenario.syntax import MOST_BYTES

SCENARIO = f"{PLACE}.scenario"
MOST_EVENTS = 1_000


class ScenarioArguments(OfCluster):
    """A scenario: either `scenario`, or `group` with `events`."""

    scenario: str | dict[str, Any] | None = Field(
        None,
        description="a scenario file as YAML, or its content as an object, such as {schema_version: 1, name: n, "
        "assignor: range, topics: [{name: t, partitions: 6}], members: [{id: a, topics: [t]}], "
        "events: [{at: 30s, join: {id: b, topics: [t]}}, {at: 60s, leave: a}]}; errors name the field",
    )
    group: str | None = Field(
        None, max_length=LONGEST_NAME, description="id of a live group to start from, instead of a scenario"
    )
    events: tuple[dict[str, Any], ...] = Field(
        (), max_length=MOST_EVENTS, description="with `group`: what happens to it, in the form of a scenario's events"
    )

    def path(self, source: Source) -> dict[str, str]:
        """The names of cluster and group; empty for a scenario that is given. Raises ApiError."""
        return {} if self.group is None else {**super().path(source), "group": self.group}


class WhatIfArguments(ScenarioArguments, WhatIfQuery):
    """A scenario, and which assignors to run."""


class SimulateArguments(ScenarioArguments, SimulateQuery):
    """A scenario, and how to simulate it."""


A = TypeVar("A", bound=ScenarioArguments)


def what_if(call: Call[WhatIfArguments]) -> Answered:
    """Who gets which partition, event by event. Raises ApiError."""
    asked, notes = _with_scenario(call)
    return Answered(whatif.what_if(asked), notes)


def simulate(call: Call[SimulateArguments]) -> Answered:
    """The scenario second by second. Raises ApiError."""
    asked, notes = _with_scenario(call)
    return Answered(whatif.simulate(asked), notes)


def _with_scenario(call: Call[A]) -> tuple[Any, list[str]]:
    """The call with the scenario as its body, and what is estimated or unknown in it. Raises ApiError."""
    given, notes = call.query.scenario, list[str]()
    if (given is None) == (call.query.group is None):
        raise _wrong("scenario", "Give either `scenario` or `group`")
    if given is not None and call.query.events:
        raise _wrong("events", "Only with `group`: a scenario already has its events")
    if given is None:
        live = group_scenario(Call(call.source, call.path, Query(), {}))
        given, notes = {**live["scenario"], "events": list(call.query.events)}, live["notes"]
    body = (given if isinstance(given, str) else json.dumps(given)).encode("utf-8", "replace")
    if len(body) > MOST_BYTES:
        raise _wrong("scenario", f"More than {MOST_BYTES:,} bytes")
    return Call(call.source, call.path, call.query, {}, body), notes


def _wrong(field: str, message: str) -> ApiError:
    return invalid_fields([field_error(f"{PLACE}.{field}", message)])
