"""A consumer of the classic protocol, eager or cooperative (Kafka: AbstractCoordinator, ConsumerCoordinator).

It joins and syncs in poll, beside a heartbeat thread. Not simulated: the round trip of a commit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from assignors.client.sticky.user_data import Owned
from assignors.model import AssignorError, Member, Topic, TopicPartition
from assignors.patterns import resolved
from assignors.simulation.classic.messages import (
    Heartbeat,
    Join,
    JoinReply,
    Leave,
    Leaver,
    Sync,
    SyncReply,
)
from assignors.simulation.clients import leader
from assignors.simulation.clients.consumer_process import Environment, Process
from assignors.simulation.clients.error_handling import ELSEWHERE, FATAL, LATER, LOST, NEW_ID
from assignors.simulation.clients.heartbeat import HeartbeatThread
from assignors.simulation.consumer_protocol import decode_assignment, encode_subscription
from assignors.simulation.errors import KafkaError
from assignors.simulation.timeline.tables import MemberState
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of

NO_GENERATION = -1
REQUEST_TIMEOUT_MS = 30_000
"""Kafka's default of request.timeout.ms: how long a member waits for the reply to a SyncGroup."""


class Phase(StrEnum):
    """Kafka: AbstractCoordinator.MemberState."""

    UNJOINED = "unjoined"
    PREPARING_REBALANCE = "preparing_rebalance"
    COMPLETING_REBALANCE = "completing_rebalance"
    STABLE = "stable"


class ClassicClient(Process):
    """`generation` and `member_id` are those that the member knows; -1 and "" after they are reset."""

    def __init__(self, env: Environment, member: Member) -> None:
        super().__init__(env, resolved(member, env.topics()))
        self.generation = NO_GENERATION
        self.phase = Phase.UNJOINED
        self.is_cooperative = protocol_of(env.assignor.name) is RebalanceProtocol.COOPERATIVE
        self._rejoin_needed = self._needs_join_prepare = True
        self._in_flight = self._is_backing_off = False
        self._requests = 0
        self._reply: JoinReply | bytes | None = None
        self._joined_topics: tuple[str, ...] = ()
        self._assignment_topics: leader.Topics | None = None
        self._memory: Owned | None = None
        self._heartbeat = HeartbeatThread(self, self.heartbeat_interval_ms, self._on_heartbeat_error)

    # Start and poll

    def start_stable(self, generation: int, first_heartbeat_ms: int) -> None:
        """It is a member of a Stable group from the start."""
        self.member_id, self.generation, self.phase = self.name, generation, Phase.STABLE
        self.knows_coordinator, self._rejoin_needed = True, False
        self._joined_topics = self.member.topics
        owned = tuple(self.member.owned)
        self._memory = Owned(owned, generation)
        self._heartbeat.start(self._beat(), first_heartbeat_ms)
        self.set_owned(owned)
        self.record_state()

    def lead(self, names: Iterable[str]) -> None:
        """It is the leader of a group that has an assignment of these topics."""
        self._assignment_topics = {name: self.topics.get(name) for name in names}

    @property
    def heartbeat_interval_ms(self) -> int:
        return self.env.settings.client.heartbeat_interval_ms

    def poll(self) -> None:
        """Handle the last reply, and join if necessary."""
        reply, self._reply = self._reply, None
        if isinstance(reply, JoinReply):
            self._joined(reply)
        elif reply is not None:
            self._on_join_complete(reply)
        if self.alive and self._wants_to_join():
            self._join()

    def _wants_to_join(self) -> bool:
        ready = self.knows_coordinator and not (self._in_flight or self._is_backing_off) and self._reply is None
        return ready and self.subscribes and self._must_rejoin()

    def _must_rejoin(self) -> bool:
        """A rebalance is in progress, its subscription has changed, or it is the leader and sees other partitions."""
        return self._rejoin_needed or self._joined_topics != self.member.topics or self._differs_from(self.topics)

    def _differs_from(self, topics: Mapping[str, Topic]) -> bool:
        """Whether it is the leader and the assignment was made for other topics."""
        planned = self._assignment_topics
        return planned is not None and planned != {name: topics.get(name) for name in planned}

    # Join and sync

    def _join(self) -> None:
        if self.member.pattern is not None:
            self.refresh()  # Kafka: ConsumerCoordinator.poll asks for metadata before a join, to save a second one
        if self._needs_join_prepare:
            self._needs_join_prepare = False
            self._on_join_prepare()
        self._heartbeat.stop()
        self.phase = Phase.PREPARING_REBALANCE
        self._joined_topics = self.member.topics
        self.record_state()
        self._send(self._join_request(), self._receive)

    def _join_request(self) -> Join:
        settings, name = self.env.settings.client, self.env.assignor.name
        return Join(
            self.member.client_id or self.name,
            ((name, self.subscription),),
            self.member_id,
            self.member.instance_id,
            settings.session_timeout_ms,
            settings.max_poll_interval_ms,
        )

    @property
    def subscription(self) -> bytes:
        """Its subscription in the join request."""
        data = leader.user_data(self.env.assignor.name, self._memory)
        return encode_subscription(replace(self.member, owned=self.owned, generation=self.generation, user_data=data))

    def _on_join_prepare(self) -> None:
        """Kafka: onJoinPrepare. Without a generation its partitions are lost; eager members revoke all partitions."""
        self.commit()
        if self.generation == NO_GENERATION or not self.member_id:
            self._revoke("onPartitionsLost", self.owned)
        elif self.is_cooperative:
            self._revoke("onPartitionsRevoked", [tp for tp in self.owned if tp.topic not in self.member.topics])
        else:
            self._revoke("onPartitionsRevoked", self.owned)

    def _revoke(self, listener: str, partitions: Sequence[TopicPartition]) -> None:
        if partitions:
            self.call(listener, partitions)
            gone = set(partitions)
            self.has_revoked = True
            self.is_zombie = False
            self.set_owned([tp for tp in self.owned if tp not in gone])

    def _receive(self, reply: JoinReply) -> None:
        self._reply = reply
        self.wake()

    def _joined(self, reply: JoinReply) -> None:
        self._in_flight = False
        if reply.error is KafkaError.NONE and self.phase is Phase.PREPARING_REBALANCE:
            self.generation, self.phase = reply.generation, Phase.COMPLETING_REBALANCE
            self.member_id = reply.member_id
            self._in_flight = True
            self._heartbeat.start(self._beat(), self.env.first_heartbeat_ms(self.heartbeat_interval_ms))
            self.record_state()
            self._sync(reply)
        else:
            self._refused(reply.error, reply.member_id)

    def _sync(self, reply: JoinReply) -> None:
        leads = reply.leader == reply.member_id
        self._assignment_topics = None
        if not leads or reply.skip_assignment:
            self._assignment_topics = leader.snapshot(reply.members, self) if leads else None
            self._send(self._sync_request(reply, ()), self._synced)
            return
        try:
            plan, self._assignment_topics = leader.plan(reply.members, self)
        except AssignorError as error:
            self.fail(str(error))
            return
        request = self._sync_request(reply, plan)
        self.later(self.env.settings.assumed.plan_ms, lambda: self._send(request, self._synced))

    def _sync_request(self, reply: JoinReply, plan: tuple[tuple[str, bytes], ...]) -> Sync:
        instance = self.member.instance_id
        return Sync(reply.member_id, reply.generation, plan, instance, reply.protocol_type, reply.protocol)

    def _synced(self, reply: SyncReply) -> None:
        """The heartbeat thread may read this reply; the application sees it in poll."""
        if reply.error is KafkaError.NONE and self.phase is Phase.COMPLETING_REBALANCE:
            self.phase, self._rejoin_needed = Phase.STABLE, False
            self._reply = reply.assignment
        else:
            self._in_flight = False
            self._refused(KafkaError.ILLEGAL_GENERATION if reply.error is KafkaError.NONE else reply.error)
        if self.alive:
            self.wake()

    def _on_join_complete(self, assignment: bytes) -> None:
        """Kafka: onJoinComplete."""
        self._in_flight = False
        if self.phase is not Phase.STABLE:
            self._reset_generation(forget_id=True)
            return
        self._needs_join_prepare = True
        assigned = decode_assignment(assignment)
        if self.member.pattern is None and any(tp.topic not in self.member.topics for tp in assigned):
            self._rejoin_needed = True  # the subscription has changed since
            return
        self._apply_assignment(assigned)

    def _apply_assignment(self, assigned: tuple[TopicPartition, ...]) -> None:
        self._memory = Owned(assigned, self.generation)
        self.has_revoked = False
        self._rejoin_needed |= self.adopt(assigned)
        self.record_state()

    def _refused(self, error: KafkaError, member_id: str = "") -> None:
        """A join or a sync failed."""
        if error in FATAL:
            self.fail(error.name)
            return
        self._rejoin_needed = True
        if error is KafkaError.MEMBER_ID_REQUIRED:
            self.member_id = member_id
        elif error in LOST:
            self._reset_generation(forget_id=error in NEW_ID)
        if error in ELSEWHERE:
            self.mark_coordinator_unknown()
        if error in LATER:
            self._back_off()

    def _back_off(self) -> None:
        self._is_backing_off = True

        def over() -> None:
            self._is_backing_off = False
            self.wake()

        self.later(self.env.settings.client.retry_backoff_ms, over)

    def _reset_generation(self, *, forget_id: bool) -> None:
        """Reset the generation: its partitions are lost, and its next poll calls onPartitionsLost."""
        self._heartbeat.stop()
        self.generation, self.phase = NO_GENERATION, Phase.UNJOINED
        self.member_id = "" if forget_id else self.member_id
        self._rejoin_needed = self._needs_join_prepare = True
        self.mark_zombie()
        self.record_state()

    # The heartbeat thread

    def _beat(self) -> Heartbeat:
        return Heartbeat(self.member_id, self.generation, self.member.instance_id)

    def _on_heartbeat_error(self, error: KafkaError) -> None:
        if error is not KafkaError.REBALANCE_IN_PROGRESS:
            self._expelled(error)
        elif self.phase is Phase.STABLE:
            self._rejoin_needed = True
            self.record_state()
            self.wake()

    def _expelled(self, error: KafkaError) -> None:
        if error in FATAL:
            self.fail(error.name)
            return
        self._reset_generation(forget_id=error in NEW_ID)
        self.wake()

    def poll_timed_out(self) -> None:
        """The heartbeat thread leaves the group; a static member only stops sending heartbeats (KIP-345)."""
        if not self._heartbeat.runs:
            return
        self._leave()
        self._reset_generation(forget_id=True)
        self.wake()

    # The coordinator

    def _send(self, request: Join | Sync, answer: Callable[..., None]) -> None:
        """Send a join or a sync; without a coordinator it fails at once."""
        self._in_flight = self.knows_coordinator
        if self.knows_coordinator:
            self._requests += 1
            self.env.network.send(self, request, answer)
            if isinstance(request, Sync):  # a JoinGroup may take as long as a rebalance
                self.later(REQUEST_TIMEOUT_MS, self._timed_out, self._requests)
        else:
            self._rejoin_needed = True

    def _timed_out(self, asked: int) -> None:
        if self._in_flight and asked == self._requests:
            self.lost_coordinator()

    def lost_coordinator(self) -> None:
        """Requests in flight are lost; the member keeps its generation."""
        self.connection += 1
        if self._in_flight and self._reply is None:
            self._in_flight = False
            self._rejoin_needed = True
        self.mark_coordinator_unknown()

    def found_coordinator(self) -> None:
        """The heartbeat thread and the application continue."""
        self._heartbeat.proceed()
        self.wake()

    # Leaving

    def leave_on_close(self) -> None:
        """Call the listener; then a dynamic member leaves the group, a static one does not."""
        if self.owned:
            lost = self.generation == NO_GENERATION or self.phase is Phase.PREPARING_REBALANCE
            self.call("onPartitionsLost" if lost else "onPartitionsRevoked", self.owned)
        self._leave()

    def _leave(self) -> None:
        dynamic = self.member.instance_id is None
        if dynamic and self.knows_coordinator and self.phase is not Phase.UNJOINED and self.member_id:
            self.env.network.send(self, Leave((Leaver(self.member_id),)), lambda reply: None)

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """Join with the new subscription; with an empty one, leave the group (Kafka: unsubscribe)."""
        self.member = replace(self.member, topics=topics, pattern=pattern)
        self.refresh()
        if not self.subscribes:
            self.leave_on_close()
            self.set_owned(())
            self._reset_generation(forget_id=True)
        self.wake()

    def refresh(self) -> None:
        """Under the classic protocol each member matches its pattern itself."""
        super().refresh()
        self.member = resolved(self.member, self.topics)

    # State

    @property
    def is_settled(self) -> bool:
        """Stable, nothing in flight, and all changes of topics are known."""
        if not self.subscribes:
            return True
        quiet = self.phase is Phase.STABLE and self.knows_coordinator and not (self._in_flight or self.is_zombie)
        now = self.env.topics()
        return (
            quiet
            and not self._must_rejoin()
            and not self._differs_from(now)
            and resolved(self.member, now) is self.member
        )

    @property
    def state(self) -> tuple[MemberState, int]:
        is_stable = self.phase is Phase.STABLE and not self._in_flight and not self._rejoin_needed
        return self.progress(is_stable=is_stable), self.generation
