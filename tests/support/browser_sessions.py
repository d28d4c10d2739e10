"""What a browser does with the server, without a browser: open a page, and ask for its fragments on time."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

_OPEN_WITHIN_S = 60.0


@dataclass(slots=True)
class Session:
    """An open page. `runs` counts the runs that were finished, `exceptions` what a user sees as an error box."""

    url: str
    path: str = ""
    query: str = ""
    runs: int = 0
    exceptions: list[str] = field(default_factory=list)
    broken: int = 0
    page: str = ""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def stay(self) -> None:
        """Until it is cancelled or the server hangs up."""
        address = f"{self.url.replace('http', 'ws', 1)}/_stcore/stream"
        try:
            async with connect(
                address,
                origin=Origin(self.url),
                subprotocols=[Subprotocol("streamlit")],
                max_size=None,
                open_timeout=_OPEN_WITHIN_S,
            ) as socket:
                await self._run(socket)
                async for data in socket:
                    self._received(socket, ForwardMsg.FromString(data))
        except (OSError, ConnectionClosed):
            self.broken += 1
        finally:
            self._forget_fragments()

    def _forget_fragments(self) -> None:
        while self.tasks:
            self.tasks.pop().cancel()

    def _received(self, socket: ClientConnection, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "navigation":  # of a run of the whole page: its fragments come after it
            self.page = message.navigation.page_script_hash
            self._forget_fragments()
        elif kind == "script_finished":
            self.runs += 1
        elif kind == "auto_rerun":
            again = self._run_again(socket, message.auto_rerun.interval, message.auto_rerun.fragment_id)
            self.tasks.append(asyncio.get_running_loop().create_task(again))
        elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            self.exceptions.append(message.delta.new_element.exception.message)

    async def _run(self, socket: ClientConnection, fragment: str = "") -> None:
        asked = BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_script_hash = self.page
        asked.rerun_script.page_name = "" if self.page else self.path
        asked.rerun_script.fragment_id = fragment
        asked.rerun_script.is_auto_rerun = bool(fragment)
        await socket.send(asked.SerializeToString())

    async def _run_again(self, socket: ClientConnection, every_s: float, fragment: str) -> None:
        with suppress(ConnectionClosed):
            while True:
                await asyncio.sleep(every_s)
                await self._run(socket, fragment)


class OpenPages:
    """Sessions that are open while the block runs, in an event loop of their own thread."""

    def __init__(self, sessions: Sequence[Session]) -> None:
        self.sessions = sessions
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._stay(),), name="pages")
        self._tasks: list[asyncio.Task[None]] = []

    async def _stay(self) -> None:
        self._tasks = [asyncio.create_task(session.stay()) for session in self.sessions]
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def opened(self) -> int:
        """How many pages have run once."""
        return sum(session.runs > 0 for session in self.sessions)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for task in self._tasks:
            self._loop.call_soon_threadsafe(task.cancel)
        self._thread.join()
        self._loop.close()
