"""The OpenAPI 3.1 document, made from the list of endpoints and their types."""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.server.api.endpoint import Endpoint, Query
from app.server.api.problem import MEDIA_TYPE, ProblemDetailsDocument

VERSION = "3.1.0"
PREFIX = "/api/v1"
REFERENCE = "#/components/schemas/{model}"
_NAME = re.compile(r"\{(\w+)\}")

MODE: JsonSchemaMode = "serialization"


def openapi(endpoints: Sequence[Endpoint[Any]]) -> dict[str, Any]:
    """The document that describes these endpoints."""
    types = {endpoint.answer for endpoint in endpoints} | {ProblemDetailsDocument}
    answers, components = _schemas({repr(each): each for each in types})
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, answers[repr(endpoint.answer)])
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": VERSION,
        "info": {
            "title": "groupscope",
            "version": metadata.version("groupscope"),
            "description": "Kafka consumer groups: state, lag, verdicts and what-ifs. Times are in ms since 1970.",
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _schemas(types: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The schema of each type, and those that they refer to."""
    adapters = [(name, MODE, TypeAdapter(each)) for name, each in types.items()]
    schemas, shared = TypeAdapter.json_schemas(adapters, ref_template=REFERENCE)
    components = shared.get("$defs", {})
    return {name: schemas[name, MODE] for name in types}, {name: components[name] for name in sorted(components)}


def _operation(endpoint: Endpoint[Any], answer: Any) -> dict[str, Any]:
    media_type = endpoint.media_type
    body = {} if endpoint.body is None else {"requestBody": _body(endpoint.body.schemas)}
    return {
        "summary": endpoint.summary,
        "operationId": endpoint.respond.__name__,
        "parameters": [*_path_parameters(endpoint.path), *_query_parameters(endpoint.query)],
        **body,
        "responses": {
            "200": {"description": endpoint.summary, "content": {media_type: {"schema": answer}}},
            **({"304": {"description": "Not modified since the If-None-Match"}} if endpoint.body is None else {}),
            "default": {"description": "A problem (RFC 9457)", "content": {MEDIA_TYPE: {"schema": _PROBLEM}}},
        },
    }


_PROBLEM = {"$ref": REFERENCE.format(model=ProblemDetailsDocument.__name__)}


def _body(schemas: Mapping[str, Any]) -> dict[str, Any]:
    return {"required": True, "content": {kind: {"schema": schema} for kind, schema in schemas.items()}}


def _path_parameters(path: str) -> Iterator[dict[str, Any]]:
    for name in _NAME.findall(path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameters(query: type[Query]) -> Iterator[dict[str, Any]]:
    schema = query.model_json_schema()
    for name, its in schema.get("properties", {}).items():
        described = {"description": its["description"]} if "description" in its else {}
        value = {key: _inlined(each, schema) for key, each in its.items() if key not in ("title", "description")}
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
    if "$ref" in value:
        return schema["$defs"][value["$ref"].rpartition("/")[2]]
    return {key: _inlined(each, schema) for key, each in value.items()}
