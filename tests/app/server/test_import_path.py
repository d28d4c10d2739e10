"""Runs of pages leave `sys.path` as it is, and requests neither import nor search it.

`python -m tests.app.server.test_import_path` starts as the server does, and asks every address while Python can find
nothing.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.request import Request, urlopen

import pytest
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

from app.server.compat.import_path import leave_import_path
from tests.browser.conftest import served
from tests.support.browser_sessions import OpenPages, Session

METRICS = ("", "names=all&groups=b.*&exclude_topics=x", "names=nothing", "cluster=nowhere")
BURROW = ("", "/demo/consumer", "/demo/consumer/billing/lag", "/demo/consumer/billing/status", "/demo/topic/orders")
ADDRESSES = ("/api/live", "/api/ready", "/groups", "/nowhere", "/login", "/burrow/admin")


def test_a_run_of_a_page_does_not_change_the_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_runner, "modified_sys_path", modified_sys_path)
    before = list(sys.path)
    leave_import_path()
    with vars(script_runner)["modified_sys_path"]("/nowhere/main.py"):
        assert sys.path == before


def test_streamlit_itself_changes_it() -> None:
    with modified_sys_path("/nowhere/main.py"):
        assert "/nowhere/main.py" in sys.path, "app.server.compat.import_path is unnecessary"


@pytest.mark.process
def test_no_request_imports_a_module_or_searches_for_a_package() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.app.server.test_import_path"], capture_output=True, text=True, timeout=240
    )
    assert run.returncode == 0, run.stderr
    asked, imported = json.loads(run.stdout)
    assert imported == {}
    assert [address for address, status in asked.items() if status == 500] == []
    assert len(asked) > 50


@pytest.mark.long
@pytest.mark.process
def test_every_scrape_is_whole_while_pages_run() -> None:
    """For a minute; before, one of 70 scrapes found no version of this package, and was cut off."""
    whole = 0
    with served() as url, OpenPages([Session(url, page) for page in ("", "about", "topics", "whatif") * 4]) as pages:
        end_s = time.monotonic() + 60
        asked = Request(f"{url}/metrics?names=all", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
        while time.monotonic() < end_s:
            with urlopen(asked, timeout=60) as answer:
                text = answer.read()
            assert (answer.status, text.endswith(b"\n# EOF\n")) == (200, True)
            assert b"kminion_exporter_up{version=" in text
            whole += 1
        assert pages.opened > 0
    assert [session.exceptions for session in pages.sessions if session.exceptions] == []
    assert whole >= 60


class Finder:
    """Records what is looked for, and finds nothing."""

    def __init__(self) -> None:
        self.sought: list[str] = []

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> None:
        self.sought.append(name)


def ask_everything() -> tuple[Mapping[str, int], Mapping[str, list[str]]]:
    """The status of each answer, and the modules that were looked for at each address.

    What a test needs is imported after the server's start; the packages of the tools are checked at the start.
    """
    from app.cli.serve import import_server

    import_server()
    from app.server import source, web_app
    from app.server.settings import read_settings

    web_app.import_late(replace(source.installed(), settings=read_settings().model_copy(update={"mcp": True})))
    assert {"mcp", "psutil", "app.server.tools.protocol", "assignors.client.range"} <= sys.modules.keys()

    import anyio

    from tests.app.server.client import request
    from tests.app.server.tools import hand_made

    anyio.run(anyio.sleep, 0)  # the event loop is there before the first request
    source.install(hand_made.source())
    requests = list(everything())
    sys.meta_path[:], sys.path[:] = [finder := Finder()], ["/nowhere"]
    statuses, imported = dict[str, int](), dict[str, list[str]]()
    for asked in requests:
        before = len(finder.sought)
        answer = request(asked.method, asked.path, asked.query, asked.body, asked.headers, until=asked.until)
        address = f"{asked.method} {asked.path}?{asked.query} {asked.body[:60].decode()}"
        statuses[address] = 500 if b"Internal error" in answer.body else answer.status
        if finder.sought[before:]:
            imported[address] = finder.sought[before:]
    return statuses, imported


def everything() -> Iterator[Any]:
    """A request to each address, with and without a group that exists; those of workers are refused before they run."""
    from app.server.api.openapi import PREFIX
    from app.server.api.routes import ENDPOINTS
    from tests.app.server.client import Request as Asked
    from tests.app.server.random_requests import JSON, MCP_HEADERS, TOOL_CALLS

    yield from (Asked("GET", "/metrics", query) for query in METRICS)
    yield Asked("GET", "/metrics", "names=all", headers={"accept": "application/openmetrics-text;version=1.0.0"})
    yield from (Asked("GET", f"/v3/kafka{path}") for path in BURROW)
    yield from (Asked("GET", path) for path in ADDRESSES)
    for endpoint in ENDPOINTS:
        path = PREFIX + endpoint.path.format(cluster="demo", group="billing")
        if endpoint.body is not None:
            yield Asked("POST", path, body=b"[", headers={"content-type": JSON})
            continue
        until = "\n\n" if "stream" in path else None
        yield Asked("GET", path, until=until)
        yield from (Asked("GET", path, query) for query in ("unknown=1", "topic=order", "limit=x"))
        yield Asked("GET", path.replace("billing", "bilinng"), until=until)
    asked = [{"method": "tools/list"}, *({"method": "tools/call", "params": call} for call in TOOL_CALLS)]
    for message in asked:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, **message}).encode()
        yield Asked("POST", "/mcp", body=body, headers=MCP_HEADERS)


if __name__ == "__main__":
    print(json.dumps(ask_everything()))  # noqa: T201
    sys.stdout.flush()
    from app.server.workers import pool

    pool.close()
