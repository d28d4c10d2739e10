"""Requests to the coordinator and their replies; every message has the same latency."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from assignors.simulation.classic import messages as classic
from assignors.simulation.consumer import messages as consumer
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Action, Kernel
from assignors.simulation.timeline.recorder import TimelineRecorder
from assignors.simulation.timeline.tables import Message

COORDINATOR = "coordinator"
BROKERS = "brokers"
NONE = KafkaError.NONE.name

_API: Mapping[type, str] = {
    classic.Join: "JoinGroup",
    classic.Sync: "SyncGroup",
    classic.Heartbeat: "Heartbeat",
    classic.Leave: "LeaveGroup",
    consumer.Heartbeat: "ConsumerGroupHeartbeat",
}
"""Kafka's names of requests."""

Answer = Callable[[Any], None]
"""Called with the reply of the kind that the request has."""


class Coordinator(Protocol):
    """Answers requests, now or later; `answer` must not send another request at once."""

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Handle a request of the member of that name."""


class Peer(Protocol):
    """A client process. `connection` increases when it loses the coordinator: replies to older requests are lost."""

    name: str
    alive: bool
    is_frozen: bool
    connection: int

    def run(self, action: Action) -> None:
        """Run the action unless the process is dead; if it is frozen, once it resumes."""


class Network:
    """`coordinator` None: its broker is down, and requests are lost.

    Messages between the coordinator and the members in `split` are lost; other brokers still answer them.
    """

    def __init__(self, kernel: Kernel, latency_ms: int, recorder: TimelineRecorder) -> None:
        self.coordinator: Coordinator | None = None
        self.is_known = False
        self.split: set[str] = set()
        self._kernel, self._latency_ms, self._record = kernel, latency_ms, recorder.messages.append

    def send(self, peer: Peer, request: object, answer: Answer) -> None:
        """Send a request. `answer` gets the reply, unless the process dies or loses the coordinator before."""
        self._kernel.after(
            self._latency_ms, partial(self._arrive, peer, request, answer, peer.connection, self._kernel.now_ms)
        )

    def _arrive(self, peer: Peer, request: object, answer: Answer, connection: int, sent_ms: int) -> None:
        kind = _API[type(request)]
        coordinator = None if peer.name in self.split else self.coordinator
        arrived_ms = None if coordinator is None else self._kernel.now_ms
        self._record(Message(peer.name, COORDINATOR, kind, None, sent_ms, arrived_ms))
        if coordinator is not None:
            coordinator.handle(peer.name, request, partial(self._reply, peer, kind, answer, connection))

    def _reply(self, peer: Peer, kind: str, answer: Answer, connection: int, reply: Any) -> None:
        self._kernel.after(
            self._latency_ms, partial(self._return, peer, kind, answer, connection, self._kernel.now_ms, reply)
        )

    def _return(self, peer: Peer, kind: str, answer: Answer, connection: int, sent_ms: int, reply: Any) -> None:
        reached = peer.alive and peer.connection == connection and peer.name not in self.split
        arrived_ms = self._kernel.now_ms if reached else None
        error = NONE if reply.error is KafkaError.NONE else reply.error.name  # Enum.name is slow
        self._record(Message(COORDINATOR, peer.name, kind, error, sent_ms, arrived_ms))
        if reached and peer.is_frozen:
            peer.run(partial(answer, reply))
        elif reached:
            answer(reply)

    def find_coordinator(self, peer: Peer, answer: Callable[[bool], None]) -> None:
        """Send FindCoordinator to any broker; `answer` gets whether there is a coordinator."""
        sent_ms = self._kernel.now_ms
        self._kernel.after(self._latency_ms, partial(self._find, peer, answer, sent_ms))

    def _find(self, peer: Peer, answer: Callable[[bool], None], sent_ms: int) -> None:
        now_ms, found = self._kernel.now_ms, self.is_known
        self._record(Message(peer.name, BROKERS, "FindCoordinator", None, sent_ms, now_ms))

        def back() -> None:
            error = NONE if found else "COORDINATOR_NOT_AVAILABLE"
            arrived_ms = self._kernel.now_ms if peer.alive else None
            self._record(Message(BROKERS, peer.name, "FindCoordinator", error, now_ms, arrived_ms))
            peer.run(lambda: answer(found))

        self._kernel.after(self._latency_ms, back)
