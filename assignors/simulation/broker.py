"""The broker's side of a run: the coordinator, its log, its failure and return, and a look at the group."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

from assignors.model import TopicPartition
from assignors.patterns import resolved
from assignors.simulation.clients import Process, Surroundings
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Action, Kernel, Timers
from assignors.simulation.log import Done
from assignors.simulation.network import Answer
from assignors.simulation.timeline import AS_IT_IS, NO_COORDINATOR, Plan

UNSEEN = ("unseen",)


class Members(Sized, Container[str], Protocol):
    """Ids of those who are in the group."""


class Seen(NamedTuple):
    """What a look at a group shows. `is_at_rest`: nothing is under way in it."""

    state: str
    generation: int
    members: Members
    is_at_rest: bool


class Coordinator(Protocol):
    """That of either protocol."""

    timers: Timers

    def handle(self, request: Any, answer: Answer) -> None:
        """Do what is asked."""


class Server(ABC):
    """One coordinator at a time; what it has persisted survives it. Subclasses have one of their protocol."""

    def __init__(self, around: Surroundings, clients: Mapping[str, Process]) -> None:
        self.around, self.clients = around, clients
        self.records: list[Any] = []
        self.names: dict[str, str] = {}
        self.asking = ""
        self.coordinator: Any = None
        self.log: Log | None = None
        self._noted: tuple[object, ...] | None = UNSEEN
        self._looked_at: Seen | None = None
        self._left: Seen | None = None
        self._members = 0
        self._causes: list[str] = []
        self._unsure: list[int] = []
        self._last_cause = ""
        self._rounds = 0

    # What a protocol has

    @abstractmethod
    def make(self, kernel: Kernel, log: "Log") -> Coordinator:
        """A coordinator with all that is persisted."""

    @abstractmethod
    def seen(self) -> Seen | None:
        """The group as the coordinator has it; None while there is none."""

    @abstractmethod
    def parts(self) -> dict[str, Sequence[TopicPartition]]:
        """Who has what in the present generation, by member id."""

    @abstractmethod
    def while_loading(self, request: Any) -> Any:
        """What a loading coordinator replies."""

    @abstractmethod
    def topics_changed(self) -> None:
        """The broker knows other topics now."""

    @abstractmethod
    def answer_to(self, client: Any) -> KafkaError:
        """What a commit of that member gets from the coordinator."""

    # Its life

    def start(self) -> None:
        """A coordinator with what is persisted; all sessions begin anew."""
        watched = _Watched(self.around.kernel, self.look)
        self.log = Log(watched, self.around.settings.assumed.append_ms, self.records)
        self.coordinator = self.make(watched, self.log)
        self.around.network.coordinator, self.around.network.is_known = self, True
        self.look()

    def adopt(self, clients: Sequence[Any], generation: int) -> None:
        """Start with a Stable group of these members."""
        self.names |= {client.member_id: client.name for client in clients}
        self.cause(AS_IT_IS)
        self.start()

    def stop(self) -> None:
        """The broker dies: nobody answers; connections break, and what is not replicated yet is lost."""
        if self.coordinator is not None and self.log is not None:
            self._left = self.seen()
            self.coordinator.timers.disarm_all()
            self.log.is_lost = True
            self._forget_lost_plans(self.log.replicated)
        self.coordinator = self.around.network.coordinator = None
        self._noted, self._looked_at = UNSEEN, None
        self.around.network.is_known = False
        self.around.recorder.group(NO_COORDINATOR, -1)
        for client in self.clients.values():
            lost = partial(client.run, client.lost_coordinator)
            self.around.kernel.after(self.around.settings.assumed.latency_ms, lost)

    def come_back(self) -> None:
        """Another broker takes over: it loads the group first."""
        network, loading = self.around.network, _Loading(self.while_loading)
        network.coordinator, network.is_known = loading, True

        def loaded() -> None:
            if network.coordinator is loading:
                self.start()

        self.around.kernel.after(self.around.settings.assumed.load_ms, loaded)

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Let the coordinator answer that member."""
        self.asking = name
        if self.coordinator is not None:
            self.coordinator.handle(request, answer)
            self.look()

    # What there is to see

    def cause(self, title: str) -> None:
        """That happens now; the next generation may be due to it."""
        self._causes.append(title)

    def refusal(self, client: Process) -> str | None:
        """Kafka's name of the error that a commit of that member gets now; None when it is accepted."""
        if self.coordinator is None or client.is_split:
            return KafkaError.COORDINATOR_NOT_AVAILABLE.name
        error = self.answer_to(client)
        return None if error is KafkaError.NONE else error.name

    def has(self, member_id: str) -> bool:
        """Whether the group has that member."""
        seen = None if self.coordinator is None else self.seen()
        return seen is not None and member_id in seen.members

    def has_forgotten(self, client: Any) -> bool:
        """Whether the group goes on without that process; while there is no coordinator, whether the last one's did."""
        if self.coordinator is not None:
            return not self.has(client.member_id)
        return self._left is not None and client.member_id not in self._left.members

    def under_way(self) -> Iterator[str]:
        """What keeps the group from being at rest."""
        if self.coordinator is None:
            yield "there is no coordinator"
            return
        seen = self.seen()
        if seen is None:
            return
        if not seen.is_at_rest:
            yield f"the group is {seen.state}"
        there = [client for client in self.clients.values() if client.alive and client.member_id in seen.members]
        if len(seen.members) > len(there):
            yield "the group waits for the session of a member that is gone"

    def look(self) -> None:
        """Note what has changed. It is called after all that a coordinator does."""
        if self.coordinator is None:
            return
        seen = self.seen()
        if seen is not None and seen is self._looked_at:
            return
        self._looked_at = seen
        noted = None if seen is None else (seen.state, seen.generation, len(seen.members))
        if noted == self._noted:
            return
        self._noted = noted
        if seen is None:
            self.around.recorder.group("", -1)
            return
        self.note_state(seen)
        is_planned = seen.state == "Stable" and self._is_new(seen)
        if is_planned:
            self._note_plan(seen)
        if is_planned or len(seen.members) < self._members:
            self._expel()
        self._members = len(seen.members)

    def note_state(self, seen: Seen) -> None:
        """Write down the group's state."""
        self.around.recorder.group(seen.state, seen.generation)

    def _expel(self) -> None:
        for client in self.clients.values():
            if client.owned and self.has_forgotten(client):
                client.expelled()

    def _is_new(self, seen: Seen) -> bool:
        plans = self.around.recorder.plans
        return not plans or plans[-1].generation != seen.generation

    def _note_plan(self, seen: Seen) -> None:
        parts = {self.names[member_id]: part for member_id, part in self.parts().items()}
        topics = self.around.topics()
        members = tuple(
            replace(resolved(self.clients[name].member, topics), owned=part, generation=seen.generation)
            for name, part in parts.items()
        )
        assignor = next(iter(self.clients.values())).around.assignor.name
        now_ms = self.around.kernel.now_ms
        plan = Plan(seen.generation, now_ms, self._cause(), members, parts, topics, assignor)
        self.around.recorder.plans.append(plan)
        self._unsure.append(self.log.appends if self.log is not None else 0)

    def _forget_lost_plans(self, replicated: int) -> None:
        """Of a plan that was not replicated nobody has heard: what caused it causes the next one."""
        while self._unsure and self._unsure[-1] > replicated:
            self._unsure.pop()
            self._causes.insert(0, self.around.recorder.plans.pop().cause)
        self._unsure.clear()

    def _cause(self) -> str:
        if self._causes:
            self._last_cause, self._rounds = "; ".join(self._causes), 1
            self._causes.clear()
            return self._last_cause
        self._rounds += 1
        return f"{self._last_cause} (rebalance {self._rounds})"


class _Watched(Kernel):
    """The kernel as the coordinator sees it: after each of its events, somebody looks."""

    def __init__(self, kernel: Kernel, look: Action) -> None:
        self._kernel, self._look = kernel, look

    @property
    def now_ms(self) -> int:
        return self._kernel.now_ms

    def after(self, delay_ms: int, action: Action) -> None:
        self._kernel.after(delay_ms, partial(self._run, action))

    def turn(self) -> int:
        return self._kernel.turn()

    def at(self, at_ms: int, turn: int, action: Action) -> None:
        self._kernel.at(at_ms, turn, partial(self._run, action))

    def _run(self, action: Action) -> None:
        action()
        self._look()


class Log:
    """Records are replicated a while after they are written, unless the broker dies before.

    `appends` and `replicated` count writes.
    """

    def __init__(self, kernel: Kernel, append_ms: int, records: list[Any]) -> None:
        self.is_lost = False
        self.appends = self.replicated = 0
        self._kernel, self._append_ms, self._records = kernel, append_ms, records

    def append(self, records: Sequence[Any], done: Done) -> None:
        """Write them."""
        written = list(records)
        self.appends += 1

        def replicated() -> None:
            if not self.is_lost:
                self.replicated += 1
                self._records.extend(written)
                done()

        self._kernel.after(self._append_ms, replicated)


class _Loading:
    """A coordinator that is still loading."""

    def __init__(self, reply: Callable[[Any], Any]) -> None:
        self._reply = reply

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        answer(self._reply(request))
