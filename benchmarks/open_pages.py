"""Fifty open pages that refresh themselves: polls keep their pace, and one more user is served.

The pages are WebSocket sessions that speak Streamlit's protocol as its frontend does: they run the script, and then its
fragments by their timers. Fifty pages in Chromium would need more of this machine than the server that is measured.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import quantiles

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.measure import load
from benchmarks.pages import served
from benchmarks.report import Row

PAGES = 50
WARM_UP_S = 60.0
WATCH_S = 120.0
USER_EVERY_S = 2.0
PATHS = ("", "group?group=order-fulfilment", "topics", "generations?group=order-fulfilment")


def rows() -> Iterator[Row]:
    """Polls a minute, processor and a user's page without other pages and with 50 of them."""
    with served(["up", "--no-pipeline"]) as url:
        yield from asyncio.run(_compared(url))


@dataclass(slots=True)
class Watched:
    """What was seen for a while."""

    polls_a_minute: float
    cores: float
    user_s: list[float] = field(default_factory=list)


async def _compared(url: str) -> list[Row]:
    await asyncio.sleep(WARM_UP_S)
    none = await _watched(url)
    pages = [asyncio.create_task(_page(url, PATHS[number % len(PATHS)])) for number in range(PAGES)]
    await asyncio.sleep(WARM_UP_S)
    fifty = await _watched(url)
    await _closed(pages)
    return [
        Row(f"polls a minute, without pages and with {PAGES}",
            f"{none.polls_a_minute:.1f} and {fifty.polls_a_minute:.1f}", f"goal: as many; load {load()}"),
        Row("cores of the server", f"{none.cores:.2f} and {fifty.cores:.2f}", "of two, which it shares with the demo"),
        Row("one more user: the Overview is drawn, 95th percentile",
            f"{_p95(none.user_s):.2f} and {_p95(fifty.user_s):.2f} s", f"goal < 1.5 s; {len(fifty.user_s)} visits"),
    ]  # fmt: skip


async def _closed(pages: list[asyncio.Task[None]]) -> None:
    """Raises what a page raised before."""
    for page in pages:
        page.cancel()
    for page in pages:
        with suppress(asyncio.CancelledError):
            await page


def _p95(seconds: list[float]) -> float:
    return quantiles(seconds, n=20)[-1]


async def _watched(url: str) -> Watched:
    process = _server(url)
    first, used_s, began = await _polls(url), sum(process.cpu_times()[:2]), time.monotonic()
    user_s = []
    while time.monotonic() < began + WATCH_S:
        user_s.append(await _visit(url))
        await asyncio.sleep(USER_EVERY_S)
    took_s = time.monotonic() - began
    polls = await _polls(url) - first
    return Watched(60 * polls / took_s, (sum(process.cpu_times()[:2]) - used_s) / took_s, user_s)


def _server(url: str) -> psutil.Process:
    port = int(url.rpartition(":")[2])
    for one in psutil.net_connections("inet"):
        if one.status == psutil.CONN_LISTEN and one.laddr.port == port and one.pid is not None:
            return psutil.Process(one.pid)
    raise LookupError(f"nothing listens on port {port}")


async def _polls(url: str) -> int:
    def ask() -> int:
        with urllib.request.urlopen(f"{url}/api/ready") as answer:
            (cluster,) = json.loads(answer.read())["clusters"].values()
        return int(cluster["polls"])

    return await asyncio.to_thread(ask)


async def _visit(url: str) -> float:
    """Seconds from the connection until the script of the Overview has ended."""
    began = time.monotonic()
    async with _connected(url) as socket:
        await socket.send(_run(""))
        while not (await _message(socket)).HasField("script_finished"):
            pass
    return time.monotonic() - began


async def _page(url: str, path: str) -> None:
    """A page that stays open."""
    timers: dict[str, asyncio.Task[None]] = {}
    name, _, query = path.partition("?")
    page_hash = ""
    async with _connected(url) as socket:
        await socket.send(_run(query, name))
        try:
            while True:
                message = await _message(socket)
                if message.HasField("new_session") and not message.metadata.run.fragment_ids:
                    _end(timers, list(timers))
                elif message.HasField("navigation"):
                    page_hash = message.navigation.page_script_hash
                elif message.HasField("auto_rerun"):
                    its = message.auto_rerun
                    _end(timers, [its.fragment_id])
                    timers[its.fragment_id] = asyncio.create_task(
                        _timer(socket, its.interval, _run(query, page_hash=page_hash, fragment_id=its.fragment_id))
                    )
                elif message.HasField("stop_auto_rerun"):
                    _end(timers, list(message.stop_auto_rerun.fragment_ids))
        finally:
            _end(timers, list(timers))


async def _timer(socket: ClientConnection, every_s: float, run: bytes) -> None:
    while True:
        await asyncio.sleep(every_s)
        await socket.send(run)


def _end(timers: dict[str, asyncio.Task[None]], fragment_ids: list[str]) -> None:
    for fragment_id in fragment_ids:
        if fragment_id in timers:
            timers.pop(fragment_id).cancel()


def _connected(url: str) -> connect:
    return connect(
        f"{url.replace('http', 'ws', 1)}/_stcore/stream", origin=url, subprotocols=["streamlit"], max_size=None
    )


async def _message(socket: ClientConnection) -> ForwardMsg:
    message = ForwardMsg()
    message.ParseFromString(await socket.recv(decode=False))
    return message


def _run(query: str, name: str = "", page_hash: str = "", fragment_id: str = "") -> bytes:
    message = BackMsg()
    state = message.rerun_script
    state.query_string, state.page_name = query, name
    state.page_script_hash, state.fragment_id = page_hash, fragment_id
    state.is_auto_rerun = bool(fragment_id)
    return message.SerializeToString()
