"""A consumer of the KIP-848 protocol (Kafka: ConsumerMembershipManager, ConsumerHeartbeatRequestManager).

A background thread sends heartbeats with all changes; listeners are called in poll. There is no synchronization
barrier: the member revokes, acknowledges at once, and continues with the partitions that it keeps.
"""

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from functools import partial

from assignors.layout import java_order
from assignors.model import Member, TopicPartition
from assignors.simulation.clients.consumer_process import Environment, Process
from assignors.simulation.clients.error_handling import ELSEWHERE, LATER
from assignors.simulation.consumer import TopicIdPartition, Topics
from assignors.simulation.consumer.messages import JOINING, LEAVING, LEAVING_FOR_A_WHILE, Heartbeat, HeartbeatReply
from assignors.simulation.consumer.settings import RANGE
from assignors.simulation.errors import KafkaError
from assignors.simulation.timeline.tables import MemberState

_FENCED = frozenset({KafkaError.UNKNOWN_MEMBER_ID, KafkaError.FENCED_MEMBER_EPOCH})


Subscription = tuple[tuple[str, ...], str]
"""Topics by name, and a pattern that the broker resolves ("" = none)."""


class Phase(StrEnum):
    """Kafka: MemberState of a consumer."""

    JOINING = "joining"
    RECONCILING = "reconciling"
    ACKNOWLEDGING = "acknowledging"
    STABLE = "stable"
    FENCED = "fenced"
    STALE = "stale"


class ConsumerClient(Process):
    """`epoch` is the member epoch, `target` the received assignment (None: none yet). It generates its member id."""

    def __init__(self, env: Environment, member: Member) -> None:
        super().__init__(env, member if member.pattern is None else replace(member, topics=()))
        self.member_id = env.new_id(self.name)
        self.epoch = JOINING
        self.phase = Phase.JOINING
        self.target: frozenset[TopicIdPartition] | None = None
        self._sent_subscription: Subscription | None = None
        self._in_flight = self._is_overdue = self._must_send_owned = False
        self._tick = self._visit = 0
        self._empty_heartbeat: Heartbeat | None = None
        self.heartbeat_interval_ms = env.settings.kip848.heartbeat_interval_ms

    # Start and poll

    def start_stable(self, epoch: int, first_heartbeat_ms: int) -> None:
        """It is a member of a Stable group from the start."""
        self.member_id, self.epoch, self.phase = self.name, epoch, Phase.STABLE
        self.knows_coordinator, self._sent_subscription = True, self._wanted
        self.target = self._ids(self.member.owned)
        self.set_owned(tuple(self.member.owned))
        self._schedule_heartbeat(first_heartbeat_ms)
        self.record_state()

    def found_coordinator(self) -> None:
        """Send a heartbeat."""
        self._in_flight = False
        if self.subscribes and not self._is_removed:
            self._schedule_heartbeat(0)

    def poll(self) -> None:
        """Call listeners: onPartitionsLost before it rejoins, or those of a reconciliation."""
        if self._is_removed:
            self._on_partitions_lost()
        elif self.phase is Phase.RECONCILING:
            self._reconcile()

    def _on_partitions_lost(self) -> None:
        if self.owned:
            self.call("onPartitionsLost", self.owned)
            self.has_revoked = True
        self.is_zombie = False
        self._forget_membership()
        self.record_state()
        self._heartbeat_now()

    def _forget_membership(self) -> None:
        self.set_owned(())
        self.epoch, self.phase, self.target, self._sent_subscription = JOINING, Phase.JOINING, None, None

    def _reconcile(self) -> None:
        self.commit()
        self.adopt(self._named(self.target or ()))
        self.phase, self._must_send_owned = Phase.ACKNOWLEDGING, True
        self.record_state()
        self._heartbeat_now()

    def _ids(self, partitions: Iterable[TopicPartition]) -> frozenset[TopicIdPartition]:
        topics = Topics(self.env.topics())
        return frozenset(found for tp in partitions if (found := topics.partition(tp)) is not None)

    def _named(self, partitions: Iterable[TopicIdPartition]) -> list[TopicPartition]:
        found = Topics(self.env.topics()).named(partitions)
        return sorted(found, key=lambda tp: (java_order(tp.topic), tp.partition))

    # Heartbeats

    def _heartbeat_now(self) -> None:
        """Send a heartbeat unless one is in flight."""
        if not self._in_flight:
            self._schedule_heartbeat(0)

    def _schedule_heartbeat(self, delay_ms: int) -> None:
        self._tick += 1
        self.later(delay_ms, self._beat, self._tick)

    def _beat(self, tick: int) -> None:
        if tick != self._tick or not self.knows_coordinator or self._is_removed:
            return
        if self._in_flight:  # the next one goes out with the reply
            self._is_overdue = True
            return
        self._in_flight, self._is_overdue = True, False
        interval_ms = self.heartbeat_interval_ms
        is_regular = self.epoch != JOINING and self.phase is not Phase.ACKNOWLEDGING
        next_ms = interval_ms if is_regular else self.env.first_heartbeat_ms(interval_ms)
        self.env.network.send(self, self._heartbeat(), partial(self._answered, self._visit))
        if self.phase is Phase.ACKNOWLEDGING:
            self.phase = Phase.STABLE
            self.has_revoked = False
            self.record_state()
        self._schedule_heartbeat(next_ms)

    def _heartbeat(self) -> Heartbeat:
        """A heartbeat with all changes; the empty one is cached."""
        if self.epoch == JOINING or self._must_send_owned or self._sent_subscription != self._wanted:
            return self._full_heartbeat()
        if self._empty_heartbeat is None or self._empty_heartbeat.epoch != self.epoch:
            self._empty_heartbeat = Heartbeat(
                self.member_id, self.epoch, self.member.instance_id, client_id=self._client_id
            )
        return self._empty_heartbeat

    @property
    def server_assignor(self) -> str:
        """`group.remote.assignor`, by the name that Kafka has for it."""
        name = self.env.assignor.name
        return RANGE if name == "server-range" else name

    @property
    def _client_id(self) -> str:
        return self.member.client_id or self.name

    def _full_heartbeat(self) -> Heartbeat:
        joins = self.epoch == JOINING
        is_full = joins or self._sent_subscription is None
        sends_owned, self._must_send_owned = self._must_send_owned and not joins, False
        is_changed = is_full or self._sent_subscription != self._wanted
        self._sent_subscription = topics, regex = self._wanted
        return Heartbeat(
            self.member_id,
            self.epoch,
            self.member.instance_id,
            self._max_poll_interval_ms if is_full else None,
            topics if is_changed else None,
            regex if is_changed else None,
            assignor=self.server_assignor if is_full else None,
            owned=frozenset() if joins else self._ids(self.owned) if sends_owned else None,
            client_id=self._client_id,
        )

    def _answered(self, visit: int, reply: HeartbeatReply) -> None:
        self._in_flight = False
        if visit != self._visit:  # it has left since
            self.found_coordinator()
        elif reply.error is not KafkaError.NONE:
            self._refused(reply.error)
        elif not self._is_removed:
            self._accepted(reply)

    def _accepted(self, reply: HeartbeatReply) -> None:
        self.clear_zombie()
        has_moved, self.epoch, self.heartbeat_interval_ms = reply.epoch != self.epoch, reply.epoch, reply.interval_ms
        if reply.assignment is not None and reply.assignment != self.target:
            self.target, self.phase = reply.assignment, Phase.RECONCILING
            self.record_state()
            self.wake()
        elif has_moved and self.phase is not Phase.ACKNOWLEDGING:
            self.record_state()
        if self._is_overdue or self.phase is Phase.ACKNOWLEDGING:
            self._heartbeat_now()

    def _refused(self, error: KafkaError) -> None:
        """The next heartbeat is a full one (Kafka: resetHeartbeatState), which returns the assignment again."""
        self._must_send_owned, self._sent_subscription = True, None
        if error in _FENCED:
            self._leave_phase(Phase.FENCED)
        elif error in ELSEWHERE:
            self.mark_coordinator_unknown()
        elif error in LATER:
            self._schedule_heartbeat(self.env.settings.client.retry_backoff_ms)
        else:
            self.fail(error.name)

    @property
    def _is_removed(self) -> bool:
        """Whether it is no longer a member, and its next poll handles that."""
        return self.phase in (Phase.FENCED, Phase.STALE)

    def _leave_phase(self, phase: Phase) -> None:
        """It is no longer a member."""
        self.phase, self.epoch = phase, JOINING
        self._tick += 1
        self.mark_zombie()
        self.record_state()
        self.wake()

    def poll_timed_out(self) -> None:
        """The background thread leaves the group; a static member leaves temporarily (epoch -2)."""
        if not self._is_removed:
            self._send_leave()
            self._leave_phase(Phase.STALE)

    def lost_coordinator(self) -> None:
        """The heartbeat in flight is lost, and the next one is a full one."""
        self.connection += 1
        if self._in_flight:
            self._must_send_owned, self._sent_subscription = True, None
        self._in_flight = False
        self.mark_coordinator_unknown()

    # Leaving

    def leave_on_close(self) -> None:
        """Call the listener, then leave the group."""
        if self.owned:
            self.call("onPartitionsLost" if self.is_zombie else "onPartitionsRevoked", self.owned)
        self._send_leave()

    def _send_leave(self) -> None:
        if self.knows_coordinator and (self.epoch != JOINING or self._sent_subscription is not None):
            epoch = LEAVING if self.member.instance_id is None else LEAVING_FOR_A_WHILE
            leave = Heartbeat(self.member_id, epoch, self.member.instance_id)
            self.env.network.send(self, leave, lambda reply: None)

    @property
    def _wanted(self) -> Subscription:
        return self.member.topics, self.member.pattern or ""

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """Send it with the next heartbeat; with an empty subscription, leave the group (Kafka: unsubscribe)."""
        had, self.member = self.subscribes, replace(self.member, topics=topics, pattern=pattern)
        if not self.subscribes:
            self.leave_on_close()
            self._forget_membership()
            self._tick += 1
            self._visit += 1
            self.record_state()
        elif not had:
            self._heartbeat_now()

    # State

    @property
    def is_settled(self) -> bool:
        """Stable, and all changes are sent."""
        if not self.subscribes:
            return True
        is_sent = self._sent_subscription == self._wanted and not self._must_send_owned
        return self.phase is Phase.STABLE and is_sent and self.knows_coordinator and not self.is_zombie

    @property
    def state(self) -> tuple[MemberState, int]:
        return self.progress(is_stable=self.phase is Phase.STABLE), self.epoch if self.epoch != JOINING else -1
