"""What a tool is: its name, its arguments, the type of its answer, and the function that answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from pydantic import Field, TypeAdapter, ValidationError

from app.pages import BY_NAME, PAGES
from app.server.api.endpoint import Call, Query
from app.server.api.problem import ApiError, field_error, invalid, invalid_fields
from app.server.source import Source

PLACE = "arguments"
"""Begins the names of fields in errors."""

LONGEST_NAME = 32_767
"""Characters of a group's id: Kafka's limit of a string."""


class OfCluster(Query):
    """Arguments that name a cluster."""

    cluster: str | None = Field(
        None, max_length=255, description="name of the cluster; may be left out if there is only one"
    )

    def path(self, source: Source) -> dict[str, str]:
        """The names of cluster and group, as the path of an address has them. Raises ApiError."""
        return {"cluster": self.cluster if self.cluster is not None else _only_cluster(list(source.feeds))}


class OfGroup(OfCluster):
    """Arguments that name a group."""

    group: str = Field(max_length=LONGEST_NAME, description="id of the group")

    def path(self, source: Source) -> dict[str, str]:
        """The names of cluster and group. Raises ApiError."""
        return {**super().path(source), "group": self.group}


def _only_cluster(known: Sequence[str]) -> str:
    if not known:
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, "No cluster is configured.")
    if len(known) > 1:
        raise invalid_fields([field_error(f"{PLACE}.cluster", f"Required. The clusters are {', '.join(known)}")])
    return known[0]


A = TypeVar("A", bound=Query)


@dataclass(frozen=True, slots=True)
class Answered:
    """The document, or its JSON in bytes, and notes on what it rests on."""

    document: Any
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A question that agents can ask. `answer` is the type of the document; `page` names the page that shows more.

    `body` is what the body of the HTTP API's request is made of: the arguments, or one of them. `needs_worker`: the
    answer is computed in a worker process.
    """

    name: str
    description: str
    arguments: type[A]
    answer: Any
    respond: Callable[[Call[A]], Answered]
    page: str
    body: str = PLACE
    needs_worker: bool = False

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return self.arguments.model_json_schema()

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of an answer: the document, notes, and the address of the page."""
        result = TypeAdapter(self.answer).json_schema(mode="serialization")
        definitions = result.pop("$defs", {})
        page = {"type": ["string", "null"], "description": "address of the page that shows more"}
        notes = {"type": "array", "items": {"type": "string"}, "description": "what is estimated or unknown"}
        return {
            "type": "object",
            "properties": {"page": page, "notes": notes, "result": result},
            "required": ["page", "notes", "result"],
            "$defs": definitions,
        }

    def call(self, source: Source, given: object) -> Call[A]:
        """The call with these arguments. Raises ApiError with each argument that is wrong."""
        try:
            arguments = self.arguments.model_validate(given)
        except ValidationError as error:
            raise invalid(PLACE, error, list(self.arguments.model_fields)) from None
        return Call(source, arguments.path(source) if isinstance(arguments, OfCluster) else {}, arguments, {})

    def in_terms_of_arguments(self, error: ApiError, call: Call[A]) -> ApiError:
        """The error with the names of arguments, where the HTTP API has a query and a body."""
        body = PLACE if "group" in call.path else self.body

        def renamed(field: str) -> str:
            place, _, rest = field.partition(".")
            return f"{body if place == 'body' else PLACE}.{rest}".rstrip(".")

        errors = [field_error(renamed(each["field"]), each["message"], each["line"]) for each in error.errors]
        return invalid_fields(errors) if errors else error

    def address(self, dashboard: str | None, call: Call[A]) -> str | None:
        """The address of the page that shows more; None without a dashboard."""
        if dashboard is None:
            return None
        page = BY_NAME[self.page]
        names = {name: value for name, value in call.path.items() if name == "cluster" or page.shows_group}
        query = f"?{urlencode(names)}" if names else ""
        return f"{dashboard.rstrip('/')}/{'' if page is PAGES[0] else page.name}{query}"
