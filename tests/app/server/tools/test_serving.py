"""Where the tools are served: over stdio, by the command, and at /mcp if that is switched on."""

import json
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import streamlit as st
from mcp.client.client import Client
from typer.testing import CliRunner

from app.cli import cli, mcp
from app.server import settings
from app.server.compat.shutdown import STOP_SIGNALS
from app.server.settings import Settings, read_settings
from lag.errors import ConfigError
from tests.app.cli.commandline import refused
from tests.app.server.api.reports import installed
from tests.app.server.client import Answer, request
from tests.app.server.tools import hand_made
from tests.app.server.tools.clients import calls, document, over_http, over_stdio
from tests.support.forge import COMMAND

ASKED: Any = (
    ("list_groups", {}),
    ("why", {"group": "reports"}),
    ("lag", {"group": "billing"}),
    ("generations", {"group": "billing"}),
    ("what_if", {"group": "billing", "events": [{"at": "5s", "leave": "m1"}]}),
    ("simulate", {"group": "billing", "events": [{"at": "5s", "leave": "m1"}]}),
    ("advise", {"properties": "session.timeout.ms=1000"}),
    ("why", {"group": "biling"}),
)
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
HEADERS = {
    "Host": "127.0.0.1:8501",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
NOWHERE = ("mcp", "--bootstrap-server", "127.0.0.1:1")


@pytest.fixture(autouse=True)
def _served() -> Iterator[None]:
    with installed(hand_made.source()):
        yield


def post(**headers: str) -> Answer:
    return request("POST", "/mcp", body=PING, headers=HEADERS | headers)


@pytest.mark.process
def test_answers_over_stdio_are_those_over_http() -> None:
    assert [document(each) for each in over_stdio(calls(*ASKED))] == [
        document(each) for each in over_http(calls(*ASKED))
    ]


def test_a_request_of_a_program_is_answered() -> None:
    answer = post()
    assert (answer.status, answer.json) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_a_request_that_is_too_large_is_refused() -> None:
    assert request("POST", "/mcp", body=PING + b" " * 2**22, headers=HEADERS).status == 413


def test_a_compressed_request_is_refused() -> None:
    answer = post(**{"Content-Encoding": "gzip"})
    assert (answer.status, answer.text) == (415, "Send the body without a Content-Encoding.\n")


def test_nothing_is_answered_unless_it_is_switched_on() -> None:
    with installed(replace(hand_made.source(), settings=Settings())):
        answer = post()
    assert (answer.status, "GROUPSCOPE_MCP=on" in answer.text) == (404, True)


def test_a_web_page_is_refused() -> None:
    assert post(Origin="http://127.0.0.1:8501").status == 403


@pytest.mark.parametrize(("host", "status"), [("lag.example:8501", 200), ("evil.example:8501", 403)])
def test_the_host_must_be_allowed_as_for_pages(monkeypatch: pytest.MonkeyPatch, host: str, status: int) -> None:
    option = st.get_option
    monkeypatch.setattr(
        "streamlit.config.get_option", lambda name: ["lag.example"] if name == "server.allowedHosts" else option(name)
    )
    assert post(Host=host).status == status


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_stream_and_no_session(method: str) -> None:
    answer = request(method, "/mcp", headers=HEADERS)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_without_the_package_it_cannot_be_switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda _name: None)
    monkeypatch.setenv("GROUPSCOPE_MCP", "on")
    with pytest.raises(ConfigError, match=r"GROUPSCOPE_MCP: .*pip install 'groupscope\[tools\]'"):
        read_settings()


@pytest.mark.process
def test_the_command_says_why_the_cluster_cannot_be_read() -> None:
    async def talk(client: Client) -> Any:
        return document(await client.call_tool("list_groups", {}))

    problem = over_stdio(talk, COMMAND, *NOWHERE)
    assert (problem["status"], "127.0.0.1:1 refuses the connection" in problem["detail"]) == (503, True)


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_while_it_waits_for_its_client(number: int) -> None:
    with subprocess.Popen(
        [COMMAND, *NOWHERE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdin is not None
        assert command.stdout is not None
        command.stdin.write(PING + b"\n")
        command.stdin.flush()
        assert json.loads(command.stdout.readline())["id"] == 1
        command.send_signal(number)
        assert command.wait(60) == 0
        assert command.stdout.read() == b""


@pytest.fixture
def _signals_are_put_back() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_signals_are_put_back")
def test_the_command_writes_no_history_and_sends_no_notices(monkeypatch: pytest.MonkeyPatch) -> None:
    served = list[Settings]()
    monkeypatch.setattr(mcp, "_serve", lambda _dashboard: served.append(read_settings()))
    for name in ("CLUSTERS", "INTERVAL_S", "PLUGINS"):
        monkeypatch.setenv(f"GROUPSCOPE_{name}", "")
    monkeypatch.setenv("GROUPSCOPE_HISTORY", "/var/lib/groupscope")
    monkeypatch.setenv("GROUPSCOPE_NOTICES", "/etc/groupscope/notices.yaml")
    done = CliRunner().invoke(cli, [*NOWHERE, "--interval", "5"])
    assert done.exit_code == 0, (done.output, done.exception)
    (its,) = served
    assert (its.history, its.notices) == (None, None)
    assert (its.interval_s, its.clusters[0].bootstrap_servers) == (5.0, "127.0.0.1:1")


def test_the_dashboard_must_be_an_address() -> None:
    assert refused(*NOWHERE, "--dashboard", "localhost").startswith("--dashboard: A URL is expected")
