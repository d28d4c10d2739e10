"""Opens what the server needs while it runs, in a thread, so that the event loop goes on meanwhile."""

from asyncio import get_running_loop, shield, wait
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

from anyio import to_thread

T = TypeVar("T")


@asynccontextmanager
async def opened(resource: AbstractContextManager[T]) -> AsyncIterator[T]:
    """Enter and exit `resource`. What Ctrl-C interrupts while it is entered is exited all the same.

    Its threads would keep the process alive otherwise.
    """
    entering = get_running_loop().run_in_executor(None, resource.__enter__)  # no task: no cancellation reaches it
    try:
        yield await shield(entering)
    finally:
        await wait([entering])
        if entering.exception() is None:
            await to_thread.run_sync(resource.__exit__, None, None, None)
