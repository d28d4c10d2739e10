"""What-ifs and simulations of a scenario, computed in a process apart from the one that polls."""

from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

import assignors
from app.documents.simulation import TimelineDocument
from app.documents.whatif import GenerationsDocument, RefusalDocument
from app.server.api.endpoint import JSON, Body, Call, Endpoint, Query
from app.server.api.problem import FieldErrorDocument, field_error, invalid_fields
from app.server.api.worker.computation import computed
from app.server.api.worker.tasks import ALL, SIMULATE, WHAT_IF
from assignors.scenario import schema
from assignors.scenario.syntax import MOST_BYTES
from assignors.spelling import shown, suggestion

YAML = "application/yaml"


class WhatIfQuery(Query):
    """Which assignors to run."""

    assignor: tuple[str, ...] = Field(
        (), max_length=16, description=f"instead of the scenario's own; `{ALL}` runs every suitable one"
    )


class SimulateQuery(Query):
    """How to simulate."""

    protocol: tuple[Literal["eager", "cooperative", "consumer"], ...] = Field(
        (), max_length=3, description="instead of the scenario's own"
    )
    seed: int = Field(0, ge=0, le=2**53, description="of what is random in Kafka: member ids and times of heartbeats")
    latency_ms: int | None = Field(None, ge=0, le=60_000, description="one-way latency of a message")


class WhatIfDocument(TypedDict):
    """The generations of the scenario under each assignor. `warnings` are about the scenario."""

    scenario: str
    warnings: list[FieldErrorDocument]
    assignors: dict[str, GenerationsDocument | RefusalDocument]


class SimulateDocument(TypedDict):
    """The timeline of the scenario under each protocol, in ms since its start. `warnings` are about the scenario."""

    scenario: str
    warnings: list[FieldErrorDocument]
    seed: int
    protocols: dict[str, TimelineDocument | RefusalDocument]


def what_if(call: Call[WhatIfQuery]) -> bytes:
    """Who gets which partition, event by event. Raises ApiError."""
    plugins = list(call.source.settings.plugins)
    known = (*assignors.names(), *plugins, ALL)
    wrong = [
        field_error(f"query.assignor.{at}", f"No assignor is named {shown(name)!r}.{suggestion(name, known)}")
        for at, name in enumerate(call.query.assignor)
        if name not in known
    ]
    if wrong:
        raise invalid_fields(wrong)
    memory_mb = call.source.settings.plugin_memory_mb
    options = {"assignors": call.query.assignor, "plugins": plugins, "plugin_memory_mb": memory_mb}
    return computed(WHAT_IF, call.body, options)


def simulate(call: Call[SimulateQuery]) -> bytes:
    """The scenario second by second. Raises ApiError."""
    query = call.query
    options = {"protocols": query.protocol, "seed": query.seed, "latency_ms": query.latency_ms}
    return computed(SIMULATE, call.body, options)


SCENARIO = Body({JSON: schema(), YAML: schema()}, MOST_BYTES)

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("/what-if", "The generations of a scenario", WhatIfDocument, what_if, WhatIfQuery, SCENARIO),
    Endpoint("/simulate", "A scenario second by second", SimulateDocument, simulate, SimulateQuery, SCENARIO),
)
