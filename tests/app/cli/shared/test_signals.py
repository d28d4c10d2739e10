"""A command that runs until a signal ends at any signal, wherever it arrives."""

import signal
import subprocess
import sys

import pytest

from app.cli.shared.signals import until_stopped
from app.server.compat.shutdown import STOP_SIGNALS

AT_ONCE = """
import signal
from app.cli.shared.signals import until_stopped
with until_stopped():
    signal.raise_signal({number})
    raise AssertionError("the block went on")
"""
IN_A_TASK_GROUP = """
import anyio
import signal
from app.cli.shared.signals import until_stopped

async def main():
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(anyio.sleep_forever)
        signal.raise_signal({number})

with until_stopped():
    anyio.run(main)
    raise AssertionError("the block went on")
"""
"""In a step of the task itself, as when a server answers a call: the task group wraps the interrupt."""
WHILE_THE_SERVER_MAKES_ITS_LOOP = """
import asyncio
import signal
import sys
import uvicorn
from app.cli import main

class Loop(asyncio.SelectorEventLoop):
    def _make_self_pipe(self):
        signal.raise_signal({number})
        signal.raise_signal({number})
        super()._make_self_pipe()

uvicorn.Config.get_loop_factory = lambda config: Loop
sys.argv = ["groupscope", "serve", "--bootstrap-server", "127.0.0.1:1", "--port", "0", "--no-browser"]
main()
"""


@pytest.mark.process
@pytest.mark.parametrize("number", [int(number) for number in STOP_SIGNALS])
@pytest.mark.parametrize("script", [AT_ONCE, IN_A_TASK_GROUP], ids=["at once", "in a task group"])
def test_a_signal_ends_the_block(script: str, number: int) -> None:
    command = [sys.executable, "-c", script.format(number=number)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "stopped\n")


@pytest.mark.process
@pytest.mark.parametrize("number", [int(number) for number in STOP_SIGNALS])
def test_a_signal_while_the_server_makes_its_event_loop(number: int) -> None:
    command = [sys.executable, "-c", WHILE_THE_SERVER_MAKES_ITS_LOOP.format(number=number)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr.splitlines()[-1]) == (0, "stopped")
    assert "Traceback" not in ended.stderr
    assert "Warning" not in ended.stderr


def test_another_error_is_none_of_its_business() -> None:
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        with pytest.raises(ZeroDivisionError), until_stopped():
            raise ZeroDivisionError
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
