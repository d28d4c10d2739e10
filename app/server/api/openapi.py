"""The OpenAPI 3.1 document, made from the list of endpoints and their types."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.server.api.endpoint import JSON, Endpoint, Query
from app.server.api.problem import MEDIA_TYPE, ProblemDetailsDocument
from app.server.readiness import Probe
from lag.version import VERSION

OPENAPI = "3.1.0"
ROOT = "/api"
PREFIX = f"{ROOT}/v1"
REFERENCE = "#/components/schemas/{model}"
NOT_MODIFIED = {"304": {"description": "Not modified: If-None-Match has the current version"}}
BODY = "Body."
"""Begins the names of the parts of bodies."""

_NAME = re.compile(r"\{(\w+)\}")

MODE: JsonSchemaMode = "serialization"


def openapi(endpoints: Sequence[Endpoint[Any]], probes: Sequence[Probe]) -> dict[str, Any]:
    """The document that describes these endpoints and probes."""
    types = {ProblemDetailsDocument, *(each.answer for each in endpoints), *(each.answer for each in probes)}
    answers, components = _schemas({repr(each): each for each in types})
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        bodies = {} if endpoint.body is None else {k: _body(v, components) for k, v in endpoint.body.schemas.items()}
        operation = _operation(endpoint, answers[repr(endpoint.answer)], bodies)
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = operation
    paths |= {ROOT + probe.path: {"get": _probe(probe, answers[repr(probe.answer)])} for probe in probes}
    return {
        "openapi": OPENAPI,
        "info": {
            "title": "groupscope",
            "version": VERSION,
            "description": "Kafka consumer groups: state, lag, verdicts and what-ifs. Times are in ms since 1970.",
        },
        "paths": paths,
        "components": {"schemas": {name: components[name] for name in sorted(components)}},
    }


def _schemas(types: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The schema of each type, and those that they refer to."""
    adapters = [(name, MODE, TypeAdapter(each)) for name, each in types.items()]
    schemas, shared = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE)
    return {name: schemas[name, MODE] for name in types}, shared.get("$defs", {})


def _body(schema: Mapping[str, Any], components: dict[str, Any]) -> Mapping[str, Any]:
    """The schema of a body, with its definitions among the components."""
    moved = json.loads(json.dumps(schema).replace('"#/$defs/', f'"{REFERENCE.format(model=BODY)}'))
    components.update({BODY + name: its for name, its in moved.pop("$defs", {}).items()})
    moved.pop("$schema", None)
    return moved  # type: ignore[no-any-return]


def _operation(endpoint: Endpoint[Any], answer: Any, bodies: Mapping[str, Any]) -> dict[str, Any]:
    media_type = endpoint.media_type
    content = {kind: {"schema": schema} for kind, schema in bodies.items()}
    body = {"requestBody": {"required": True, "content": content}} if bodies else {}
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.respond.__name__,
        "parameters": [*_path_parameters(endpoint.path), *_query_parameters(endpoint.query)],
        **body,
        "responses": {
            "200": {"description": endpoint.summary, "content": {media_type: {"schema": answer}}},
            **(NOT_MODIFIED if endpoint.method == "GET" and endpoint.media_type == JSON else {}),
            "default": _PROBLEM,
        },
    }


def _probe(probe: Probe, answer: Any) -> dict[str, Any]:
    described = {"description": probe.summary, "content": {JSON: {"schema": answer}}}
    return {
        "summary": probe.summary,
        "operationId": probe.respond.__name__,
        "parameters": [],
        "responses": {**{str(status): described for status in probe.statuses}, "default": _PROBLEM},
    }


_PROBLEM = {
    "description": "A problem (RFC 9457)",
    "content": {MEDIA_TYPE: {"schema": {"$ref": REFERENCE.format(model=ProblemDetailsDocument.__name__)}}},
}


def _path_parameters(path: str) -> Iterator[dict[str, Any]]:
    for name in _NAME.findall(path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameters(query: type[Query]) -> Iterator[dict[str, Any]]:
    schema = query.model_json_schema()
    for name, its in schema.get("properties", {}).items():
        value = _inlined(its, schema)
        described = {"description": its["description"]} if "description" in its else {}
        value = {key: each for key, each in value.items() if key not in ("title", "description")}
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            **described,
            "schema": value,
        }


def _inlined(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with the definitions that it refers to in their place."""
    if isinstance(value, list):
        return [_inlined(each, schema) for each in value]
    if not isinstance(value, dict):
        return value
    referred = schema["$defs"][value["$ref"].rpartition("/")[2]] if "$ref" in value else {}
    return {**referred, **{key: _inlined(each, schema) for key, each in value.items() if key != "$ref"}}
