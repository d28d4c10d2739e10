"""`groupscope up`: one line when all is ready, and nothing left behind, whenever and however it is ended."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from app.cli import up
from lag.embedded.broker import EmbeddedKafka
from lag.embedded.supervisor import PREFIX
from lag.embedded.workload import describe
from tests.app.cli.commandline import Running, recorded_groups, refused, run, running
from tests.support.forge import COMMAND
from tests.support.processes import command_line, using
from tests.support.waiting import wait_until

pytestmark = pytest.mark.broker

FILLED = ("commits", "group_events", "group_snapshots")


def assert_nothing_is_left(command: Running) -> None:
    """At once, not some time later: whoever stops a command may start the next one."""
    assert [line[:3] for process in using(command.temp) if (line := command_line(process))] == []
    assert list(command.temp.iterdir()) == []


@pytest.mark.timeout(600)
def test_all_of_it(tmp_path: Path) -> None:
    """Kafka, workload, dashboard; the ready line; a history that fills by itself with commits and events of the demo's
    groups, none of our own reader's; a pipeline that dies; Ctrl-C with a browser's connection open.
    """
    with running(tmp_path, "up", "--json", "--port", "0") as command:
        line = command.first_line()
        assert list(line) == ["bootstrap_servers", "dashboard"]
        assert line["dashboard"].startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{line['dashboard']}/api/ready") as answer:
            ready = json.load(answer)
        assert (ready["ready"], list(ready["clusters"])) == (True, ["demo"])
        found = run("snapshot", "--json", "--bootstrap-server", line["bootstrap_servers"]).document
        assert {group["group_id"] for group in found["groups"]} >= {case.group_id for case in describe()}
        wait_until(lambda: all(recorded_groups(command, name) for name in FILLED), within_s=240, every_s=0.5)
        groups = set().union(*(recorded_groups(command, name) for name in FILLED))
        assert groups <= {case.group_id for case in describe()}
        pipeline_of(command).kill()
        command.reported("warning: the demo's history is no longer recorded: ")
        _, _, port = line["dashboard"].rpartition(":")
        with socket.create_connection(("127.0.0.1", int(port))) as idle:
            idle.sendall(b"GET /api/ready HTTP/1.1\r\n")  # and never goes on
            assert command.ends(signal.SIGINT) == 0
        assert command.out == json.dumps(line, separators=(",", ":")) + "\n"
        assert command.err.splitlines()[-1] == "stopped"
        assert_nothing_is_left(command)


def test_sigterm_with_three_brokers_alone(tmp_path: Path) -> None:
    with running(tmp_path, "up", "--json", "--brokers", "3", "--no-workload", "--no-dashboard") as command:
        line = command.first_line()
        assert (line["bootstrap_servers"].count(":"), line["dashboard"]) == (3, None)
        assert command.out.count("\n") == 1
        assert command.ends(signal.SIGTERM) == 0
        assert command.out.count("\n") == 1
        assert_nothing_is_left(command)


def test_nothing_is_left_after_sigkill(tmp_path: Path) -> None:
    """Of Spark neither, which runs in a JVM of its own."""
    with running(tmp_path, "up", "--json", "--port", "0") as command:
        command.first_line()
        wait_until(
            lambda: any("pyspark-shell" in command_line(process) for process in using(command.temp)), within_s=90
        )
        assert command.ends(signal.SIGKILL) == -signal.SIGKILL
        wait_until(lambda: not using(command.temp) and not list(command.temp.iterdir()))


@pytest.mark.parametrize("depth", [0, 1], ids=["short temp dir", "temp dir longer than a socket's path may be"])
def test_nothing_is_left_of_a_workload_that_was_killed(tmp_path: Path, depth: int) -> None:
    """multiprocessing has a folder with a socket, which only an orderly end removes."""
    folder = tmp_path.joinpath(*["x" * 100] * depth)
    folder.mkdir(exist_ok=True)
    with running(folder, "up", "--port", "0", "--no-pipeline") as command:
        wait_until(lambda: list(command.temp.glob(f"{PREFIX}*/pymp-*/listener-*")), within_s=60)
        workload_of(command).kill()
        assert command.ends(signal.SIGINT) == 0
        assert_nothing_is_left(command)


def pipeline_of(command: Running) -> Any:
    """The process of the demo's pipeline; None before it starts."""
    return next((one for one in using(command.temp) if "lag.pipeline" in command_line(one)), None)


def test_without_pyspark_the_demo_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(up, "find_spec", lambda _: None)
    up._record(cast(EmbeddedKafka, None), "nowhere")
    assert capsys.readouterr().err == (
        "PySpark is not installed, so the demo records no history of commits. Install it: uv sync --extra pipeline\n"
    )


def broker_of(command: Running) -> Any:
    """The JVM of a broker."""
    return next((one for one in using(command.temp) if "kafka.Kafka" in command_line(one)), None)


def test_a_broker_that_is_killed_ends_the_command_with_the_reason(tmp_path: Path) -> None:
    """Open pages say so before the server ends."""
    with running(tmp_path, "up", "--json", "--port", "0", "--no-pipeline", "--no-workload") as command:
        line = command.first_line()
        broker_of(command).kill()
        command.reported("Broker 1 was killed (SIGKILL); the dashboard says so, and ends in 10 s")
        with urllib.request.urlopen(f"{line['dashboard']}/api/live") as answer:
            assert answer.status == 200
        assert command.ends() == 1
        error = json.loads(command.out.splitlines()[1])["error"]
        assert error["cause"] == "Broker 1 was killed (SIGKILL)"
        assert error["hint"].startswith("Start `groupscope up` again. Its last log lines:\n")
        assert_nothing_is_left(command)


def test_one_broker_of_three_may_end(tmp_path: Path) -> None:
    with running(tmp_path, "up", "--json", "--brokers", "3", "--no-workload", "--no-dashboard") as command:
        command.first_line()
        broker_of(command).kill()
        command.reported("was killed (SIGKILL); 2 of 3 brokers run")
        assert command.process.poll() is None
        while (broker := broker_of(command)) is not None:
            broker.kill()
        assert command.ends() == 1
        assert_nothing_is_left(command)


def test_a_workload_that_is_killed_is_reported_and_kafka_goes_on(tmp_path: Path) -> None:
    with running(tmp_path, "up", "--json", "--no-dashboard") as command:
        command.first_line()
        workload_of(command).kill()
        command.reported("warning: The demo workload has exited unexpectedly: ")
        command.reported("\nwarning: End `groupscope up` with Ctrl-C, and start it again.\n")
        assert command.ends(signal.SIGINT) == 0
        assert_nothing_is_left(command)


def broker_starts(command: Running) -> bool:
    return bool(list(command.temp.glob(f"{PREFIX}*/broker-1.log")))


def workload_of(command: Running) -> Any:
    """The process of the demo's workload; None before it starts."""
    return next((one for one in using(command.temp) if "lag.embedded.workload" in command_line(one)), None)


def workload_starts(command: Running) -> bool:
    return workload_of(command) is not None


def server_starts(command: Running) -> bool:
    return any(connection.status == "LISTEN" for connection in psutil.Process(command.process.pid).net_connections())


@pytest.mark.parametrize("moment", [broker_starts, workload_starts, server_starts])
def test_ctrl_c_twice_while_it_starts(tmp_path: Path, moment: Callable[[Running], bool]) -> None:
    with running(tmp_path, "up", "--port", "0", "--no-pipeline") as command:
        wait_until(lambda: moment(command), within_s=60, every_s=0.01)
        command.process.send_signal(signal.SIGINT)
        assert command.ends(signal.SIGINT) == 0
        assert_nothing_is_left(command)


def test_reader_of_the_line_that_goes_away_does_not_end_it(tmp_path: Path) -> None:
    """`groupscope up --json | head -n 1`: what read the line may close the pipe."""
    temp = tmp_path / "temp"
    temp.mkdir()
    with subprocess.Popen(
        [COMMAND, "up", "--json", "--no-workload", "--no-dashboard"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temp)},
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["dashboard"] is None
        process.stdout.close()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert (process.returncode, err.splitlines()[-1]) == (0, "stopped")
    assert list(temp.iterdir()) == []


def test_port_that_is_taken_is_reported_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        reported = refused("up", "--port", str(port))
    assert (
        reported == f"127.0.0.1:{port} cannot be used: Address already in use. Choose another --port (0: any free port)"
    )


def test_broker_that_cannot_start_is_reported_with_the_fix(tmp_path: Path) -> None:
    env = {"GROUPSCOPE_CACHE": str(tmp_path), "GROUPSCOPE_MAVEN_MIRROR": "http://127.0.0.1:1/"}
    done = run("up", "--json", "--no-dashboard", env=env)
    assert done.code == 1
    assert "could not be fetched" in done.document["error"]["cause"]
    assert "GROUPSCOPE_MAVEN_MIRROR" in done.document["error"]["hint"]
