"""What-ifs and simulations of a scenario, computed in a process apart from the one that polls."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

import assignors
from app.apart import run_apart
from app.documents.simulation import TimelineDocument
from app.documents.whatif import GenerationsDocument, RefusalDocument
from app.plugins import DEADLINE_S
from app.server.api.endpoint import JSON, Body, Call, Endpoint, Query
from app.server.api.problem import ApiError, FieldErrorDocument, field_error, invalid_fields
from app.server.api.worker import ALL, SIMULATE, WHAT_IF
from assignors.scenario import schema
from assignors.scenario.syntax import MOST_BYTES
from assignors.spelling import shown, suggestion

YAML = "application/yaml"
MOST_AT_A_TIME = 2
WAIT_S = 1.0
"""How long a request waits for one of the processes before it is refused."""

_processes = BoundedSemaphore(MOST_AT_A_TIME)


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
        field_error(f"query.assignor.{at}", f"No assignor is named {shown(name)!r}.{suggestion(name[:255], known)}")
        for at, name in enumerate(call.query.assignor)
        if name not in known
    ]
    if wrong:
        raise invalid_fields(wrong)
    return computed(WHAT_IF, call.body, {"assignors": call.query.assignor, "plugins": plugins})


def simulate(call: Call[SimulateQuery]) -> bytes:
    """The scenario second by second. Raises ApiError."""
    query = call.query
    options = {"protocols": query.protocol, "seed": query.seed, "latency_ms": query.latency_ms}
    return computed(SIMULATE, call.body, options)


def computed(task: str, scenario: bytes, options: Mapping[str, Any], deadline_s: float = DEADLINE_S) -> bytes:
    """The answer of a worker process. Raises ApiError."""
    if not _processes.acquire(timeout=WAIT_S):
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_AT_A_TIME} scenarios are being computed already.")
    try:
        question = {"task": task, "deadline_s": deadline_s, "options": options}
        ended = run_apart("app.server.api.worker", json.dumps(question).encode() + b"\n" + scenario, deadline_s)
    finally:
        _processes.release()
    if ended is None:
        told = f"The scenario had no result after {deadline_s:g} s, so its process was stopped."
        raise ApiError(HTTPStatus.GATEWAY_TIMEOUT, told)
    status, _, answer = ended.answer.partition(b"\n")
    if not status:
        told = f"The process of the scenario ended with code {ended.code}. The server's log has more."
        raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, told)
    if int(status) != HTTPStatus.OK:
        refusal = json.loads(answer)
        raise ApiError(HTTPStatus(int(status)), refusal["detail"], refusal["errors"])
    return answer


SCENARIO = Body({JSON: schema(), YAML: schema()}, MOST_BYTES)

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("/what-if", "The generations of a scenario", WhatIfDocument, what_if, WhatIfQuery, SCENARIO),
    Endpoint("/simulate", "A scenario second by second", SimulateDocument, simulate, SimulateQuery, SCENARIO),
)
