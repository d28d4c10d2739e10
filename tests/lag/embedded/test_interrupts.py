"""Ctrl-C in the very moment in which a process is started: it is not forgotten, and gone when the error is out."""

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lag.embedded import supervisor_client
from lag.embedded.signals import uninterrupted
from lag.embedded.supervisor_client import Keeper
from lag.embedded.workload import Workload
from lag.embedded.workload import process as workload

NO_BROKER = "127.0.0.1:1"


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGINT, signal.SIGINT]])
def test_an_interrupt_is_heard_after_the_moment(signals: list[signal.Signals]) -> None:
    did, before = [], signal.getsignal(signal.SIGINT)

    def interrupted() -> None:
        with uninterrupted():
            for number in signals:
                signal.raise_signal(number)
            did.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert did == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("module", "start"),
    [(supervisor_client, Keeper), (workload, lambda: Workload(NO_BROKER, Path()).start())],
    ids=["brokers", "workload"],
)
def test_a_process_started_as_an_interrupt_comes_is_ended(
    monkeypatch: pytest.MonkeyPatch, module: Any, start: Callable[[], object]
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def interrupted_popen(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **options))
        signal.raise_signal(signal.SIGINT)
        return started[0]

    popen = subprocess.Popen
    monkeypatch.setattr(module.subprocess, "Popen", interrupted_popen)
    with pytest.raises(KeyboardInterrupt):
        start()
    assert [process.poll() is None for process in started] == [False]
