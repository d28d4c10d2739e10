"""Why a request is not answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Refusal:
    """The status of the answer, a sentence, and headers such as Retry-After."""

    status: HTTPStatus
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
