"""Fifty open pages that refresh themselves: polls keep their pace, and one more user is served.

The pages are sessions that speak Streamlit's protocol as its frontend does. Fifty pages in Chromium would need more of
this machine than the server that is measured.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import quantiles

import psutil

from benchmarks.measure import load
from benchmarks.pages import ready, served
from benchmarks.report import Row
from tests.support.browser_sessions import OpenPages, Session
from tests.support.waiting import wait_until

PAGES = 50
WARM_UP_S = 60.0
WATCH_S = 120.0
USER_EVERY_S = 2.0
PATHS = (("", ""), ("group", "group=order-fulfilment"), ("topics", ""), ("generations", "group=order-fulfilment"))


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen for a while: of one more user, the seconds until the Overview was drawn."""

    polls_a_minute: float
    cores: float
    user_s: list[float]

    @property
    def p95_s(self) -> float:
        """The 95th percentile of the visits."""
        return quantiles(self.user_s, n=20)[-1]


def rows() -> Iterator[Row]:
    """Polls a minute, processor and a user's page, without other pages and with 50 of them."""
    with served(["up", "--no-pipeline"]) as url:
        time.sleep(WARM_UP_S)
        none = _watched(url)
        with OpenPages([Session(url, *PATHS[number % len(PATHS)]) for number in range(PAGES)]) as pages:
            wait_until(lambda: pages.opened == PAGES, within_s=300)
            time.sleep(WARM_UP_S)
            fifty = _watched(url)
    many = f"without pages and with {PAGES}"
    polls = f"{none.polls_a_minute:.1f} and {fifty.polls_a_minute:.1f}"
    yield Row(f"polls a minute, {many}", polls, f"goal: as many; load {load()}")
    yield Row(f"cores of the server, {many}", f"{none.cores:.2f} and {fifty.cores:.2f}", "of two, also for Kafka")
    yield Row(
        f"Overview of one more user, p95, {many}",
        f"{none.p95_s:.2f} and {fifty.p95_s:.2f} s",
        f"goal < 1.5 s; {len(fifty.user_s)} visits, the longest {max(fifty.user_s):.2f} s",
    )


def _watched(url: str) -> Watched:
    server = _server(int(url.rpartition(":")[2]))
    polls, used_s, began = ready(url)["polls"], _used_s(server), time.monotonic()
    user_s = []
    while time.monotonic() < began + WATCH_S:
        user_s.append(_visit(url))
        time.sleep(USER_EVERY_S)
    took_s = time.monotonic() - began
    return Watched(60 * (ready(url)["polls"] - polls) / took_s, (_used_s(server) - used_s) / took_s, user_s)


def _server(port: int) -> psutil.Process:
    """The process that listens on the port."""
    (pid,) = {
        one.pid
        for one in psutil.net_connections("inet")
        if one.status == psutil.CONN_LISTEN and one.laddr[1:] == (port,)
    }
    return psutil.Process(pid)


def _used_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _visit(url: str) -> float:
    """Seconds from the connection until the script of the Overview has ended."""
    began = time.monotonic()
    with OpenPages([Session(url)]) as page:
        wait_until(lambda: page.opened, within_s=120, every_s=0.005)
        return time.monotonic() - began
