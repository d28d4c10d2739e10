"""From a request to an answer: checks query and body, calls the endpoint, and writes its answer or a problem."""

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from math import ceil
from threading import BoundedSemaphore
from typing import Any, TypeVar, get_origin
from urllib.parse import quote, unquote

from anyio import CapacityLimiter, to_thread
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Mount, Route
from starlette.types import Scope

from app.server import source
from app.server.access.limits import BURST, EVERY_S, computations
from app.server.access.visitor import of_request
from app.server.api.endpoint import EVENTS, JSON, Call, Endpoint, Query
from app.server.api.event_stream import event_stream
from app.server.api.problem import MEDIA_TYPE, ApiError, field_error, invalid, invalid_fields
from assignors.spelling import shown

log = logging.getLogger(__name__)
T = TypeVar("T")

THREADS = CapacityLimiter(16)
"""Answers from snapshots that are made at a time; others wait. Pages have threads of their own."""

MOST_FOR_WORKER = 16
"""Requests that wait for a worker process; more are refused. Each has a thread besides THREADS, so that answers from
snapshots do not wait for these."""
_for_worker = BoundedSemaphore(MOST_FOR_WORKER)

MOST_QUERY_BYTES = 16_384


class EncodedRoute(Route):
    """A route whose path is matched before it is decoded: a name in it may contain an encoded slash."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the path matches, with the decoded names."""
        match, child = super().matches(_encoded(scope))
        if match is not Match.NONE:
            child["path_params"] = {name: unquote(value) for name, value in child["path_params"].items()}
        return match, child


class EncodedMount(Mount):
    """A mount whose path is matched before it is decoded: a name in it may contain a line break."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the path matches."""
        return super().matches(_encoded(scope))


def _encoded(scope: Scope) -> Scope:
    """The scope with the path as it was sent."""
    return {**scope, "path": path_as_sent(scope)}


def path_as_sent(scope: Scope) -> str:
    """The path with its percent-encoding."""
    raw: bytes = scope.get("raw_path") or quote(scope.get("path", "")).encode()
    return raw.decode("latin-1")


def route(endpoint: Endpoint[Any]) -> EncodedRoute:
    """The route of an endpoint, below the path where the API is mounted."""

    async def respond(request: Request) -> Response:
        try:
            query, body = query_of(request, endpoint.query), await body_of(request, endpoint)
            call = Call(source.current(), request.path_params, query, request.headers, body)
            if endpoint.media_type == EVENTS:
                return event_stream(endpoint.respond(call), has_body=request.method != "HEAD")
            return await in_thread(partial(_answer, request, endpoint, call), for_worker=endpoint.body is not None)
        except ApiError as error:
            return _refusal(error)
        except ClientDisconnect:
            raise
        except Exception:  # a bug: the client gets no traceback
            log.exception("%s %s: internal error", endpoint.method, endpoint.path)
            return _refusal(ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal error. See the server's log."))

    return EncodedRoute(endpoint.path, respond, methods=[endpoint.method])


async def in_thread(respond: Callable[[], T], *, for_worker: bool) -> T:
    """What the function returns, called in a thread. `for_worker`: it waits for a worker process. Raises ApiError."""
    if not for_worker:
        return await to_thread.run_sync(respond, limiter=THREADS)
    check_rate()
    if not _for_worker.acquire(blocking=False):
        raise ApiError(
            HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_FOR_WORKER} requests are already waiting for a worker process."
        )
    try:
        return await to_thread.run_sync(respond, limiter=CapacityLimiter(1))
    finally:
        _for_worker.release()


def check_rate() -> None:
    """Count an expensive computation for the one that makes the request. Raises ApiError 429 if there were too many."""
    visitor = of_request()
    wait_s = 0.0 if visitor is None else computations.wait_s(visitor.client)
    if wait_s:
        detail = f"Too many computations: at most {BURST} at once, then one every {EVERY_S:g} s."
        raise ApiError(HTTPStatus.TOO_MANY_REQUESTS, detail, retry_after_s=ceil(wait_s))


def _answer(request: Request, endpoint: Endpoint[Any], call: Call[Any]) -> Response:
    if endpoint.body is not None:
        return Response(_data(endpoint.respond(call)), media_type=JSON)
    given = ",".join(request.headers.getlist("if-none-match"))
    tag = _snapshot_tag(call) if endpoint.of_snapshot else None
    if tag is None or not _has(given, tag):
        data = _data(endpoint.respond(call))  # for "*", too: whether there is an answer is only known then
        tag = tag or _weak(sha256(data).hexdigest()[:32])
        if given.strip() != "*" and not _has(given, tag):
            return Response(data, headers=_headers(tag), media_type=JSON)
    return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=_headers(tag))


def _data(content: Any) -> bytes:
    return content if isinstance(content, bytes) else encoded(content)


def encoded(document: Any) -> bytes:
    """The document as JSON, which has neither infinity nor NaN."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "backslashreplace"
    )


def _snapshot_tag(call: Call[Any]) -> str:
    """The entity tag of everything that is computed from the snapshot. Raises ApiError if it lacks group or topic."""
    if "group" in call.path:
        _ = call.group
    call.check_topic()
    snapshot = call.report.snapshot
    visitor = call.source.visitor
    seen = "" if visitor is None else f".{sha256(repr(visitor.grants).encode()).hexdigest()[:16]}"
    return _weak(f"{quote(call.cluster, safe='')}.{snapshot.number}.{snapshot.at_ms}{seen}")


def _weak(opaque: str) -> str:
    """A weak entity tag: the same answer has other bytes when it is compressed."""
    return f'W/"{opaque}"'


def _has(given: str, tag: str) -> bool:
    """Whether the client has that version (RFC 9110, If-None-Match with weak comparison)."""
    return tag in (f"W/{each.strip().removeprefix('W/')}" for each in given.split(","))


def _headers(tag: str) -> Mapping[str, str]:
    return {"ETag": tag, "Cache-Control": "no-cache"}


def query_of(request: Request, model: type[Query]) -> Any:
    """The query as its model. Raises ApiError with each field that is wrong."""
    if len(request.scope["query_string"]) > MOST_QUERY_BYTES:
        raise ApiError(HTTPStatus.REQUEST_URI_TOO_LONG, f"The query has more than {MOST_QUERY_BYTES:,} bytes.")
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    fields = model.model_fields
    lists = {name for name, field in fields.items() if get_origin(field.annotation) is tuple}
    repeated = [name for name, values in given.items() if len(values) > 1 and name not in lists]
    if repeated:
        raise invalid_fields([field_error(f"query.{name}", "Given more than once") for name in repeated])
    try:
        return model.model_validate({name: its if name in lists else its[0] for name, its in given.items()})
    except ValidationError as error:
        raise invalid("query", error, list(fields)) from None


async def body_of(request: Request, endpoint: Endpoint[Any]) -> bytes:
    """The body, b"" for an endpoint without one. Raises ApiError if it is too large, encoded or of another type."""
    if endpoint.body is None:
        return b""
    if coding := ",".join(request.headers.getlist("content-encoding")).strip():
        raise ApiError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The Content-Encoding is {shown(coding)}. Send the body without one."
        )
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in endpoint.body.schemas:
        allowed = " or ".join(endpoint.body.schemas)
        raise ApiError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The Content-Type is {kind or 'missing'}. Use {allowed}.")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > endpoint.body.most_bytes:
            raise ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The body has more than {endpoint.body.most_bytes:,} bytes."
            )
    return bytes(data)


def _refusal(error: ApiError) -> Response:
    """The error as an answer."""
    wait_s = 5 if error.status is HTTPStatus.SERVICE_UNAVAILABLE else error.retry_after_s
    wait = {} if wait_s is None else {"Retry-After": str(wait_s)}
    return Response(encoded(error.document()), error.status.value, wait, MEDIA_TYPE)


async def http_problem(_request: Request, error: Exception) -> Response:
    """Starlette's own errors, such as 404 and 405, as a problem."""
    if not isinstance(error, HTTPException):
        raise error
    status = HTTPStatus(error.status_code)
    details = {HTTPStatus.NOT_FOUND: "There is no such address. /api/v1/openapi.json lists all of them."}
    answer = _refusal(ApiError(status, details.get(status, f"{status.phrase}: {status.description}.")))
    answer.headers.update(error.headers or {})
    return answer
