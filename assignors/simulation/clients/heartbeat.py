"""The heartbeat thread of a classic consumer (Kafka: HeartbeatThread, Heartbeat).

It runs from the reply to a join until the next join. Not simulated: its wait of up to 100 ms.
"""

from collections.abc import Callable
from functools import partial

from assignors.simulation.classic.messages import Heartbeat, HeartbeatReply
from assignors.simulation.clients.consumer_process import Process
from assignors.simulation.clients.error_handling import ELSEWHERE
from assignors.simulation.errors import KafkaError


class HeartbeatThread:
    """`on_error` gets the errors to which the process reacts: a rebalance, or the end of its generation."""

    def __init__(self, process: Process, interval_ms: int, on_error: Callable[[KafkaError], None]) -> None:
        self._process, self._interval_ms, self._on_error = process, interval_ms, on_error
        self._request: Heartbeat | None = None
        self._tick = self._due_ms = self._answered_ms = 0

    @property
    def runs(self) -> bool:
        """Whether it has a generation."""
        return self._request is not None

    def start(self, request: Heartbeat, first_ms: int) -> None:
        """Send this heartbeat from now on, for the first time after `first_ms`."""
        self._request = request
        self._answered_ms = self._process.now_ms
        self._schedule_heartbeat(first_ms)

    def stop(self) -> None:
        """Send no more heartbeats."""
        self._request = None

    def proceed(self) -> None:
        """The coordinator is known again."""
        self._answered_ms = self._process.now_ms
        if self.runs:
            self._schedule_heartbeat(max(0, self._due_ms - self._process.now_ms))

    def _schedule_heartbeat(self, delay_ms: int) -> None:
        self._tick += 1
        self._due_ms = self._process.now_ms + delay_ms
        self._process.later(delay_ms, self._beat, self._tick)

    def _beat(self, tick: int) -> None:
        process, request = self._process, self._request
        if request is None or tick != self._tick:
            return
        session_timeout_ms = process.env.settings.client.session_timeout_ms
        if process.knows_coordinator and process.now_ms - self._answered_ms >= session_timeout_ms:
            process.lost_coordinator()  # no reply within the session: close the connection
        if process.knows_coordinator:
            self._schedule_heartbeat(self._interval_ms)
            process.env.network.send(process, request, partial(self._answered, request))

    def _answered(self, request: Heartbeat, reply: HeartbeatReply) -> None:
        error = reply.error
        if error is KafkaError.NONE:
            self._answered_ms = self._process.now_ms
            if self._request is request:
                self._process.clear_zombie()
        elif error is KafkaError.REBALANCE_IN_PROGRESS:
            self._answered_ms = self._process.now_ms
            self._on_error(error)
        elif error in ELSEWHERE:
            self._process.mark_coordinator_unknown()
        elif self._request is request:
            self._on_error(error)
