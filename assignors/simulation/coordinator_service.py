"""The brokers of a simulation: the group coordinator, its log, its failover, and what the timeline records of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from assignors.model import TopicPartition
from assignors.patterns import resolved
from assignors.simulation.budget import MOST_REBALANCES, PARTITIONS_PER_EVENT, REBALANCES_PER_MEMBER
from assignors.simulation.classic import ClassicCoordinator
from assignors.simulation.classic.records import OffsetRecord
from assignors.simulation.clients import Environment, Process
from assignors.simulation.consumer import ConsumerCoordinator
from assignors.simulation.errors import KafkaError
from assignors.simulation.kernel import Action, Clock, EventLimitError
from assignors.simulation.log import Done
from assignors.simulation.network import Answer
from assignors.simulation.timeline.tables import INITIAL_STATE, NO_COORDINATOR, Plan
from assignors.spelling import shown

NOT_RECORDED = ("not recorded",)
_ENDLESS = (
    "it rebalances without end: more than {:,} rebalances since {!r} at {:,.3f} s, by {:,.3f} s, "
    "and the rest is not simulated"
)


class GroupView(NamedTuple):
    """The group as the timeline records it. `is_at_rest`: no rebalance is in progress."""

    state: str
    generation: int
    members: Mapping[str, Any]
    is_at_rest: bool


class GroupCoordinatorService(ABC):
    """Runs one coordinator at a time; the replicated records survive it (Kafka: GroupCoordinatorService)."""

    def __init__(self, env: Environment, clients: Mapping[str, Process]) -> None:
        self.env, self.clients = env, clients
        self.records: list[Any] = []
        self.names: dict[str, str] = {}
        self.requester = ""
        self.coordinator: Any = None
        self.log: Log | None = None
        self._recorded: tuple[object, ...] | None = NOT_RECORDED
        self._observed: GroupView | None = None
        self._last_view: GroupView | None = None
        self._members = 0
        self._causes: list[str] = []
        self._plan_appends: list[int] = []
        self._last_cause = ""
        self._committed: set[TopicPartition] = set()
        self._rounds = 0
        self._last_event, self._last_event_ms = "", 0
        self._generation = self._generations_since = 0

    # Defined by the protocol

    @abstractmethod
    def create_coordinator(self, kernel: Clock, log: "Log") -> ClassicCoordinator | ConsumerCoordinator:
        """A coordinator that has loaded all replicated records."""

    @abstractmethod
    def view(self) -> GroupView | None:
        """The group; None while there is none."""

    @abstractmethod
    def assignments(self) -> dict[str, Sequence[TopicPartition]]:
        """The assignment of the present generation, by member id."""

    @abstractmethod
    def loading_reply(self, request: Any) -> Any:
        """The reply of a coordinator that is still loading."""

    @abstractmethod
    def topics_changed(self) -> None:
        """The topics of the cluster have changed."""

    @abstractmethod
    def commit_answer(self, client: Any) -> KafkaError:
        """The coordinator's answer to a commit of that member."""

    # Start, failure and failover

    def start(self) -> None:
        """Start a coordinator with the replicated records; all sessions start again."""
        kernel = _ObservedClock(self.env.kernel, self.observe)
        self.log = Log(kernel, self.env.settings.assumed.append_ms, self.records)
        self.coordinator = self.create_coordinator(kernel, self.log)
        self.env.network.coordinator, self.env.network.is_known = self, True
        self.observe()

    def start_stable(self, clients: Sequence[Any], generation: int) -> None:
        """Start with a Stable group of these members."""
        self.names |= {client.member_id: client.name for client in clients}
        self.add_cause(INITIAL_STATE)
        self.start()

    def fail(self) -> None:
        """The broker dies: connections break, and records that are not replicated yet are lost."""
        if self.coordinator is not None and self.log is not None:
            self._last_view = self.view()
            self.coordinator.timers.disarm_all()
            self.log.is_lost = True
            self._forget_lost_plans(self.log.replicated)
        self.coordinator = self.env.network.coordinator = None
        self._recorded, self._observed = NOT_RECORDED, None
        self.env.network.is_known = False
        self.env.recorder.group(NO_COORDINATOR, -1)
        for client in self.clients.values():
            lost = partial(client.run, client.lost_coordinator)
            self.env.kernel.after(self.env.settings.assumed.latency_ms, lost)

    def fail_over(self) -> None:
        """Another broker takes over and loads the group first."""
        network, loading = self.env.network, _LoadingCoordinator(self.loading_reply)
        network.coordinator, network.is_known = loading, True

        def loaded() -> None:
            if network.coordinator is loading:
                self.start()

        self.env.kernel.after(self.env.settings.assumed.load_ms, loaded)

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Pass a request of that member to the coordinator."""
        self.requester = name
        if self.coordinator is not None:
            self.coordinator.handle(request, answer)
            self.observe()

    # What the timeline and the clients see

    def add_cause(self, title: str) -> None:
        """An event that happens now: a cause of the next generation."""
        self._causes.append(title)
        self._last_event, self._last_event_ms, self._generations_since = title, self.env.kernel.now_ms, 0

    def forget_causes(self) -> None:
        """Events so far that caused no generation cause none any more: the group has settled."""
        self._causes.clear()

    def commit_error(self, client: Process) -> str | None:
        """Kafka's name of the error of a commit of that member now; None if the commit succeeds."""
        if self.coordinator is None or client.is_split:
            return KafkaError.COORDINATOR_NOT_AVAILABLE.name
        error = self.commit_answer(client)
        return None if error is KafkaError.NONE else error.name

    def has(self, member_id: str) -> bool:
        view = None if self.coordinator is None else self.view()
        return view is not None and member_id in view.members

    def has_removed(self, client: Any) -> bool:
        """Whether the process is no longer a member, or was not in the last group while there is no coordinator."""
        if self.coordinator is not None:
            return not self.has(client.member_id)
        return self._last_view is not None and client.member_id not in self._last_view.members

    def in_progress(self) -> Iterator[str]:
        """Why the group has not settled."""
        if self.coordinator is None:
            yield "there is no coordinator"
            return
        view = self.view()
        if view is None:
            return
        if not view.is_at_rest:
            yield f"the group is {view.state}"
        there = [client for client in self.clients.values() if client.alive and client.member_id in view.members]
        if len(view.members) > len(there):
            yield "the group waits for the session of a member that is gone"

    def observe(self) -> None:
        """Record what has changed; called after each action of the coordinator."""
        if self.coordinator is None:
            return
        view = self.view()
        if view is not None and view is self._observed:
            return
        self._observed = view
        recorded = None if view is None else (view.state, view.generation, tuple(view.members))
        if recorded == self._recorded:
            return
        self._recorded = recorded
        if view is None:
            self.env.recorder.group("", -1)
            return
        self.record_state(view)
        self._count_generation(view)
        is_assigned = view.state == "Stable" and (self._is_new(view) or self._is_replaced(view))
        is_emptied = view.state == "Empty" and view.generation > 0 and self._is_new(view)
        if is_assigned or is_emptied:
            self._record_plan(view)
        if is_assigned or len(view.members) < self._members:
            self._mark_zombies()
        self._members = len(view.members)

    def record_state(self, view: GroupView) -> None:
        self.env.recorder.group(view.state, view.generation)

    def _count_generation(self, view: GroupView) -> None:
        """Count the time that a generation takes, also one that never becomes Stable.

        Raises EventLimitError for too many. Under KIP-848 each member that comes or goes makes one.
        """
        if view.generation <= 0 or view.generation == self._generation:
            return
        self._generation = view.generation
        partitions = sum(topic.partitions for topic in self.env.topics().values())
        subscribed = sum(len(client.member.topics) for client in self.clients.values())
        self.env.kernel.spend((partitions + subscribed) // PARTITIONS_PER_EVENT)
        self._generations_since += 1
        most = MOST_REBALANCES + REBALANCES_PER_MEMBER * len(self.clients)
        if self._generations_since > most:
            since, now = self._last_event_ms / 1_000, self.env.kernel.now_ms / 1_000
            raise EventLimitError(_ENDLESS.format(most, shown(self._last_event), since, now))

    def _mark_zombies(self) -> None:
        for client in self.clients.values():
            if client.owned and self.has_removed(client):
                client.mark_zombie()

    def _is_new(self, view: GroupView) -> bool:
        plans = self.env.recorder.plans
        return not plans or plans[-1].generation != view.generation

    def _is_replaced(self, view: GroupView) -> bool:
        """Whether another process has the partitions of a static member now, without a rebalance (KIP-345)."""
        last = self.env.recorder.plans[-1].by_member
        return len(view.members) == len(last) and any(self.names[member_id] not in last for member_id in view.members)

    def _record_plan(self, view: GroupView) -> None:
        parts = {self.names[member_id]: part for member_id, part in self.assignments().items()}
        topics = self.env.topics()
        members = tuple(
            replace(resolved(self.clients[name].member, topics), owned=part, generation=view.generation)
            for name, part in parts.items()
        )
        assignor = next(iter(self.clients.values())).env.assignor.name
        now_ms = self.env.kernel.now_ms
        plan = Plan(view.generation, now_ms, self._cause(), members, parts, topics, assignor)
        self.env.recorder.plans.append(plan)
        self._plan_appends.append(self.log.appends if self.log is not None else 0)
        self._commit(tp for part in parts.values() for tp in part)

    def _commit(self, partitions: Iterable[TopicPartition]) -> None:
        """Consumers commit automatically what they read, so the group outlives its last member."""
        if not self.env.settings.client.enable_auto_commit:
            return
        new = [tp for tp in partitions if tp not in self._committed]
        self._committed.update(new)
        commits = [OffsetRecord(tp, 0, self.env.kernel.now_ms) for tp in new]
        self.records.extend(commits)
        self.coordinator.remember(commits)

    def _forget_lost_plans(self, replicated: int) -> None:
        """No member received an assignment that was not replicated: its cause becomes that of the next one."""
        while self._plan_appends and self._plan_appends[-1] > replicated:
            self._plan_appends.pop()
            self._causes.insert(0, self.env.recorder.plans.pop().cause)
        self._plan_appends.clear()

    def _cause(self) -> str:
        if self._causes:
            self._last_cause, self._rounds = "; ".join(self._causes), 1
            self._causes.clear()
            return self._last_cause
        self._rounds += 1
        return f"{self._last_cause} (rebalance {self._rounds})"


class _ObservedClock:
    """A clock that calls `observe` after each event of the coordinator."""

    def __init__(self, kernel: Clock, observe: Action) -> None:
        self._kernel, self._observe = kernel, observe

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
        self._observe()


class Log:
    """Records are replicated `append_ms` after they are written, unless the broker dies before.

    `appends` and `replicated` count writes.
    """

    def __init__(self, kernel: Clock, append_ms: int, records: list[Any]) -> None:
        self.is_lost = False
        self.appends = self.replicated = 0
        self._kernel, self._append_ms, self._records = kernel, append_ms, records

    def append(self, records: Sequence[Any], done: Done) -> None:
        written = list(records)
        self.appends += 1

        def replicated() -> None:
            if not self.is_lost:
                self.replicated += 1
                self._records.extend(written)
                done()

        self._kernel.after(self._append_ms, replicated)


class _LoadingCoordinator:
    """A coordinator that is loading the group."""

    def __init__(self, reply: Callable[[Any], Any]) -> None:
        self._reply = reply

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        answer(self._reply(request))
