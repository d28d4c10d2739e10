"""A consumer of the KIP-848 protocol (Kafka: ConsumerMembershipManager, ConsumerHeartbeatRequestManager).

A background thread sends heartbeats, and whatever is to be said goes with them; listeners are called in poll. There is
no barrier: the member revokes, says so at once, and goes on with what it keeps.
"""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial

from assignors.layout import java_order
from assignors.model import Member, TopicPartition
from assignors.simulation.clients.consumer_process import Process, Surroundings
from assignors.simulation.clients.error_handling import ELSEWHERE, LATER
from assignors.simulation.consumer import TopicIdPartition, Topics
from assignors.simulation.consumer.messages import JOINING, LEAVING, LEAVING_FOR_A_WHILE, Heartbeat, HeartbeatReply
from assignors.simulation.consumer.settings import RANGE
from assignors.simulation.errors import KafkaError
from assignors.simulation.timeline import MemberState

_FENCED = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH})


Subscription = tuple[tuple[str, ...], str]
"""Topics by name, and a pattern that the broker resolves, "" for none."""


class Phase(StrEnum):
    """Kafka: MemberState of a consumer."""

    JOINING = "joining"
    RECONCILING = "reconciling"
    ACKNOWLEDGING = "acknowledging"
    STABLE = "stable"
    FENCED = "fenced"
    STALE = "stale"


class ConsumerClient(Process):
    """`epoch` is the member's, `target` what it was told to own (None: nothing yet); it chooses its id for itself."""

    def __init__(self, around: Surroundings, member: Member) -> None:
        super().__init__(around, member if member.pattern is None else replace(member, topics=()))
        self.member_id = around.new_id(self.name)
        self.epoch = JOINING
        self.phase = Phase.JOINING
        self.target: frozenset[TopicIdPartition] | None = None
        self._told: Subscription | None = None
        self._in_flight = self._must_tell = self._gave_up = self._pauses = False
        self._tick = self._visit = 0
        self._routine: Heartbeat | None = None
        self.heartbeat_interval_ms = around.settings.kip848.heartbeat_interval_ms

    # What it does

    def start(self) -> None:
        """Look for the coordinator, then join."""
        self.note()
        self.find()

    def adopt(self, epoch: int, first_beat_ms: int) -> None:
        """It is a member already, as the story begins."""
        self.member_id, self.epoch, self.phase = self.name, epoch, Phase.STABLE
        self.knows_coordinator, self._told = True, self._wanted
        self.target = self._ids(self.member.owned)
        self.hold(tuple(self.member.owned))
        self._beat_in(first_beat_ms)
        self.note()

    def found_coordinator(self) -> None:
        """Say what is to be said."""
        self._in_flight = False
        if self.subscribes and self.phase not in (Phase.FENCED, Phase.STALE):
            self._beat_in(0)

    def poll(self) -> None:
        """Listeners are called here: lose what is lost and join again, or follow the assignment."""
        if self.phase in (Phase.FENCED, Phase.STALE):
            self._lose()
        elif self.phase is Phase.RECONCILING:
            self._reconcile()

    def _lose(self) -> None:
        if self.owned:
            self.call("onPartitionsLost", self.owned)
            self._gave_up = True
        self.is_zombie = False
        self.hold(())
        self.epoch, self.phase, self.target, self._told = JOINING, Phase.JOINING, None, None
        self.note()
        self._beat_now()

    def _reconcile(self) -> None:
        target, had = self._named(self.target or ()), frozenset(self.owned)
        wanted = frozenset(target)
        revoked = [tp for tp in self.owned if tp not in wanted]
        self.commit()
        if revoked:
            self.call("onPartitionsRevoked", revoked)
        self.is_zombie = self.around.has_forgotten(self)  # it comes so late that the group is without it
        self.hold(target)
        self.call("onPartitionsAssigned", [tp for tp in target if tp not in had])
        self.phase, self._must_tell = Phase.ACKNOWLEDGING, True
        self._beat_now()

    def _ids(self, partitions: Iterable[TopicPartition]) -> frozenset[TopicIdPartition]:
        topics = Topics(self.around.topics())
        return frozenset(found for tp in partitions if (found := topics.partition(tp)) is not None)

    def _named(self, partitions: Iterable[TopicIdPartition]) -> list[TopicPartition]:
        found = Topics(self.around.topics()).named(partitions)
        return sorted(found, key=lambda tp: (java_order(tp.topic), tp.partition))

    # Heartbeats

    def _beat_now(self) -> None:
        """As soon as nothing is in flight."""
        if not self._in_flight:
            self._beat_in(0)

    def _beat_in(self, delay_ms: int) -> None:
        self._tick += 1
        self.later(delay_ms, self._beat, self._tick)

    def _beat(self, tick: int) -> None:
        ready = self.knows_coordinator and not self._in_flight and self.phase not in (Phase.FENCED, Phase.STALE)
        if tick != self._tick or not ready:
            return
        self._in_flight = True
        self.around.network.ask(self, self._heartbeat(), partial(self._answered, self._visit))
        if self.phase is Phase.ACKNOWLEDGING:
            self.phase = Phase.STABLE
            self._gave_up = False
            self.note()
        self._beat_in(self.heartbeat_interval_ms)

    def _heartbeat(self) -> Heartbeat:
        """What there is to say; most of the time nothing, which need not be put together again."""
        if self.epoch == JOINING or self._must_tell or self._told != self._wanted:
            return self._full_heartbeat()
        if self._routine is None or self._routine.epoch != self.epoch:
            self._routine = Heartbeat(self.member_id, self.epoch, self.member.instance_id, client_id=self._client_id)
        return self._routine

    @property
    def _client_id(self) -> str:
        return self.member.client_id or self.name

    def _full_heartbeat(self) -> Heartbeat:
        joins = self.epoch == JOINING
        says_all = joins or self._told is None
        tells, self._must_tell = self._must_tell and not joins, False
        says = says_all or self._told != self._wanted
        self._told = topics, regex = self._wanted
        server = self.around.assignor.name
        return Heartbeat(
            self.member_id,
            self.epoch,
            self.member.instance_id,
            self._limit_ms if says_all else None,
            topics if says else None,
            regex if says else None,
            assignor=(RANGE if server == "server-range" else server) if says_all else None,
            owned=frozenset() if joins else self._ids(self.owned) if tells else None,
            client_id=self._client_id,
        )

    def _answered(self, visit: int, reply: HeartbeatReply) -> None:
        self._in_flight = False
        if visit != self._visit:  # it has left since, and perhaps comes back
            self.found_coordinator()
        elif reply.error is not KafkaError.NONE:
            self._refused(reply.error)
        elif self.phase not in (Phase.FENCED, Phase.STALE):
            self._accepted(reply)

    def _accepted(self, reply: HeartbeatReply) -> None:
        self.recognised()
        has_moved, self.epoch, self.heartbeat_interval_ms = reply.epoch != self.epoch, reply.epoch, reply.interval_ms
        if reply.assignment is not None and reply.assignment != self.target:
            self.target, self.phase = reply.assignment, Phase.RECONCILING
            self.note()
            self.wake()
        elif self.phase is Phase.ACKNOWLEDGING:
            self._beat_now()
        elif has_moved:
            self.note()

    def _refused(self, error: KafkaError) -> None:
        """The next heartbeat says everything again (Kafka: resetHeartbeatState), and so gets the assignment again."""
        self._must_tell, self._told = True, None
        if error in _FENCED:
            self._leave_phase(Phase.FENCED)
        elif error in ELSEWHERE:
            self.forget_coordinator()
        elif error in LATER:
            self._beat_in(self.around.settings.client.retry_backoff_ms)
        else:
            self.fail(error.name)

    def _leave_phase(self, phase: Phase) -> None:
        """It is no longer a member; it learns what that means when it polls."""
        self.phase, self.epoch = phase, JOINING
        self._tick += 1
        self.expelled()
        self.note()
        self.wake()

    def poll_timed_out(self) -> None:
        """The background thread leaves the group; a static member leaves for a while."""
        if self.phase not in (Phase.FENCED, Phase.STALE):
            self._say_leave()
            self._leave_phase(Phase.STALE)

    def lost_coordinator(self) -> None:
        """What is in flight is lost, and said again."""
        self.connection += 1
        if self._in_flight:
            self._must_tell, self._told = True, None
        self._in_flight = False
        self.forget_coordinator()

    # Going

    def say_goodbye(self) -> None:
        """Listeners first; then the group is told."""
        if self.owned:
            self.call("onPartitionsLost" if self.is_zombie else "onPartitionsRevoked", self.owned)
        self._say_leave()

    def _say_leave(self) -> None:
        if self.knows_coordinator and (self.epoch != JOINING or self._told is not None):
            epoch = LEAVING if self.member.instance_id is None else LEAVING_FOR_A_WHILE
            goodbye = Heartbeat(self.member_id, epoch, self.member.instance_id)
            self.around.network.ask(self, goodbye, lambda reply: None)

    @property
    def _wanted(self) -> Subscription:
        return self.member.topics, self.member.pattern or ""

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """The next heartbeat tells it; without any, leave the group (Kafka: unsubscribe)."""
        had, self.member = self.subscribes, replace(self.member, topics=topics, pattern=pattern)
        if not self.subscribes:
            self.say_goodbye()
            self.hold(())
            self.epoch, self.phase, self.target, self._told = JOINING, Phase.JOINING, None, None
            self._tick += 1
            self._visit += 1
            self.note()
        elif not had:
            self._beat_now()

    # What it looks like

    @property
    def is_settled(self) -> bool:
        """Stable, and all is said."""
        if not self.subscribes:
            return True
        told = self._told == self._wanted and not self._must_tell
        return self.phase is Phase.STABLE and told and self.knows_coordinator and not self.is_zombie

    @property
    def doing(self) -> tuple[MemberState, int]:
        """By its phase and what it has."""
        return self._state(), self.epoch if self.epoch != JOINING else -1

    def _state(self) -> MemberState:
        if self.phase is Phase.STABLE:
            return MemberState.CONSUMING if self.owned else MemberState.IDLE
        if self.owned:
            return MemberState.REJOINING
        return MemberState.PAUSED if self._gave_up else MemberState.JOINING
