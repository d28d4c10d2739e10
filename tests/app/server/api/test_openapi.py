"""The OpenAPI document describes every endpoint, and is valid itself."""

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator

from app.server.api.openapi import PREFIX, ROOT
from app.server.api.routes import ENDPOINTS
from app.server.readiness import PROBES
from tests.app.server.api.conformity import document


def test_every_endpoint_and_probe_is_described() -> None:
    described = {(method.upper(), path) for path, methods in document()["paths"].items() for method in methods}
    endpoints = {(endpoint.method, PREFIX + endpoint.path) for endpoint in ENDPOINTS}
    assert described == endpoints | {("GET", ROOT + probe.path) for probe in PROBES}
    assert document()["openapi"] == "3.1.0"


def references(value: Any) -> Iterator[str]:
    """The references anywhere in the value."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        yield from (each for key, each in value.items() if key == "$ref")
        for each in value.values():
            yield from references(each)


def test_every_schema_is_a_json_schema_and_every_reference_is_there() -> None:
    schemas = document()["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    assert set(references(document())) <= {f"#/components/schemas/{name}" for name in schemas}


def test_every_parameter_and_operation_has_what_openapi_demands() -> None:
    ids = []
    for path, methods in document()["paths"].items():
        for operation in methods.values():
            ids.append(operation["operationId"])
            named = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path))
            for parameter in operation["parameters"]:
                Draft202012Validator.check_schema(parameter["schema"])
                assert parameter["in"] != "path" or parameter["required"]
            assert all(response["description"] for response in operation["responses"].values())
    assert len(ids) == len(set(ids))
