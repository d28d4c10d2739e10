"""The routes of the API: every endpoint, and the OpenAPI document that describes them."""

from functools import cache
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from app.server.api.dispatch import EncodedMount, encoded, http_problem, route
from app.server.api.endpoint import Call, Endpoint, Query
from app.server.api.endpoints import advice, changes, clusters, generations, groups, history, whatif
from app.server.api.openapi import PREFIX, ROOT, openapi
from app.server.readiness import PROBES


@cache
def document() -> bytes:
    """The OpenAPI document as JSON."""
    return encoded(openapi(ENDPOINTS, PROBES))


def openapi_document(_call: Call[Query]) -> bytes:
    """The description of this API."""
    return document()


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("/openapi.json", "This description, as OpenAPI 3.1", dict[str, Any], openapi_document, Query),
    *clusters.ENDPOINTS,
    *groups.ENDPOINTS,
    *generations.ENDPOINTS,
    *history.ENDPOINTS,
    *changes.ENDPOINTS,
    *advice.ENDPOINTS,
    *whatif.ENDPOINTS,
)

_PROBLEMS = {HTTPException: http_problem}
API = EncodedMount(PREFIX, Starlette(routes=[route(endpoint) for endpoint in ENDPOINTS], exception_handlers=_PROBLEMS))
_PROBE_ROUTES = [Route(probe.path, probe.respond) for probe in PROBES]
BESIDE_API = EncodedMount(ROOT, Starlette(routes=_PROBE_ROUTES, exception_handlers=_PROBLEMS))
"""The probes, and 404 for any other address, where Streamlit would answer with its page."""
