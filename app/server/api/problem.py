"""Errors of the API as `application/problem+json` (RFC 9457)."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus

from pydantic import ValidationError
from typing_extensions import TypedDict

MEDIA_TYPE = "application/problem+json"
MOST_ERRORS, MOST_FIELD_CHARS = 20, 200


class FieldErrorDocument(TypedDict):
    """What is wrong with one field: `query.limit`, `body.workload.batch_ms`. `line` is that of a scenario file."""

    field: str
    message: str
    line: int | None


class ProblemDetailsDocument(TypedDict):
    """Why a request has no answer. `type` is always `about:blank`: `status` says which kind of problem it is."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldErrorDocument]


class ApiError(Exception):
    """A request that gets no answer, and why."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        errors: Iterable[FieldErrorDocument] = (),
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.errors = status, detail, list(errors)[:MOST_ERRORS]
        self.retry_after_s = retry_after_s

    def document(self) -> ProblemDetailsDocument:
        """The error as JSON."""
        return {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": self.status.value,
            "detail": self.detail,
            "errors": self.errors,
        }


def invalid(place: str, error: ValidationError, names: Sequence[str] = ()) -> ApiError:
    """The error for a query or body (`place`) that its model refuses; `names` are the fields that it knows."""
    errors = [
        field_error(".".join([place, *map(str, each["loc"])]), _sentence(each["type"], each["msg"], names))
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return invalid_fields(errors)


def invalid_fields(errors: Sequence[FieldErrorDocument]) -> ApiError:
    """The error for fields that are wrong; the first one is the detail."""
    first = errors[0]
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return ApiError(HTTPStatus.BAD_REQUEST, f"{first['field']}: {first['message']}{more}", errors)


def field_error(field: str, message: str, line: int | None = None) -> FieldErrorDocument:
    """What is wrong with one field."""
    return {"field": field[:MOST_FIELD_CHARS], "message": message, "line": line}


def _sentence(kind: str, message: str, names: Sequence[str]) -> str:
    if kind == "extra_forbidden":
        return f"Unknown. Use {', '.join(names)}" if names else "Unknown"
    return message.removeprefix("Value error, ")
