"""Computes what can take long in a process of its own: `python -m app.server.api.worker PARENT_PID`.

On stdin: a line of JSON, `{"task": "assign", "deadline_s": 30, "options": {…}}`, then the scenario or the properties.
On stdout: the HTTP status, a line break, then the answer, or `{"detail": "…", "errors": […]}`.
"""

import json
import os
import sys
from http import HTTPStatus

from app.child_process import end_with_parent
from app.server.api.problem import ApiError
from app.server.api.worker.tasks import answer


def main() -> None:
    """One question, one answer."""
    end_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    question = json.loads(sys.stdin.buffer.readline())
    try:
        status, found = HTTPStatus.OK, answer(question, sys.stdin.buffer.read())
    except ApiError as error:
        status, found = error.status, json.dumps({"detail": error.detail, "errors": error.errors}).encode()
    with answers:
        answers.write(b"%d\n" % status.value + found)


if __name__ == "__main__":
    main()
