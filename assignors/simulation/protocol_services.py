"""The group coordinator services of the two protocols."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from assignors.model import TopicPartition
from assignors.patterns import matching
from assignors.simulation.classic import ClassicCoordinator, State
from assignors.simulation.classic.messages import CONSUMER, Commit, Heartbeat, JoinReply, while_loading
from assignors.simulation.classic.offsets import refusal, refusal_without_group
from assignors.simulation.classic.records import GroupRecord, MemberRecord
from assignors.simulation.clients import ClassicClient, ConsumerClient, Environment, Process
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
from assignors.simulation.consumer_protocol import decode_assignment, encode_assignment
from assignors.simulation.coordinator_service import GroupCoordinatorService, GroupView, Log
from assignors.simulation.errors import KafkaError, Refused
from assignors.simulation.kernel import Clock
from assignors.simulation.network import Answer


class ClassicService(GroupCoordinatorService):
    """Groups of the classic protocol."""

    _state: State | None = None

    def __init__(self, env: Environment, clients: Mapping[str, Process]) -> None:
        super().__init__(env, clients)
        self._joined_generation: dict[str, int] = {}
        """The generation of each member's last successful join."""

    def create_coordinator(self, kernel: Clock, log: Log) -> ClassicCoordinator:
        """It gives out member ids; each is remembered with the requester."""
        self._state = None
        return ClassicCoordinator(kernel, self._new_id, log, self.env.settings.broker, list(self.records))

    def _new_id(self, prefix: str) -> str:
        made = self.env.new_id(prefix)
        self.names[made] = self.requester
        return made

    def start_stable(self, clients: Sequence[Any], generation: int) -> None:
        """The first member is the leader."""
        members = tuple(self._member_record(client) for client in clients)
        clients[0].lead({name for client in clients for name in client.member.topics})
        protocol = clients[0].env.assignor.name
        self.records.append(GroupRecord(generation, CONSUMER, protocol, members[0].member_id, 0, members))
        super().start_stable(clients, generation)

    def _member_record(self, client: ClassicClient) -> MemberRecord:
        settings, member = self.env.settings.client, client.member
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
        """Heartbeats, by far the most frequent requests, change nothing in the view and are passed on directly."""
        if isinstance(request, Heartbeat) and self.coordinator is not None:
            self.coordinator.handle(request, answer)
        else:
            super().handle(name, request, partial(self._answer, name, answer))

    def _answer(self, name: str, answer: Answer, reply: Any) -> None:
        if isinstance(reply, JoinReply) and reply.error is KafkaError.NONE:
            self._joined_generation[name] = reply.generation
        answer(reply)

    def view(self) -> GroupView | None:
        group = self.coordinator.group
        if group is None:
            return None
        return GroupView(group.state, group.generation, group.members, group.state in (State.STABLE, State.EMPTY))

    def record_state(self, view: GroupView) -> None:
        """Record PreparingRebalance too when the last member joins so soon that the group has left that state."""
        before, self._state = self._state, self.coordinator.group.state
        if self.coordinator.group.previous_state is State.PREPARING_REBALANCE is not before:
            self.env.recorder.group(State.PREPARING_REBALANCE, view.generation - 1)
        super().record_state(view)

    def assignments(self) -> dict[str, Sequence[TopicPartition]]:
        """The partitions as the leader assigned them."""
        members = self.coordinator.group.members
        return {member_id: decode_assignment(member.assignment) for member_id, member in members.items()}

    def has_removed(self, client: Any) -> bool:
        """Also after a rebalance without a static member, which the group keeps until its session ends (KIP-345)."""
        plans, let_in = self.env.recorder.plans, self._joined_generation.get(client.name, client.generation)
        return (bool(plans) and let_in < plans[-1].generation) or super().has_removed(client)

    def topics_changed(self) -> None:
        """Nothing: the members watch the topics, not the coordinator."""

    def commit_answer(self, client: ClassicClient) -> KafkaError:
        request = Commit((), client.member_id, client.generation, client.member.instance_id)
        group = self.coordinator.group
        return refusal_without_group(request) if group is None else refusal(group, request)

    def loading_reply(self, request: Any) -> Any:
        return while_loading(request)


class ConsumerService(GroupCoordinatorService):
    """Groups of the consumer protocol (KIP-848)."""

    _appends = -1
    _last: GroupView | None = None

    def create_coordinator(self, kernel: Clock, log: Log) -> ConsumerCoordinator:
        """It starts with the present topics."""
        self._topics, self._appends = Topics(self.env.topics(), len(self.records)), -1
        settings = self.env.settings.kip848
        return ConsumerCoordinator(
            kernel, lambda: self.env.new_id("member"), log, self._topics, settings, list(self.records)
        )

    def topics_changed(self) -> None:
        """The coordinator reacts at the next heartbeat."""
        if self.coordinator is not None:
            self._topics = self._topics.changed(self.env.topics().values())
            self.coordinator.see(self._topics)

    def handle(self, name: str, request: Any, answer: Answer) -> None:
        """Members generate their ids themselves."""
        self.names[request.member_id] = name
        super().handle(name, request, answer)

    def start_stable(self, clients: Sequence[Any], generation: int) -> None:
        """The target assignment is what they own."""
        topics = Topics(self.env.topics())
        for client in clients:
            self._persist_member(client, generation, topics)
        names = {name for client in clients for name in client.member.topics}
        for pattern in {client.member.pattern for client in clients} - {None}:
            matched = matching(pattern, topics.by_name)
            self.records.append(RegexRecord(pattern, matched, topics.version, 0))
            names.update(matched)
        self.records += [TargetEpochRecord(generation, 0), EpochRecord(generation, topics.fingerprint(names))]
        super().start_stable(clients, generation)

    def _persist_member(self, client: ConsumerClient, epoch: int, topics: Topics) -> None:
        found = [topics.partition(tp) for tp in client.member.owned]
        owned = tuple(partition for partition in found if partition is not None)
        member = Member(
            client.member_id,
            client.member.instance_id,
            client.member.client_id or client.name,
            self.env.settings.client.max_poll_interval_ms,
            frozenset(client.member.topics),
            regex=client.member.pattern or "",
            assignor=client.server_assignor,
            epoch=epoch,
            previous_epoch=epoch,
            assigned=dict.fromkeys(owned, epoch),
        )
        records = (SubscriptionRecord.of(member), TargetRecord(member.member_id, owned), CurrentRecord.of(member))
        self.records.extend(records)

    def in_progress(self) -> Iterator[str]:
        """Includes a change of topics that waits for a heartbeat, and an assignment that waits for a reply."""
        yield from super().in_progress()
        group = None if self.coordinator is None else self.coordinator.group
        if group is None or not group.members:
            return
        if group.wants_refresh(self.env.kernel.now_ms):
            yield "no heartbeat has arrived since the topics changed"
        if self.coordinator.looks_for_topics:
            yield "the broker has not matched its regular expressions against the topics yet"
        living = [client for client in self.clients.values() if isinstance(client, ConsumerClient) and client.alive]
        for client in living:
            member = group.members.get(client.member_id)
            if member is not None and client.target != member.assigned.keys():
                yield f"{client.name} has not received its assignment"

    def view(self) -> GroupView | None:
        """The group changes only with its records."""
        if self.log is not None and self.log.appends != self._appends:
            self._appends, self._last = self.log.appends, self._view()
        return self._last

    def _view(self) -> GroupView | None:
        group = self.coordinator.group
        if group is None:
            return None
        return GroupView(group.state, group.epoch, group.members, group.state in (GroupState.STABLE, GroupState.EMPTY))

    def assignments(self) -> dict[str, Sequence[TopicPartition]]:
        """What the members are assigned, as far as the reconciliation got."""
        members = self.coordinator.group.members
        return {member_id: sorted(self._topics.named(member.assigned)) for member_id, member in members.items()}

    def commit_answer(self, client: ConsumerClient) -> KafkaError:
        offsets = tuple((partition, 0) for partition in client.owned)
        request = Commit(offsets, client.member_id, client.epoch, client.member.instance_id)
        try:
            check_commit(self.coordinator.group, False, request, self._topics)
        except Refused as refused:
            return refused.error
        return KafkaError.NONE

    def loading_reply(self, request: Any) -> Any:
        return HeartbeatReply(KafkaError.COORDINATOR_LOAD_IN_PROGRESS)
