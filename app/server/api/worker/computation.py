"""Has a request computed by a worker: outside the process that polls, a few at a time, each with a deadline."""

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any

from app.plugins import DEADLINE_S
from app.server.api.problem import ApiError
from app.server.api.worker.tasks import answer
from app.server.workers import pool

MOST_AT_A_TIME = 2
WAIT_S = 1.0
"""How long a request waits for a worker before it is refused."""

_free = BoundedSemaphore(MOST_AT_A_TIME)


def computed(task: str, body: bytes, options: Mapping[str, Any], deadline_s: float = DEADLINE_S) -> bytes:
    """The answer of a worker. Raises ApiError."""
    if not _free.acquire(timeout=WAIT_S):
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_AT_A_TIME} requests are already being computed.")
    question = {"task": task, "deadline_s": deadline_s, "options": options}
    try:
        return pool.computed(partial(answer, question, body), deadline_s, WAIT_S)
    except pool.NotComputed as error:
        raise ApiError(_status(error), f"{str(error).rstrip('.')}.") from None
    finally:
        _free.release()


def _status(error: pool.NotComputed) -> HTTPStatus:
    match error:
        case pool.Busy():
            return HTTPStatus.SERVICE_UNAVAILABLE
        case pool.TimedOut():
            return HTTPStatus.GATEWAY_TIMEOUT
    return HTTPStatus.INTERNAL_SERVER_ERROR
