"""Wait for something that will come to be true."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(
    ask: Callable[[], T],
    within_s: float = 30.0,
    every_s: float = 0.05,
    reported: Callable[[], object] | None = None,
) -> T:
    """The first truthy answer of `ask`; fails the test when none comes in time, with what `reported` gives then."""
    deadline = time.monotonic() + within_s
    while not (answer := ask()):
        assert time.monotonic() < deadline, f"not so within {within_s} s: {reported() if reported else answer!r}"
        time.sleep(every_s)
    return answer
