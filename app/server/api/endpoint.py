"""What an endpoint is: its path, query, body and the type of its answer, and the function that answers a call."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from app.server.api.problem import ApiError
from app.server.feed import Feed
from app.server.source import Source
from assignors.spelling import shown, suggestion
from lag.polling.report import Report

JSON, EVENTS = "application/json", "text/event-stream"
MOST_OFFSET = 1_000_000_000


class Query(BaseModel):
    """The query of an endpoint; unknown parameters are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Page(Query):
    """Which part of a list to answer."""

    offset: int = Field(0, ge=0, le=MOST_OFFSET, description="how many to skip")
    limit: int = Field(100, ge=1, le=1_000, description="maximum number to return")


Q = TypeVar("Q", bound=Query)


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a POST: the JSON Schema of each media type, and the most bytes that are read."""

    schemas: Mapping[str, Any]
    most_bytes: int


class Call(Generic[Q]):
    """A valid request: the names in its path, its query, its headers (in lower case) and its body."""

    def __init__(
        self, source: Source, path: Mapping[str, str], query: Q, headers: Mapping[str, str], body: bytes = b""
    ) -> None:
        self.source, self.path, self.query, self.headers, self.body = source, path, query, headers, body

    @property
    def cluster(self) -> str:
        """The name of the cluster."""
        return self.path["cluster"]

    @cached_property
    def feed(self) -> Feed:
        """The feed of the cluster. Raises ApiError."""
        if self.cluster not in self.source.feeds:
            raise not_found("cluster", self.cluster, self.source.feeds)
        return self.source.feeds[self.cluster]

    @cached_property
    def report(self) -> Report:
        """The latest report of the cluster, the same for the whole call. Raises ApiError."""
        report = self.feed.latest()
        if report is None:
            error = self.feed.status().error
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, f"{self.cluster} has not been read yet{_because(error)}")
        return report

    @cached_property
    def group(self) -> int:
        """The number of the group in the snapshot. Raises ApiError."""
        by_group, group_id = self.report.snapshot.by_group, self.path["group"]
        if group_id not in by_group:
            raise not_found("group", group_id, by_group)
        return by_group[group_id]

    def check_topic(self) -> None:
        """Raises ApiError if the query's topic, if it has one, neither exists nor has committed offsets."""
        topic: str | None = getattr(self.query, "topic", None)
        snapshot = self.report.snapshot
        if topic is not None and topic not in snapshot.topics and topic not in snapshot.offsets.ends.topics:
            raise not_found("topic", topic, sorted({*snapshot.topics, *snapshot.offsets.ends.topics}))


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[Q]):
    """One address and method of the API.

    `path` follows `/api/v1` and has names in braces; `answer` is the type of the JSON. `of_snapshot`: the answer is
    computed from path, query and snapshot alone, so its entity tag is that of the snapshot. `respond` returns the
    document, its bytes or, for EVENTS, an asynchronous iterator of bytes.
    """

    path: str
    summary: str
    answer: Any
    respond: Callable[[Call[Q]], Any]
    query: type[Q]
    body: Body | None = None
    of_snapshot: bool = False
    media_type: str = JSON

    @property
    def method(self) -> str:
        """GET, or POST with a body."""
        return "GET" if self.body is None else "POST"


def not_found(kind: str, name: str, known: Collection[str]) -> ApiError:
    """The error for a cluster, group or topic that is not there."""
    return ApiError(HTTPStatus.NOT_FOUND, f"There is no {kind} {shown(name)!r}.{suggestion(name, known)}")


def _because(error: Exception | None) -> str:
    return "." if error is None else f": {error}"
