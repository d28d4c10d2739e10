"""Configuration advice on the properties of a consumer or a broker."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.documents.advice import AdviceDocument
from app.properties_advice import Kind
from app.server.api.endpoint import JSON, Body, Call, Endpoint, Query
from app.server.api.problem import invalid
from app.server.api.worker.computation import computed
from app.server.api.worker.tasks import ADVISE

MOST_CHARS = 100_000
MOST_MS = 366 * 86_400_000

Ms = Annotated[int | None, Field(ge=1, le=MOST_MS)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class WorkloadBody(_Strict):
    """What is known about the workload; what is left out gives no advice. Times in ms."""

    record_p99_ms: Annotated[float | None, Field(gt=0, le=MOST_MS)] = None
    batch_ms: Ms = None
    restart_ms: Ms = None
    gc_pause_ms: Ms = None
    tolerated_outage_ms: Ms = None
    planned_outage_ms: Ms = None
    async_workers: bool = False
    closes_in_finally: bool = False
    grows: bool = False
    members: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    acks_all: bool = False


class AdviceBody(_Strict):
    """A properties file as text. Its values are neither kept nor repeated."""

    kind: Kind = Kind.CONSUMER
    properties: Annotated[str, Field(max_length=MOST_CHARS)]
    workload: WorkloadBody = WorkloadBody()


def advice(call: Call[Query]) -> bytes:
    """The findings on the properties. Raises ApiError."""
    try:
        body = AdviceBody.model_validate_json(call.body)
    except ValidationError as error:
        raise invalid("body", error) from None
    options = {"kind": body.kind, "workload": body.workload.model_dump()}
    return computed(ADVISE, body.properties.encode("utf-8", "replace"), options)


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "/advice",
        "Advice on the properties of a consumer or a broker",
        AdviceDocument,
        advice,
        Query,
        Body({JSON: AdviceBody.model_json_schema()}, most_bytes=4 * MOST_CHARS),
    ),
)
