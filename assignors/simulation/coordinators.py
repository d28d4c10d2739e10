"""The coordinators of both protocols as a run sees them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from assignors.model import TopicPartition
from assignors.patterns import matching
from assignors.simulation.broker import Coordinator, Log, Seen, Server
from assignors.simulation.classic import ClassicCoordinator, State
from assignors.simulation.classic.messages import CONSUMER, Commit, Heartbeat, JoinReply, while_loading
from assignors.simulation.classic.offsets import refusal, refusal_without_group
from assignors.simulation.classic.records import GroupRecord, MemberRecord
from assignors.simulation.clients import ClassicClient, ConsumerClient, Process, Surroundings
from assignors.simulation.clients.consumer_protocol import decode_assignment, encode_assignment
from assignors.simulation.consumer import ConsumerCoordinator, GroupState, Member, Topics
from assignors.simulation.consumer.messages import HeartbeatReply
from assignors.simulation.consumer.offsets import check_commit
from assignors.simulation.consumer.records import (
    CurrentRecord,
    EpochRecord,
    RegexRecord,
    SubscriptionRecord,
    TargetEpochRecord,
    TargetRecord,
)
from assignors.simulation.errors import KafkaError, Refused
from assignors.simulation.kernel import Kernel
from assignors.simulation.network import Answer


class ClassicServer(Server):
    """Eager and cooperative groups."""

    _state: State | None = None

    def __init__(self, around: Surroundings, clients: Mapping[str, Process]) -> None:
        super().__init__(around, clients)
        self._let_in: dict[str, int] = {}
        """The generation that the last join of each brought."""

    def make(self, kernel: Kernel, log: Log) -> Coordinator:
        """With ids that are remembered by who asked."""
        self._state = None
        return ClassicCoordinator(kernel, self._new_id, log, self.around.settings.broker, list(self.records))

    def _new_id(self, prefix: str) -> str:
        made = self.around.new_id(prefix)
        self.names[made] = self.asking
        return made

    def adopt(self, clients: Sequence[Any], generation: int) -> None:
        """The first member leads."""
        members = tuple(self._member_record(client) for client in clients)
        clients[0].lead({name for client in clients for name in client.member.topics})
        protocol = clients[0].around.assignor.name
        self.records.append(GroupRecord(generation, CONSUMER, protocol, members[0].member_id, 0, members))
        super().adopt(clients, generation)

    def _member_record(self, client: ClassicClient) -> MemberRecord:
        settings, member = self.around.settings.client, client.member
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
        """Heartbeats, the most frequent requests by far, change nothing that can be seen."""
        if isinstance(request, Heartbeat) and self.coordinator is not None:
            self.coordinator.handle(request, answer)
        else:
            super().handle(name, request, partial(self._answer, name, answer))

    def _answer(self, name: str, answer: Answer, reply: Any) -> None:
        if isinstance(reply, JoinReply) and reply.error is KafkaError.NONE:
            self._let_in[name] = reply.generation
        answer(reply)

    def seen(self) -> Seen | None:
        """By its state."""
        group = self.coordinator.group
        if group is None:
            return None
        return Seen(group.state, group.generation, group.members, group.state in (State.STABLE, State.EMPTY))

    def note_state(self, seen: Seen) -> None:
        """When the last one joins at once, a group is past PreparingRebalance before anybody can look."""
        before, self._state = self._state, self.coordinator.group.state
        if self.coordinator.group.previous_state is State.PREPARING_REBALANCE is not before:
            self.around.recorder.group(State.PREPARING_REBALANCE, seen.generation - 1)
        super().note_state(seen)

    def parts(self) -> dict[str, Sequence[TopicPartition]]:
        """As the leader planned."""
        members = self.coordinator.group.members
        return {member_id: decode_assignment(member.assignment) for member_id, member in members.items()}

    def has_forgotten(self, client: Any) -> bool:
        """Also when it has planned anew without a static member, which it keeps until its session ends (KIP-345)."""
        plans, let_in = self.around.recorder.plans, self._let_in.get(client.name, client.generation)
        return (bool(plans) and let_in < plans[-1].generation) or super().has_forgotten(client)

    def topics_changed(self) -> None:
        """The coordinator does not look at topics: members do."""

    def answer_to(self, client: ClassicClient) -> KafkaError:
        """By its generation and the group's state."""
        said = Commit((), client.member_id, client.generation, client.member.instance_id)
        group = self.coordinator.group
        return refusal_without_group(said) if group is None else refusal(group, said)

    def while_loading(self, request: Any) -> Any:
        """Heartbeats pass."""
        return while_loading(request)


class ConsumerServer(Server):
    """KIP-848 groups."""

    _appends = -1
    _last: Seen | None = None

    def make(self, kernel: Kernel, log: Log) -> Coordinator:
        """It knows the topics of this moment."""
        self._topics, self._appends = Topics(self.around.topics(), len(self.records)), -1
        settings = self.around.settings.kip848
        return ConsumerCoordinator(
            kernel, lambda: self.around.new_id("member"), log, self._topics, settings, list(self.records)
        )

    def topics_changed(self) -> None:
        """The coordinator acts at the next heartbeat."""
        if self.coordinator is not None:
            self._topics = self._topics.changed(self.around.topics().values())
            self.coordinator.see(self._topics)

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Members choose their ids themselves."""
        self.names[request.member_id] = name
        super().handle(name, request, answer)

    def adopt(self, clients: Sequence[Any], generation: int) -> None:
        """The target is what they own."""
        topics = Topics(self.around.topics())
        for client in clients:
            self._adopt(client, generation, topics)
        names = {name for client in clients for name in client.member.topics}
        for pattern in {client.member.pattern for client in clients} - {None}:
            matched = matching(pattern, topics.by_name)
            self.records.append(RegexRecord(pattern, matched, topics.version, 0))
            names.update(matched)
        self.records += [TargetEpochRecord(generation, 0), EpochRecord(generation, topics.fingerprint(names))]
        super().adopt(clients, generation)

    def _adopt(self, client: ConsumerClient, epoch: int, topics: Topics) -> None:
        found = [topics.partition(tp) for tp in client.member.owned]
        owned = tuple(partition for partition in found if partition is not None)
        said = Member(
            client.member_id,
            client.member.instance_id,
            client.member.client_id or client.name,
            self.around.settings.client.max_poll_interval_ms,
            frozenset(client.member.topics),
            regex=client.member.pattern or "",
            epoch=epoch,
            previous_epoch=epoch,
            assigned=dict.fromkeys(owned, epoch),
        )
        records = (SubscriptionRecord.of(said), TargetRecord(said.member_id, owned), CurrentRecord.of(said))
        self.records.extend(records)

    def under_way(self) -> Iterator[str]:
        """A change of the topics waits for a heartbeat, and an assignment for the reply to one."""
        yield from super().under_way()
        group = None if self.coordinator is None else self.coordinator.group
        if group is None or not group.members:
            return
        if group.wants_refresh(self.around.kernel.now_ms):
            yield "no heartbeat has come since the topics changed"
        if self.coordinator.looks_for_topics:
            yield "the broker has yet to match its regular expressions with the topics"
        living = [client for client in self.clients.values() if isinstance(client, ConsumerClient) and client.alive]
        for client in living:
            member = group.members.get(client.member_id)
            if member is not None and client.target != member.assigned.keys():
                yield f"{client.name} has not heard of its assignment"

    def seen(self) -> Seen | None:
        """A KIP-848 group changes with its records alone."""
        if self.log is not None and self.log.appends != self._appends:
            self._appends, self._last = self.log.appends, self._see()
        return self._last

    def _see(self) -> Seen | None:
        group = self.coordinator.group
        if group is None:
            return None
        return Seen(group.state, group.epoch, group.members, group.state in (GroupState.STABLE, GroupState.EMPTY))

    def parts(self) -> dict[str, Sequence[TopicPartition]]:
        """What members have been given."""
        members = self.coordinator.group.members
        return {member_id: sorted(self._topics.named(member.assigned)) for member_id, member in members.items()}

    def answer_to(self, client: ConsumerClient) -> KafkaError:
        """By its epoch, and what it has."""
        offsets = tuple((partition, 0) for partition in client.owned)
        said = Commit(offsets, client.member_id, client.epoch, client.member.instance_id)
        try:
            check_commit(self.coordinator.group, False, said, self._topics)
        except Refused as refused:
            return refused.error
        return KafkaError.NONE

    def while_loading(self, request: Any) -> Any:
        """Everybody waits."""
        return HeartbeatReply(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
