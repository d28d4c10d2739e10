"""Runs the worker for a request: outside the process that polls, a few at a time, each with a deadline."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any

from app.child_process import run_apart
from app.plugins import DEADLINE_S
from app.server.api.problem import ApiError

MOST_AT_A_TIME = 2
WAIT_S = 1.0
"""How long a request waits for one of the processes before it is refused."""

_processes = BoundedSemaphore(MOST_AT_A_TIME)


def computed(task: str, body: bytes, options: Mapping[str, Any], deadline_s: float = DEADLINE_S) -> bytes:
    """The answer of a worker process. Raises ApiError."""
    if not _processes.acquire(timeout=WAIT_S):
        raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_AT_A_TIME} requests are being computed already.")
    try:
        question = {"task": task, "deadline_s": deadline_s, "options": options}
        ended = run_apart("app.server.api.worker", json.dumps(question).encode() + b"\n" + body, deadline_s)
    finally:
        _processes.release()
    if ended is None:
        message = f"There was no result after {deadline_s:g} s, so its process was stopped."
        raise ApiError(HTTPStatus.GATEWAY_TIMEOUT, message)
    status, _, answer = ended.answer.partition(b"\n")
    if not status:
        message = f"The process ended with code {ended.code}. The server's log has more."
        raise ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, message)
    if int(status) != HTTPStatus.OK:
        refusal = json.loads(answer)
        raise ApiError(HTTPStatus(int(status)), refusal["detail"], refusal["errors"])
    return answer
