"""Processes for plugins that were started before they are asked."""

from collections.abc import Callable, Iterator
from functools import partial

import psutil
import pytest

from app import plugins
from app.processes import spares as spares_module
from app.processes.child import Child
from app.processes.spares import Spares
from tests.support.installed import Yours
from tests.support.scenes import join, plans, scenario
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

PLANS = [{"A": "t-0 t-1 t-2 t-3 t-4 t-5"}, {"A": "t-0 t-1 t-2 t-3 t-4 t-5", "B": ""}]


@pytest.fixture
def spares(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spares]:
    """One process for plugins, started as soon as there is none."""
    monkeypatch.setattr(spares_module, "REFILL_AFTER_S", 0.0)
    its = Spares(partial(Child, "app.plugins"), most=1)
    monkeypatch.setattr(plugins, "_SPARES", its)
    yield its
    its.close()


def ready(spares: Spares) -> Child:
    """The process that waits, as soon as there is one."""
    wait_until(lambda: len(spares._ready) == 1, within_s=60)
    return spares._ready[0]


def first() -> list[dict[str, str]]:
    return plans(list(plugins.fold_any(scenario("range", "A", join("B")), "first", (), 30)))


def test_a_plugin_plans_in_the_process_that_waited(spares: Spares, install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("first")
    plugins.keep_ready()
    before = ready(spares)
    assert first() == PLANS
    assert yours.processes == {before.pid}
    after = ready(spares)
    assert first() == PLANS
    assert yours.processes == {before.pid, after.pid}
    assert before.pid != after.pid


def test_a_process_that_waited_was_killed(spares: Spares, install_yours: Callable[..., Yours]) -> None:
    yours = install_yours("first")
    plugins.keep_ready()
    dead = ready(spares)
    dead.kill()
    dead.wait()
    assert first() == PLANS
    assert dead.pid not in yours.processes


def test_nothing_is_started_in_advance_unless_asked(spares: Spares, install_yours: Callable[..., Yours]) -> None:
    install_yours("first")
    before = {child.pid for child in psutil.Process().children()}
    assert first() == PLANS
    assert {child.pid for child in psutil.Process().children()} <= before


def test_processes_that_wait_end_with_the_server(spares: Spares) -> None:
    plugins.keep_ready()
    waiting = ready(spares)
    plugins.close()
    assert waiting.poll() is not None
    assert spares._ready == []


def test_a_process_that_is_not_asked_ends_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    with Child("app.plugins") as process:
        process.communicate(b"")
    assert process.returncode == 0
    assert capfd.readouterr().err == ""
