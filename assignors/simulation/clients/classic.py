"""A consumer of the classic protocol, eager or cooperative (Kafka: AbstractCoordinator, ConsumerCoordinator).

It joins and syncs in poll; a heartbeat thread works beside that. Not played: the round trip of a commit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

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
from assignors.simulation.clients.consumer_process import Process, Surroundings
from assignors.simulation.clients.consumer_protocol import decode_assignment, encode_subscription
from assignors.simulation.clients.error_handling import ELSEWHERE, FATAL, LATER, LOST, NEW_ID
from assignors.simulation.clients.heartbeat import HeartbeatThread
from assignors.simulation.errors import KafkaError
from assignors.simulation.timeline import MemberState
from assignors.whatif.rebalance_protocol import RebalanceProtocol, protocol_of

NO_GENERATION = -1
REQUEST_TIMEOUT_MS = 30_000
"""Kafka's default of request.timeout.ms, for how long a member waits for the reply to a SyncGroup."""


class Phase(StrEnum):
    """Kafka: AbstractCoordinator.MemberState."""

    UNJOINED = "unjoined"
    PREPARING = "preparing"
    COMPLETING = "completing"
    STABLE = "stable"


def _unheard(reply: object) -> None:
    """Nobody waits for that reply."""


class ClassicClient(Process):
    """`generation` and `member_id` as the member knows them; -1 and "" when they are lost."""

    def __init__(self, around: Surroundings, member: Member) -> None:
        super().__init__(around, resolved(member, around.topics()))
        self.generation = NO_GENERATION
        self.phase = Phase.UNJOINED
        self.is_cooperative = protocol_of(around.assignor.name) is RebalanceProtocol.COOPERATIVE
        self._rejoins = self._must_prepare = True
        self._in_flight = self._backs_off = False
        self._asked = 0
        self._arrived: JoinReply | bytes | None = None
        self._joined_topics: tuple[str, ...] = ()
        self._planned_for: leader.Topics | None = None
        self._memory: leader.Memory | None = None
        self._gave_up = False
        self._heartbeat = HeartbeatThread(self, self.heartbeat_interval_ms, self._heard)

    # What it does

    def start(self) -> None:
        """Look for the coordinator."""
        self.note()
        self.find()

    def adopt(self, generation: int, first_beat_ms: int) -> None:
        """It is a member already, as the story begins."""
        self.member_id, self.generation, self.phase = self.name, generation, Phase.STABLE
        self.knows_coordinator, self._rejoins = True, False
        self._joined_topics = self.member.topics
        owned = tuple(self.member.owned)
        self._memory = leader.Memory(owned, generation)
        self._heartbeat.start(self._beat(), first_beat_ms)
        self.hold(owned)
        self.note()

    def lead(self, names: Iterable[str]) -> None:
        """It leads a group that reads these topics, and was planned for them as they are."""
        self._planned_for = {name: self.topics.get(name) for name in names}

    @property
    def heartbeat_interval_ms(self) -> int:
        """Its own setting."""
        return self.around.settings.client.heartbeat_interval_ms

    def poll(self) -> None:
        """Look at what has arrived; join when there is a reason to."""
        arrived, self._arrived = self._arrived, None
        if isinstance(arrived, JoinReply):
            self._joined(arrived)
        elif arrived is not None:
            self._complete(arrived)
        if self.alive and self._wants_to_join():
            self._join()

    def _wants_to_join(self) -> bool:
        ready = self.knows_coordinator and not (self._in_flight or self._backs_off) and self._arrived is None
        return ready and self.subscribes and self._must_join()

    def _must_join(self) -> bool:
        """The group asks for it, its subscription is another one, or it leads and sees other partitions."""
        return self._rejoins or self._joined_topics != self.member.topics or self._differs_from(self.topics)

    def _differs_from(self, topics: Mapping[str, Topic]) -> bool:
        """Whether it leads a group that was planned for other topics."""
        planned = self._planned_for
        return planned is not None and planned != {name: topics.get(name) for name in planned}

    # Join and sync

    def _join(self) -> None:
        if self.member.pattern is not None:
            self.refresh()  # Kafka: ConsumerCoordinator.poll asks for metadata before a join, to save a second one
        if self._must_prepare:
            self._must_prepare = False
            self._prepare()
        self._heartbeat.stop()
        self.phase = Phase.PREPARING
        self._joined_topics = self.member.topics
        self.note()
        self._ask(self._join_request(), self._arrive)

    def _join_request(self) -> Join:
        settings, name = self.around.settings.client, self.around.assignor.name
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
        """What it says when it joins."""
        data = leader.user_data(self.around.assignor.name, self._memory)
        return encode_subscription(replace(self.member, owned=self.owned, generation=self.generation, user_data=data))

    def _prepare(self) -> None:
        """Kafka: onJoinPrepare. What it owned as of a lost generation is lost; eager members give up everything."""
        self.commit()
        if self.generation == NO_GENERATION or not self.member_id:
            self._give_up("onPartitionsLost", self.owned)
        elif self.is_cooperative:
            self._give_up("onPartitionsRevoked", [tp for tp in self.owned if tp.topic not in self.member.topics])
        else:
            self._give_up("onPartitionsRevoked", self.owned)

    def _give_up(self, listener: str, partitions: Sequence[TopicPartition]) -> None:
        if partitions:
            self.call(listener, partitions)
            gone = set(partitions)
            self._gave_up = True
            self.is_zombie = False
            self.hold([tp for tp in self.owned if tp not in gone])

    def _arrive(self, reply: JoinReply) -> None:
        self._arrived = reply
        self.wake()

    def _joined(self, reply: JoinReply) -> None:
        self._in_flight = False
        if reply.error is KafkaError.NONE and self.phase is Phase.PREPARING:
            self.generation, self.phase = reply.generation, Phase.COMPLETING
            self.member_id = reply.member_id
            self._in_flight = True
            self._heartbeat.start(self._beat(), self.heartbeat_interval_ms)
            self.note()
            self._sync(reply)
        else:
            self._refused(reply.error, reply.member_id)

    def _sync(self, reply: JoinReply) -> None:
        leads = reply.leader == reply.member_id
        self._planned_for = None
        if not leads or reply.skip_assignment:
            self._planned_for = leader.snapshot(reply.members, self) if leads else None
            self._ask(self._sync_request(reply, ()), self._synced)
            return
        try:
            plan, self._planned_for = leader.plan(reply.members, self)
        except AssignorError as error:
            self.fail(str(error))
            return
        request = self._sync_request(reply, plan)
        self.later(self.around.settings.assumed.plan_ms, lambda: self._ask(request, self._synced))

    def _sync_request(self, reply: JoinReply, plan: tuple[tuple[str, bytes], ...]) -> Sync:
        instance = self.member.instance_id
        return Sync(reply.member_id, reply.generation, plan, instance, reply.protocol_type, reply.protocol)

    def _synced(self, reply: SyncReply) -> None:
        """The heartbeat thread may read this one; the application learns of it in poll."""
        if reply.error is KafkaError.NONE and self.phase is Phase.COMPLETING:
            self.phase, self._rejoins = Phase.STABLE, False
            self._arrived = reply.assignment
        else:
            self._in_flight = False
            self._refused(KafkaError.ILLEGAL_GENERATION if reply.error is KafkaError.NONE else reply.error)
        if self.alive:
            self.wake()

    def _complete(self, assignment: bytes) -> None:
        """Kafka: onJoinComplete."""
        self._in_flight = False
        if self.phase is not Phase.STABLE:
            self._reset(forget_id=True)
            return
        self._must_prepare = True
        assigned = decode_assignment(assignment)
        if self.member.pattern is None and any(tp.topic not in self.member.topics for tp in assigned):
            self._rejoins = True  # the subscription has changed since
            return
        self._take_over(assigned)

    def _take_over(self, assigned: tuple[TopicPartition, ...]) -> None:
        had, gets = frozenset(self.owned), frozenset(assigned)
        revoked = [tp for tp in self.owned if tp not in gets]
        if revoked:
            self.call("onPartitionsRevoked", revoked)
            self._rejoins = True
        self._memory = leader.Memory(assigned, self.generation)
        self._gave_up = False
        self.is_zombie = self.around.has_forgotten(self)  # it comes so late that the group is without it
        self.hold(assigned)
        self.call("onPartitionsAssigned", [tp for tp in assigned if tp not in had])
        self.note()

    def _refused(self, error: KafkaError, member_id: str = "") -> None:
        """A join or a sync has failed."""
        if error in FATAL:
            self.fail(error.name)
            return
        self._rejoins = True
        if error is KafkaError.MEMBER_ID_REQUIRED:
            self.member_id = member_id
        elif error in LOST:
            self._reset(forget_id=error in NEW_ID)
        if error in ELSEWHERE:
            self.forget_coordinator()
        if error in LATER:
            self._back_off()

    def _back_off(self) -> None:
        self._backs_off = True

        def over() -> None:
            self._backs_off = False
            self.wake()

        self.later(self.around.settings.client.retry_backoff_ms, over)

    def _reset(self, *, forget_id: bool) -> None:
        """Its generation is lost: what it holds is no longer its own, and its next poll says so (onPartitionsLost)."""
        self._heartbeat.stop()
        self.generation, self.phase = NO_GENERATION, Phase.UNJOINED
        self.member_id = "" if forget_id else self.member_id
        self._rejoins = self._must_prepare = True
        self.expelled()
        self.note()

    # The heartbeat thread

    def _beat(self) -> Heartbeat:
        return Heartbeat(self.member_id, self.generation, self.member.instance_id)

    def _heard(self, error: KafkaError) -> None:
        if error is not KafkaError.REBALANCE_IN_PROGRESS:
            self._expelled(error)
        elif self.phase is Phase.STABLE:
            self._rejoins = True
            self.note()
            self.wake()

    def _expelled(self, error: KafkaError) -> None:
        if error in FATAL:
            self.fail(error.name)
            return
        self._reset(forget_id=error in NEW_ID)
        self.wake()

    def poll_timed_out(self) -> None:
        """The heartbeat thread leaves the group; a static member just stops sending heartbeats (KIP-345)."""
        if not self._heartbeat.runs:
            return
        self._leave()
        self._reset(forget_id=True)
        self.wake()

    # The coordinator

    def _ask(self, request: Join | Sync, answer: Callable[..., None]) -> None:
        """A join or a sync; without a coordinator it fails at once."""
        self._in_flight = self.knows_coordinator
        if self.knows_coordinator:
            self._asked += 1
            self.around.network.ask(self, request, answer)
            if isinstance(request, Sync):  # a JoinGroup may take as long as a rebalance
                self.later(REQUEST_TIMEOUT_MS, self._timed_out, self._asked)
        else:
            self._rejoins = True

    def _timed_out(self, asked: int) -> None:
        if self._in_flight and asked == self._asked:
            self.lost_coordinator()

    def lost_coordinator(self) -> None:
        """What is in flight is lost; the member keeps its generation."""
        self.connection += 1
        if self._in_flight and self._arrived is None:
            self._in_flight = False
            self._rejoins = True
        self.forget_coordinator()

    def found_coordinator(self) -> None:
        """The heartbeat thread goes on, and so does the application."""
        self._heartbeat.go_on()
        self.wake()

    # Going

    def say_goodbye(self) -> None:
        """Listeners first; then a dynamic member leaves the group, a static one keeps its place."""
        if self.owned:
            lost = self.generation == NO_GENERATION or self.phase is Phase.PREPARING
            self.call("onPartitionsLost" if lost else "onPartitionsRevoked", self.owned)
        self._leave()

    def _leave(self) -> None:
        dynamic = self.member.instance_id is None
        if dynamic and self.knows_coordinator and self.phase is not Phase.UNJOINED and self.member_id:
            self.around.network.ask(self, Leave((Leaver(self.member_id),)), _unheard)

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """Join with the new subscription; without any, leave the group (Kafka: unsubscribe)."""
        self.member = replace(self.member, topics=topics, pattern=pattern)
        self.refresh()
        if not self.subscribes:
            self.say_goodbye()
            self.hold(())
            self._reset(forget_id=True)
        self.wake()

    def refresh(self) -> None:
        """The classic protocol leaves it to each member to find what its pattern matches."""
        super().refresh()
        self.member = resolved(self.member, self.topics)

    # What it looks like

    @property
    def is_settled(self) -> bool:
        """Stable, nothing to be said or heard, and no topic's change is waiting to be noticed."""
        if not self.subscribes:
            return True
        quiet = self.phase is Phase.STABLE and self.knows_coordinator and not (self._in_flight or self.is_zombie)
        now = self.around.topics()
        return (
            quiet
            and not self._must_join()
            and not self._differs_from(now)
            and resolved(self.member, now) is self.member
        )

    @property
    def doing(self) -> tuple[MemberState, int]:
        """By its phase and what it has."""
        return self._state(), self.generation

    def _state(self) -> MemberState:
        if self.phase is Phase.STABLE and not self._in_flight and not self._rejoins:
            return MemberState.CONSUMING if self.owned else MemberState.IDLE
        if self.owned:
            return MemberState.REJOINING
        return MemberState.PAUSED if self._gave_up else MemberState.JOINING
