"""The demo's dashboard under load for ten minutes: what breaks, and whether its memory levels off.

Thirty pages refresh themselves, Prometheus scrapes every name, and programs ask the API and the tools. An answer is
broken if it is cut off, has a status of 400 or more (but for a group that does not exist), or is no JSON where JSON was
promised.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from itertools import cycle
from pathlib import Path
from statistics import quantiles
from urllib.error import HTTPError

import psutil

from benchmarks.measure import GROUPSCOPE, load
from benchmarks.report import Row
from tests.support.browser_sessions import OpenPages, Session
from tests.support.waiting import wait_until

PAGES, SCRAPE_EVERY_S, REQUESTS_A_SECOND = 30, 5.0, 20
WARM_UP_S = 60.0
WATCH_S = float(os.environ.get("GROUPSCOPE_BENCH_SECONDS", "600"))
PATIENCE_S = 60.0

PATHS = (
    ("", ""),
    ("group", "group=order-fulfilment"),
    ("topics", ""),
    ("generations", "group=order-fulfilment"),
    ("history", "group=order-fulfilment"),
    ("whatif", "group=order-fulfilment"),
)
API = "/api/v1/clusters/demo"
NO_SUCH_GROUP = f"{API}/groups/no-such-group"
ASKED = (
    "/api/live",
    "/api/ready",
    "/api/v1/clusters",
    API,
    f"{API}/groups",
    f"{API}/groups/order-fulfilment",
    f"{API}/groups/order-fulfilment/generations",
    NO_SUCH_GROUP,
    "/api/v1/openapi.json",
    "/v3/kafka/demo/consumer/order-fulfilment/lag",
    "/mcp",
)
ASK_FOR_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()


@dataclass(slots=True)
class Answers:
    """What came back. `took_s` by the path that was asked, `broken` with the reason."""

    took_s: dict[str, list[float]] = field(default_factory=dict)
    broken: Counter[str] = field(default_factory=Counter)

    def ask(self, url: str, path: str) -> None:
        """Ask once, and read the answer to its end."""
        request = urllib.request.Request(f"{url}{path}")
        if path == "/mcp":
            request = urllib.request.Request(
                f"{url}{path}",
                ASK_FOR_TOOLS,
                {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
            )
        began = time.monotonic()
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                _check(path, answer.read())
        except HTTPError as error:
            with error:
                if error.code != HTTPStatus.NOT_FOUND or path != NO_SUCH_GROUP:
                    self.broken[f"{path}: {error.code}"] += 1
        except (OSError, HTTPException, ValueError) as error:
            self.broken[f"{path}: {type(error).__name__} {error}"] += 1
        self.took_s.setdefault(path, []).append(time.monotonic() - began)

    @property
    def number(self) -> int:
        """How many were asked for."""
        return sum(map(len, self.took_s.values()))


def _check(path: str, body: bytes) -> None:
    """Raises ValueError unless the body is whole."""
    if not path.startswith("/metrics"):
        json.loads(body)
    elif not body.endswith(b"\n"):
        raise ValueError("cut off")


def rows() -> Iterator[Row]:
    """Broken answers, error boxes, tracebacks, times, and the memory of the server by the minute."""
    with _dashboard() as (url, server, log):
        pages = [Session(url, *PATHS[number % len(PATHS)]) for number in range(PAGES)]
        with OpenPages(pages) as opened:
            wait_until(lambda: opened.opened == PAGES, within_s=300)
            time.sleep(WARM_UP_S)
            answers, memory_mb = _watch(url, server)
            boxes = Counter(text for page in pages for text in page.exceptions)
            hung_up = sum(page.broken for page in pages)
        tracebacks = log.read_text().count("Traceback")
    minutes = f"{WATCH_S / 60:.0f} min, {PAGES} pages"
    yield Row("broken answers", f"{answers.broken.total()}", f"of {answers.number:,}; goal 0; {dict(answers.broken)}")
    yield Row("error boxes and lost pages", f"{boxes.total()} and {hung_up}", f"goal 0; {dict(boxes)}")
    yield Row("tracebacks in the log", f"{tracebacks}", "goal 0")
    for path in (next(path for path in answers.took_s if path.startswith("/metrics")), "/api/live", f"{API}/groups"):
        took_s = answers.took_s[path]
        yield Row(f"{path}: p95", f"{quantiles(took_s, n=20)[-1]:.2f} s", f"longest {max(took_s):.2f} s; load {load()}")
    for minute, figure_mb in enumerate(memory_mb):
        yield Row(f"memory of the server after {minute} min", f"{figure_mb:.0f} MB", minutes if not minute else "")
    half = memory_mb[len(memory_mb) // 2 :]
    yield Row(
        "growth in the second half", f"{(half[-1] - half[0]) / max(1, len(half) - 1):.1f} MB/min", "goal: levels off"
    )


@contextmanager
def _dashboard() -> Iterator[tuple[str, psutil.Process, Path]]:
    """Address, server process and log of a demo."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "stderr")
        command = [GROUPSCOPE, "up", "--no-pipeline", "--port", "0", "--no-browser"]
        setting = os.environ | {"GROUPSCOPE_MCP": "on"}
        with (
            log.open("w") as stderr,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=setting) as up,
        ):
            assert up.stdout is not None
            try:
                url = next(line.split()[1] for line in up.stdout if line.startswith("Dashboard"))
                yield url, _listener(int(url.rpartition(":")[2])), log
            finally:
                up.terminate()


def _listener(port: int) -> psutil.Process:
    (pid,) = {
        one.pid
        for one in psutil.net_connections("inet")
        if one.status == psutil.CONN_LISTEN and one.laddr[1:] == (port,)
    }
    return psutil.Process(pid)


def _watch(url: str, server: psutil.Process) -> tuple[Answers, list[float]]:
    """Ask and scrape for WATCH_S; resident MB once a minute."""
    answers, over = Answers(), threading.Event()
    paths = cycle(ASKED)
    asking = [
        _every(1 / REQUESTS_A_SECOND * 4, over, lambda: answers.ask(url, next(paths)), delay_s=at / REQUESTS_A_SECOND)
        for at in range(4)
    ]
    asking.append(_every(SCRAPE_EVERY_S, over, partial(answers.ask, url, "/metrics?names=all")))
    memory_mb, ends = [server.memory_info().rss / 1e6], time.monotonic() + WATCH_S
    while time.monotonic() < ends:
        time.sleep(min(60, max(0, ends - time.monotonic())))
        memory_mb.append(server.memory_info().rss / 1e6)
    over.set()
    for thread in asking:
        thread.join()
    return answers, memory_mb


def _every(seconds: float, over: threading.Event, work: Callable[[], None], delay_s: float = 0.0) -> threading.Thread:
    """A thread that works once in `seconds` until `over` is set."""

    def run() -> None:
        due = time.monotonic() + delay_s
        while not over.wait(max(0, due - time.monotonic())):
            work()
            due += seconds

    thread = threading.Thread(target=run)
    thread.start()
    return thread
