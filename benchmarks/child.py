"""Calls that may never return, in processes of their own."""

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any


def answer(patience_s: float, function: Callable[..., Any], *args: Any) -> Any:
    """What the function returns in a new process; None if it has not ended after `patience_s` and is killed."""
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, function, *args))
    process.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(patience_s) else None
    finally:
        process.kill()
        process.join()


def _send(sender: Connection, function: Callable[..., Any], *args: Any) -> None:
    sender.send(function(*args))
