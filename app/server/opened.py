"""Opens what the server needs while it runs, in a thread, so that the event loop goes on meanwhile."""

from asyncio import get_running_loop, shield
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def opened(resource: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter and exit `resource`. If Ctrl-C, even twice, interrupts entering it, it is still exited.

    Its threads would keep the process alive otherwise.
    """
    loop, stack, thread = get_running_loop(), ExitStack(), ThreadPoolExecutor(1)
    try:
        yield await loop.run_in_executor(thread, stack.enter_context, resource)
    finally:
        exiting = loop.run_in_executor(thread, stack.close)  # the one thread does it after entering
        thread.shutdown(wait=False)
        await shield(exiting)
