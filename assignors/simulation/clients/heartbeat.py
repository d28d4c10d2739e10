"""The thread of a classic consumer that says it lives while the application works (Kafka: HeartbeatThread, Heartbeat).

It runs from the reply to a join to the next join. Not played: the up to 100 ms that Kafka's takes to look again.
"""

from collections.abc import Callable
from functools import partial

from assignors.simulation.classic.messages import Heartbeat, HeartbeatReply
from assignors.simulation.clients.consumer_process import Process
from assignors.simulation.clients.error_handling import ELSEWHERE
from assignors.simulation.errors import KafkaError


def _unheard(reply: HeartbeatReply) -> None:
    """There is no beat yet that could be answered."""


class HeartbeatThread:
    """That of a process. `heard` gets what the process has to act on: a rebalance, or why its generation is over."""

    def __init__(self, process: Process, interval_ms: int, heard: Callable[[KafkaError], None]) -> None:
        self._process, self._interval_ms, self._heard = process, interval_ms, heard
        self._says: Heartbeat | None = None
        self._answer: Callable[[HeartbeatReply], None] = _unheard
        self._tick = self._due_ms = self._answered_ms = 0

    @property
    def runs(self) -> bool:
        """Whether it has a generation to speak for."""
        return self._says is not None

    def start(self, says: Heartbeat, first_ms: int) -> None:
        """Say that from now on, for the first time after so long."""
        self._says, self._answer = says, partial(self._answered, says)
        self._answered_ms = self._process.now_ms
        self._beat_in(first_ms)

    def stop(self) -> None:
        """Say nothing more."""
        self._says = None

    def go_on(self) -> None:
        """The coordinator is known again."""
        self._answered_ms = self._process.now_ms
        if self.runs:
            self._beat_in(max(0, self._due_ms - self._process.now_ms))

    def _beat_in(self, delay_ms: int) -> None:
        self._tick += 1
        self._due_ms = self._process.now_ms + delay_ms
        self._process.later(delay_ms, self._beat, self._tick)

    def _beat(self, tick: int) -> None:
        its, says = self._process, self._says
        if says is None or tick != self._tick:
            return
        if its.knows_coordinator and its.now_ms - self._answered_ms >= its.around.settings.client.session_timeout_ms:
            its.lost_coordinator()  # perhaps it is no longer there: the connection is closed
        if its.knows_coordinator:
            self._beat_in(self._interval_ms)
            its.around.network.ask(its, says, self._answer)

    def _answered(self, said: Heartbeat, reply: HeartbeatReply) -> None:
        error = reply.error
        if error in (KafkaError.NONE, KafkaError.REBALANCE_IN_PROGRESS):
            self._answered_ms = self._process.now_ms
        if error is KafkaError.NONE and self._says is said:
            self._process.recognised()
        if error in ELSEWHERE:
            self._process.forget_coordinator()
        elif error is KafkaError.REBALANCE_IN_PROGRESS or (error is not KafkaError.NONE and self._says is said):
            self._heard(error)
