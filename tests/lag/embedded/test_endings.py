"""However a cluster's owner ends, no process and no folder is left."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from lag.embedded.supervisor import PREFIX, owned_folder, sweep
from lag.embedded.supervisor_client import Keeper
from lag.errors import EmbeddedError
from tests.lag.embedded.endings import FAMILY
from tests.support.known import the
from tests.support.processes import command_line, is_alive, somebody_elses, using
from tests.support.waiting import wait_until

PROGRAM = Path(__file__).with_name("endings.py")


@dataclass
class Owner:
    """The program with the cluster; its temp dir is a folder of the test."""

    process: subprocess.Popen[str]
    temp: Path

    def reported(self) -> dict[str, object]:
        assert self.process.stdout is not None
        answer: dict[str, object] = json.loads(self.process.stdout.readline())
        return answer

    def supervisor(self) -> psutil.Process:
        (found,) = [child for child in psutil.Process(self.process.pid).children() if is_supervisor(child)]
        return found

    def ours(self) -> list[psutil.Process]:
        """Every process that has our temp dir in its environment: owner, supervisor, brokers, tools."""
        return using(self.temp)

    def end_by(self, number: int) -> None:
        self.process.send_signal(number)
        self.process.wait(30)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Callable[[str], Owner]]:
    owners: list[Owner] = []

    def start(kind: str) -> Owner:
        temp = tmp_path / "temp"
        temp.mkdir(exist_ok=True)
        command = [sys.executable, str(PROGRAM), kind]
        process = subprocess.Popen(
            command,
            env={**os.environ, "TMPDIR": str(temp)},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        owners.append(Owner(process, temp))
        return owners[-1]

    yield start
    for owner in owners:
        for left in owner.ours():
            with suppress(psutil.NoSuchProcess):  # the supervisor ends its brokers as soon as its owner is gone
                left.kill()
        owner.process.wait(30)
        assert owner.process.stdout is not None
        owner.process.stdout.close()


def is_supervisor(process: psutil.Process) -> bool:
    return "lag.embedded.supervisor" in command_line(process)


def assert_nothing_is_left(owner: Owner) -> None:
    wait_until(lambda: not owner.ours())
    assert list(owner.temp.iterdir()) == []


@pytest.mark.broker
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_owner_of_a_running_broker(own: Callable[[str], Owner], number: int) -> None:
    owner = own("kafka")
    reported = owner.reported()
    assert list(owner.temp.iterdir()) == [Path(str(reported["folder"]))]
    assert len(owner.ours()) == 3
    owner.end_by(number)
    assert_nothing_is_left(owner)


@pytest.mark.broker
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_owner_while_the_broker_starts(own: Callable[[str], Owner], number: int) -> None:
    owner = own("kafka")
    wait_until(lambda: list(owner.temp.glob(f"{PREFIX}*/broker-1.log")))
    owner.end_by(number)
    assert_nothing_is_left(owner)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_owner_while_the_supervisor_starts(own: Callable[[str], Owner], number: int) -> None:
    owner = own("sleeper")
    wait_until(lambda: any(is_supervisor(process) for process in owner.ours()))
    owner.end_by(number)
    assert_nothing_is_left(owner)


@pytest.mark.broker
def test_the_owner_is_killed_while_its_broker_is_frozen(own: Callable[[str], Owner]) -> None:
    owner = own("kafka")
    (pid,) = the(list, owner.reported()["pids"])
    os.kill(pid, signal.SIGSTOP)
    owner.end_by(signal.SIGKILL)
    assert_nothing_is_left(owner)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_supervisor(own: Callable[[str], Owner], number: int) -> None:
    owner = own("sleeper")
    owner.reported()
    owner.supervisor().send_signal(number)
    wait_until(lambda: not list(owner.temp.iterdir()))
    owner.end_by(signal.SIGKILL)
    assert_nothing_is_left(owner)


def test_the_owner_is_killed_while_a_fork_of_it_holds_the_pipe(own: Callable[[str], Owner]) -> None:
    owner = own("forking")
    owner.reported()
    owner.end_by(signal.SIGKILL)
    wait_until(lambda: not list(owner.temp.iterdir()))


def test_the_supervisor_is_killed_and_then_its_owner(own: Callable[[str], Owner]) -> None:
    owner = own("sleeper")
    folder = Path(str(owner.reported()["folder"]))
    owner.supervisor().kill()
    owner.end_by(signal.SIGKILL)
    wait_until(lambda: not owner.ours())
    assert folder.exists()
    sweep(owner.temp)
    assert list(owner.temp.iterdir()) == []


def test_a_sweep_ends_what_still_runs_of_an_abandoned_cluster(own: Callable[[str], Owner]) -> None:
    owner = own("family")
    owner.reported()
    owner.supervisor().kill()
    owner.end_by(signal.SIGKILL)
    wait_until(lambda: [len(owner.ours()), owner.process.poll()] == [1, -signal.SIGKILL])
    (orphan,) = owner.ours()
    assert orphan.name() == "sleep"
    sweep(owner.temp)
    assert_nothing_is_left(owner)


def test_a_sweep_spares_processes_that_read_a_log_of_an_abandoned_folder(tmp_path: Path) -> None:
    folder = tmp_path / f"{PREFIX}abandoned"
    folder.mkdir()
    log = folder / "broker-1.log"
    log.write_text("started\n")
    with somebody_elses("tail", "-f", str(log)) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"started\n"
        sweep(tmp_path)
        assert reader.poll() is None
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_leaves_a_running_cluster_alone(own: Callable[[str], Owner]) -> None:
    owner = own("sleeper")
    folder = Path(str(owner.reported()["folder"]))
    sweep(owner.temp)
    assert folder.exists()
    assert len(owner.ours()) == 3


def test_what_a_process_has_started_ends_with_it() -> None:
    """As Spark's JVM starts Python workers, in a process group of their own."""
    keeper = Keeper()
    assert keeper.folder is not None
    parent = psutil.Process(keeper.start("family", FAMILY, keeper.folder / "log"))
    (child,) = wait_until(parent.children)
    keeper.close()
    assert [is_alive(parent.pid), is_alive(child.pid)] == [False, False]


def test_a_call_after_the_end_is_an_error() -> None:
    keeper = Keeper()
    keeper.close()
    with pytest.raises(EmbeddedError, match="has been stopped"):
        keeper.poll("sleeper")


def test_the_folder_of_an_owner_that_was_killed_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    abandoned = tmp_path / "groupscope-test-killed"
    abandoned.mkdir()
    with owned_folder("groupscope-test-") as mine:
        with owned_folder("groupscope-test-") as other:
            assert set(tmp_path.iterdir()) == {mine, other}
        assert list(tmp_path.iterdir()) == [mine]
    assert list(tmp_path.iterdir()) == []


def test_the_supervisor_is_killed_while_its_owner_goes_on() -> None:
    others = psutil.Process().children()
    keeper = Keeper()
    assert keeper.folder is not None
    pid = keeper.start("sleeper", ["sleep", "600"], keeper.folder / "log")
    (supervisor,) = set(psutil.Process().children()) - set(others)
    supervisor.kill()
    with pytest.raises(EmbeddedError, match="supervisor of the embedded Kafka has ended"):
        wait_until(lambda: keeper.poll("sleeper"))
    keeper.close()
    wait_until(lambda: not psutil.pid_exists(pid))
    assert not keeper.folder.exists()
