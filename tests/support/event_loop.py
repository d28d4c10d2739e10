"""Runs a coroutine in an event loop of its own: Playwright keeps a loop running in the thread of the tests."""

from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


def run_beside(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What `main` returns or raises. It runs in a thread, in a copy of the caller's context."""
    context = copy_context()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: context.run(lambda: anyio.run(main))).result()
