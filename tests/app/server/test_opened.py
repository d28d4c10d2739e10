"""What is opened is closed, also if Ctrl-C comes while it is being opened."""

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from app.server.opened import opened
from tests.support.waiting import wait_until


class Resource:
    """Opening takes until it is released. `log` has what happened."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self.log: list[str] = []

    @contextmanager
    def open(self) -> Iterator[str]:
        self.begun.set()
        assert self.released.wait(30)
        self.log.append("open")
        yield "its"
        self.log.append("closed")


async def used(resource: Resource) -> None:
    async with opened(resource.open()) as its:
        resource.log.append(its)


def apart(main: Coroutine[Any, Any, None]) -> BaseException | None:
    """Run it in a thread of its own: Playwright keeps an event loop in this one."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(main)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    return errors[0] if errors else None


def test_what_is_opened_is_used_and_closed() -> None:
    resource = Resource()
    resource.released.set()
    assert apart(used(resource)) is None
    assert resource.log == ["open", "its", "closed"]


def test_a_cancellation_while_it_is_opened_waits_and_closes_it() -> None:
    resource = Resource()

    async def cancelled() -> None:
        task = asyncio.ensure_future(used(resource))
        await asyncio.to_thread(resource.begun.wait)
        task.cancel()
        await asyncio.sleep(0)
        resource.released.set()
        await task

    assert isinstance(apart(cancelled()), asyncio.CancelledError)
    assert resource.log == ["open", "closed"]


def test_a_second_cancellation_while_it_is_opened_closes_it_as_well() -> None:
    resource = Resource()

    async def cancelled_twice() -> None:
        task = asyncio.ensure_future(used(resource))
        await asyncio.to_thread(resource.begun.wait)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
        resource.released.set()
        await task

    assert isinstance(apart(cancelled_twice()), asyncio.CancelledError)
    wait_until(lambda: resource.log == ["open", "closed"], 10)


def test_an_interrupted_loop_closes_what_is_being_opened() -> None:
    """As Ctrl-C does: the exception comes up from the loop, and `asyncio.run` cancels its tasks."""
    resource = Resource()

    def interrupt() -> None:
        resource.released.set()
        raise KeyboardInterrupt(signal.SIGINT)

    async def interrupted() -> None:
        task = asyncio.ensure_future(used(resource))
        await asyncio.to_thread(resource.begun.wait)
        asyncio.get_running_loop().call_soon(interrupt)
        await task

    assert isinstance(apart(interrupted()), KeyboardInterrupt)
    assert resource.log == ["open", "closed"]


def test_what_cannot_be_opened_is_not_closed() -> None:
    @contextmanager
    def broken() -> Iterator[None]:
        raise OSError("no")
        yield

    async def using() -> None:
        async with opened(broken()):
            pytest.fail("it cannot be open")

    assert str(apart(using())) == "no"
