"""Whether an answer is what the OpenAPI document says of its address: no field missing, unknown or of another type."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from app.server.api.openapi import PREFIX
from tests.app.server.client import Answer, request


@cache
def document() -> Mapping[str, Any]:
    """The OpenAPI document, as it is served."""
    return request("GET", f"{PREFIX}/openapi.json").json  # type: ignore[no-any-return]


@cache
def _strict() -> Mapping[str, Any]:
    """The same, refusing what it does not name: a client may meet new fields, a test must not."""
    found: Mapping[str, Any] = _closed(document())
    return found


def _closed(value: Any) -> Any:
    if isinstance(value, list):
        return [_closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    closed = {key: _closed(each) for key, each in value.items()}
    is_object = value.get("type") == "object" and isinstance(value.get("properties"), dict)
    return {"additionalProperties": False, **closed} if is_object else closed


def operation(method: str, path: str) -> Mapping[str, Any]:
    """What the document says of the address."""
    for template, methods in _strict()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path) and method.lower() in methods:
            return methods[method.lower()]  # type: ignore[no-any-return]
    raise AssertionError(f"{method} {path} is not in the document")


def check(value: Any, schema: Mapping[str, Any]) -> None:
    """Raises if the value does not have the schema, which may refer to the document's components."""
    whole = Resource.from_contents({**schema, "components": _strict()["components"]}, DRAFT202012)
    Draft202012Validator(whole.contents, registry=Registry().with_resource("", whole)).validate(value)


def conforming(answer: Answer, method: str, path: str) -> Answer:
    """The answer, checked."""
    if answer.status == 304:
        assert answer.text == ""
        return answer
    responses = operation(method, path)["responses"]
    content = responses.get(str(answer.status), responses["default"])["content"]
    media_type = answer.headers["content-type"].partition(";")[0]
    if media_type.endswith("json"):
        check(answer.json, content[media_type]["schema"])
    return answer


def ask(path: str, query: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """The conforming answer to a GET below /api/v1."""
    whole = PREFIX + path
    return conforming(request("GET", whole, query, headers=headers), "GET", whole)


def post(path: str, body: bytes, query: str = "", media_type: str = "application/json") -> Answer:
    """The conforming answer to a POST below /api/v1."""
    whole = PREFIX + path
    return conforming(request("POST", whole, query, body, {"Content-Type": media_type}), "POST", whole)
