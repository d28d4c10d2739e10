"""The broker's side of a run: the coordinator, its log, its failure and return, and a look at the group."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from assignors.model import Member, TopicPartition
from assignors.simulation.classic import ClassicCoordinator, ClassicGroup, State
from assignors.simulation.classic.messages import CONSUMER, while_loading
from assignors.simulation.classic.records import GroupRecord, MemberRecord, Record
from assignors.simulation.clients import ClassicClient, Surroundings
from assignors.simulation.clients.wire import decode_assignment, encode_assignment
from assignors.simulation.kernel import Action, Kernel
from assignors.simulation.log import Done
from assignors.simulation.network import Answer
from assignors.simulation.timeline import Plan

NO_COORDINATOR = "no coordinator"


class Server:
    """One coordinator at a time; what it has persisted survives it."""

    def __init__(
        self, around: Surroundings, new_id: Callable[[str], str], clients: Mapping[str, ClassicClient]
    ) -> None:
        self._around, self._new_id, self._clients = around, new_id, clients
        self._records: list[Record] = []
        self._log: _Log | None = None
        self._coordinator: ClassicCoordinator | None = None
        self._seen: object = None
        self._state: State | None = None
        self._members = 0
        self._asking = ""
        self._names: dict[str, str] = {}
        self._causes: list[str] = []
        self._last_cause = ""
        self._rounds = 0

    # Its life

    def start(self) -> None:
        """A coordinator with what is persisted; all sessions begin anew."""
        watched = _Watched(self._around.kernel, self._look)
        self._log = _Log(watched, self._around.settings.assumed.append_ms, self._records)
        self._coordinator = ClassicCoordinator(
            watched, self._id_of_asking, self._log, self._around.settings.broker, list(self._records)
        )
        network = self._around.network
        network.coordinator, network.is_known = self, True
        self._look()

    def stop(self) -> None:
        """The broker dies: nobody answers; connections break, and what is not replicated yet is lost."""
        if self._coordinator is not None and self._log is not None:
            self._coordinator.timers.disarm_all()
            self._log.is_lost = True
        self._coordinator = self._around.network.coordinator = self._seen = None
        self._around.network.is_known = False
        self._around.recorder.group(NO_COORDINATOR, -1)
        for client in self._clients.values():
            lost = partial(client.run, client.lost_coordinator)
            self._around.kernel.after(self._around.settings.assumed.latency_ms, lost)

    def come_back(self) -> None:
        """Another broker takes over: it loads the group first."""
        network, loading = self._around.network, _Loading()
        network.coordinator, network.is_known = loading, True

        def loaded() -> None:
            if network.coordinator is loading:
                self.start()

        self._around.kernel.after(self._around.settings.assumed.load_ms, loaded)

    def adopt(self, clients: Sequence[ClassicClient], generation: int, protocol: str) -> None:
        """Start with a Stable group of these members; the first one leads."""
        members = tuple(self._member_record(client) for client in clients)
        self._records.append(GroupRecord(generation, CONSUMER, protocol, members[0].member_id, 0, members))
        self._names |= {client.member_id: client.name for client in clients}
        self.cause("as it is")
        self.start()

    def _member_record(self, client: ClassicClient) -> MemberRecord:
        settings, member = self._around.settings.client, client.member
        return MemberRecord(
            client.member_id,
            member.instance_id,
            member.client_id or client.name,
            settings.session_timeout_ms,
            settings.max_poll_interval_ms,
            client.subscription,
            encode_assignment(member.owned),
        )

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Let the coordinator answer that member."""
        self._asking = name
        if self._coordinator is not None:
            self._coordinator.handle(request, answer)
            self._look()

    def _id_of_asking(self, prefix: str) -> str:
        made = self._new_id(prefix)
        self._names[made] = self._asking
        return made

    # What there is to see

    def cause(self, title: str) -> None:
        """That happens now; the next generation may be due to it."""
        self._causes.append(title)

    def has(self, member_id: str) -> bool:
        """Whether the group has that member."""
        group = self._group()
        return group is not None and member_id in group.members

    def _group(self) -> ClassicGroup | None:
        return None if self._coordinator is None else self._coordinator.group

    def under_way(self) -> Iterator[str]:
        """What keeps the group from being at rest."""
        if self._coordinator is None:
            yield "there is no coordinator"
        group = self._group()
        if group is None:
            return
        if group.state not in (State.STABLE, State.EMPTY):
            yield f"the group is {group.state}"
        alive = {client.member_id for client in self._clients.values() if client.alive}
        if len(group.members) > len(alive & group.members.keys()):
            yield "the group waits for the session of a member that is gone"

    def _look(self) -> None:
        """Note what has changed. It is called after all that the coordinator does."""
        group = self._group()
        seen = None if group is None else (group.state, group.generation, len(group.members))
        if seen == self._seen:
            return
        self._seen = seen
        if group is None:
            self._around.recorder.group("", -1)
            return
        self._note_state(group)
        self._expel(group)
        if group.state is State.STABLE and self._is_new(group):
            self._note_plan(group)

    def _note_state(self, group: ClassicGroup) -> None:
        """When the last one joins at once, a group is past PreparingRebalance before anybody can look."""
        recorder = self._around.recorder
        if group.previous_state is State.PREPARING_REBALANCE and self._state is not State.PREPARING_REBALANCE:
            recorder.group(State.PREPARING_REBALANCE, group.generation - 1)
        self._state = group.state
        recorder.group(group.state, group.generation)

    def _expel(self, group: ClassicGroup) -> None:
        if len(group.members) < self._members:
            for client in self._clients.values():
                if client.owned and client.member_id not in group.members:
                    client.expelled()
        self._members = len(group.members)

    def _is_new(self, group: ClassicGroup) -> bool:
        plans = self._around.recorder.plans
        return not plans or plans[-1].generation != group.generation

    def _note_plan(self, group: ClassicGroup) -> None:
        parts = {self._names[name]: decode_assignment(member.assignment) for name, member in group.members.items()}
        members = tuple(self._described(name, group.generation, parts[name]) for name in parts)
        plan = Plan(
            group.generation,
            self._around.kernel.now_ms,
            self._cause(),
            members,
            parts,
            self._around.topics(),
            group.protocol or "",
        )
        self._around.recorder.plans.append(plan)

    def _described(self, name: str, generation: int, owned: Sequence[TopicPartition]) -> Member:
        return replace(self._clients[name].member, owned=owned, generation=generation)

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


class _Log:
    """Records are replicated a while after they are written, unless the broker dies before."""

    def __init__(self, kernel: Kernel, append_ms: int, records: list[Record]) -> None:
        self.is_lost = False
        self._kernel, self._append_ms, self._records = kernel, append_ms, records

    def append(self, records: Sequence[Record], done: Done) -> None:
        written = list(records)

        def replicated() -> None:
            if not self.is_lost:
                self._records.extend(written)
                done()

        self._kernel.after(self._append_ms, replicated)


class _Loading:
    """A coordinator that is still loading."""

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        answer(while_loading(request))
