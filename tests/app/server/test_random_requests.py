"""Random requests: each is answered or refused in time, without a traceback, and memory does not grow."""

import gc
import json
import logging
import time
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import anyio
import psutil
import pytest
from starlette.applications import Starlette

from app.server.api.endpoints import advice, whatif
from app.server.api.worker import tasks
from app.server.routes import ROUTES
from tests.app.server.api.reports import installed
from tests.app.server.client import Answer, Request, exchange
from tests.app.server.random_requests import random_request
from tests.app.server.tools import hand_made
from tests.app.server.tools.clients import run_apart

SEED = 20
MOST_CPU_S = 2.0
MOST_GROWTH_BYTES = 64 * 1024 * 1024
ANSWERED = {200, 202, 301, 304, 400, 404, 406, 409, 413, 414, 415}
INTERNAL_ERROR = -32603


@pytest.fixture(autouse=True)
def _served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Workers compute in this process: starting 50,000 would take a day."""
    for module in (advice, whatif):
        monkeypatch.setattr(module, "computed", computed)
    with installed(hand_made.source()):
        yield


def computed(task: str, body: bytes, options: Mapping[str, Any]) -> bytes:
    return tasks.answer({"task": task, "deadline_s": 30.0, "options": options}, body)


@pytest.mark.parametrize("count", [200, pytest.param(100_000, marks=[pytest.mark.long, pytest.mark.timeout(7_200)])])
def test_random_requests_are_answered_or_refused(count: int, caplog: pytest.LogCaptureFixture) -> None:
    async def ask() -> None:
        random, app, process, warm = Random(SEED), Starlette(routes=ROUTES), psutil.Process(), 0
        for at in range(count):
            asked = random_request(random)
            if at == count // 4:
                gc.collect()
                warm = process.memory_info().rss
            began_s = time.process_time()
            with anyio.fail_after(120):
                answer = await exchange(asked, app)
            assert time.process_time() - began_s < MOST_CPU_S, asked
            check(asked, answer)
        gc.collect()
        assert process.memory_info().rss - warm < MOST_GROWTH_BYTES

    with caplog.at_level(logging.ERROR, "app"):
        run_apart(ask)
    assert [record.getMessage() for record in caplog.records if record.name.startswith("app")] == []


def check(asked: Request, answer: Answer) -> None:
    assert answer.status in ANSWERED, (asked, answer)
    assert b"Traceback" not in answer.body
    if answer.status >= 400 and asked.path.startswith("/api"):
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json["status"] == answer.status
    if asked.path == "/mcp" and answer.body:
        found = json.loads(answer.body)
        assert found.get("error", {}).get("code") != INTERNAL_ERROR, (asked, answer)
        structured = found.get("result", {}).get("structuredContent") or {}
        assert structured.get("status") != 500, (asked, answer)
