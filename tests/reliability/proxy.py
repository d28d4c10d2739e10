"""The network between dashboard and brokers: TLS towards the dashboard, and it can slow down, freeze or break."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from types import TracebackType
from typing import Any, Self

from lag.embedded.config import HOST

_CHUNK = 1 << 16
_CHUNKS_UNDER_WAY = 64
_LATE_S = 0.1


class Mode(Enum):
    """What becomes of the bytes, and of new connections."""

    PASS = auto()
    SLOW = auto()  # everything arrives 100 ms late, in both directions
    FROZEN = auto()  # connections stay open, and are accepted, but nothing arrives
    CUT = auto()  # connections break, and new ones do too


@dataclass(slots=True)
class Gate:
    """The way to one broker."""

    target: tuple[str, int]
    context: ssl.SSLContext
    mode: Mode = Mode.PASS
    moving: asyncio.Event = field(default_factory=asyncio.Event)
    writers: set[asyncio.StreamWriter] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.moving.set()

    async def listen(self, listener: socket.socket) -> None:
        """Accept connections until this task is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            task = loop.create_task(self._connected(client))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def set(self, mode: Mode) -> None:
        """Treat everything like that from now on; what was held back while frozen arrives then."""
        self.mode = mode
        if mode is Mode.FROZEN:
            self.moving.clear()
        else:
            self.moving.set()
        if mode is Mode.CUT:
            self.hang_up()

    def hang_up(self) -> None:
        """Break all connections."""
        for writer in self.writers:
            writer.transport.abort()

    async def _connected(self, client: socket.socket) -> None:
        with client:
            if self.mode is Mode.CUT:
                return
            await self.moving.wait()
            async with AsyncExitStack() as stack:
                stack.enter_context(suppress(OSError))
                from_client, to_client = await self._with_tls(client)
                stack.callback(to_client.transport.abort)
                from_broker, to_broker = await asyncio.open_connection(*self.target)
                stack.callback(to_broker.transport.abort)
                await asyncio.gather(self._forward(from_client, to_broker), self._forward(from_broker, to_client))

    async def _with_tls(self, client: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """`StreamWriter.start_tls` would lose what the client sent before."""
        loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
        transport, protocol = await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(reader), client, ssl=self.context
        )
        return reader, asyncio.StreamWriter(transport, protocol, reader, loop)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one side ends; then the other ends too."""
        under_way = asyncio.Queue[tuple[float, bytes]](_CHUNKS_UNDER_WAY)
        self.writers.add(writer)
        try:
            await asyncio.gather(self._read(reader, under_way), self._deliver(under_way, writer))
        finally:
            self.writers.discard(writer)
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader, under_way: asyncio.Queue[tuple[float, bytes]]) -> None:
        while chunk := await reader.read(_CHUNK):
            late_s = _LATE_S if self.mode is Mode.SLOW else 0.0
            await under_way.put((asyncio.get_running_loop().time() + late_s, chunk))
        await under_way.put((0.0, b""))

    async def _deliver(self, under_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
        while (next_one := await under_way.get())[1]:
            due, chunk = next_one
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            await self.moving.wait()
            writer.write(chunk)
            await writer.drain()


class Network:
    """A gate in front of each broker, in an event loop of its own thread.

    The addresses are there before the brokers, which are to advertise them.
    """

    def __init__(self, targets: Mapping[int, tuple[str, int]], context: ssl.SSLContext) -> None:
        self._gates = {node: Gate(target, context) for node, target in targets.items()}
        self._listeners = {node: socket.create_server((HOST, 0)) for node in targets}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)

    def set(self, mode: Mode, *nodes: int) -> None:
        """For the way to these brokers; to all when none is named."""
        for node in nodes or tuple(self._gates):
            self._do(self._gates[node].set(mode))

    def hang_up(self) -> None:
        """Break all connections; new ones can be made at once."""
        self.set(Mode.CUT)
        self.set(Mode.PASS)

    def address(self, node: int) -> str:
        """`host:port` under which the dashboard reaches a broker."""
        return f"{HOST}:{self._listeners[node].getsockname()[1]}"

    @property
    def addresses(self) -> str:
        """Those of all brokers, with commas."""
        return ",".join(map(self.address, self._gates))

    def __enter__(self) -> Self:
        self._thread.start()
        for node, listener in self._listeners.items():
            listener.setblocking(False)
            asyncio.run_coroutine_threadsafe(self._gates[node].listen(listener), self._loop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._do(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for listener in self._listeners.values():
            listener.close()

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
