"""A command that runs until a signal ends at any signal, wherever it arrives."""

import signal
import threading
from collections.abc import Callable, Iterator

import anyio
import pytest

from app.cli.shared.signals import until_stopped
from app.server.compat.shutdown import STOP_SIGNALS


@pytest.fixture(autouse=True)
def _signals_are_put_back() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def now(number: int) -> None:
    signal.raise_signal(number)


def in_a_task_group(number: int) -> None:
    """In a step of the task itself, as when a server answers a call: the task group wraps the interrupt."""

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            signal.raise_signal(number)

    anyio.run(main)


@pytest.mark.parametrize("number", STOP_SIGNALS)
@pytest.mark.parametrize("arrives", [now, in_a_task_group])
def test_a_signal_ends_the_block(
    arrives: Callable[[int], None], number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert threading.current_thread() is threading.main_thread()
    with until_stopped():
        arrives(number)
        raise AssertionError("the block went on")
    assert capsys.readouterr().err == "stopped\n"


def test_another_error_is_none_of_its_business() -> None:
    with pytest.raises(ZeroDivisionError), until_stopped():
        raise ZeroDivisionError
