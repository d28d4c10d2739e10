"""A consumer's process: its poll loop, its partitions, and what can happen to it from outside.

The application polls, processes the records for `processing_ms`, and polls again. At 0 it waits in poll. Kafka's
consumer handles replies and calls listeners only inside poll; its heartbeat thread runs beside that.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from assignors.model import Assignor, Member, Topic, TopicPartition
from assignors.simulation.kernel import Action, Kernel
from assignors.simulation.network import Network
from assignors.simulation.settings import Settings
from assignors.simulation.timeline.recorder import TimelineRecorder
from assignors.simulation.timeline.tables import Commit, Failure, Hold, MemberState, PollLoop


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment of a process. `topics` returns the present topics of the cluster.

    `commit_error` returns Kafka's name of the error of a commit of that process now, None if it succeeds. `has_removed`
    returns whether the process is no longer a member of the group. `first_heartbeat_ms` returns the time
    from a join or an acknowledgement to the next heartbeat, for that heartbeat interval.
    """

    kernel: Kernel
    network: Network
    recorder: TimelineRecorder
    settings: Settings
    topics: Callable[[], Mapping[str, Topic]]
    assignor: Assignor
    new_id: Callable[[str], str]
    first_heartbeat_ms: Callable[[int], int]
    commit_error: Callable[["Process"], str | None]
    has_removed: Callable[["Process"], bool]


class Process(ABC):
    """A process from its start to its end; a restart is a new one. Subclasses implement a protocol."""

    def __init__(self, env: Environment, member: Member) -> None:
        self.env = env
        self.member = member
        self.name = member.member_id
        self.alive = True
        self.connection = 0
        self.member_id = ""
        self.owned: tuple[TopicPartition, ...] = ()
        self.topics = env.topics()
        self.processing_ms = env.settings.assumed.processing_ms
        self.is_frozen = False
        self.is_stalled = False
        self.is_zombie = False
        self.has_revoked = False
        self.knows_coordinator = self._is_searching = False
        self._deferred: list[Action] = []
        self._is_poll_scheduled = False
        self._started_ms = self._batch_ms = env.kernel.now_ms
        self._batch = 0

    # Defined by the protocol

    @abstractmethod
    def poll(self) -> None:
        """The application is in poll: do what is due."""

    @abstractmethod
    def poll_timed_out(self) -> None:
        """The application has not polled for max.poll.interval.ms."""

    @abstractmethod
    def lost_coordinator(self) -> None:
        """The connection to the coordinator broke."""

    @abstractmethod
    def found_coordinator(self) -> None:
        """The coordinator is known again."""

    @abstractmethod
    def leave_on_close(self) -> None:
        """The consumer closes: call listeners and leave the group."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it is a member and nothing is in progress."""

    @property
    @abstractmethod
    def state(self) -> tuple[MemberState, int]:
        """Its state in the group, and its generation."""

    # Time

    @property
    def now_ms(self) -> int:
        return self.env.kernel.now_ms

    def run(self, action: Callable[..., None], *what: Any) -> None:
        """Run the action unless the process is dead; if it is frozen, once it resumes."""
        if self.is_frozen:
            self._deferred.append(partial(action, *what))
        elif self.alive:
            action(*what)

    def later(self, delay_ms: int, action: Callable[..., None], *what: Any) -> None:
        """Run the action after a delay."""
        self.env.kernel.after(delay_ms, partial(self.run, action, *what))

    # The subscription

    @property
    def subscribes(self) -> bool:
        """Whether it has topics or a pattern: without them it does not join."""
        return bool(self.member.topics) or self.member.pattern is not None

    # The coordinator

    def start(self) -> None:
        """Look for the coordinator, then join."""
        self.record_state()
        self.find_coordinator()

    def find_coordinator(self, attempt: int = 0) -> None:
        """Look for the coordinator until it is found, with exponential backoff."""
        if attempt or not self._is_searching:
            self._is_searching = True
            self.env.network.find_coordinator(self, partial(self._found, attempt))

    def _found(self, attempt: int, found: bool) -> None:
        client = self.env.settings.client
        if found:
            self._is_searching, self.knows_coordinator = False, True
            self.found_coordinator()
        else:
            pause_ms = min(client.retry_backoff_ms << min(attempt, 10), client.retry_backoff_max_ms)
            self.later(pause_ms, partial(self.find_coordinator, attempt + 1))

    def mark_coordinator_unknown(self) -> None:
        """It does not answer or has moved: look for it."""
        self.knows_coordinator = False
        self.find_coordinator()

    # The poll loop

    def wake(self) -> None:
        """There is something to do: run `poll` at the next poll."""
        wait_ms = self._until_poll_ms()
        if wait_ms == 0:
            self.poll()
        elif wait_ms is not None and not self._is_poll_scheduled:
            self._is_poll_scheduled = True
            self.later(wait_ms, self._poll_now)

    def _poll_now(self) -> None:
        self._is_poll_scheduled = False
        self.wake()

    def _until_poll_ms(self) -> int | None:
        """Time until the next poll; None while it is stalled."""
        if self.is_stalled:
            return None
        return -(self.now_ms - self._batch_ms) % self.processing_ms if self._is_busy else 0

    @property
    def _is_busy(self) -> bool:
        return bool(self.owned) and self.processing_ms > 0

    def record_poll_loop(self, commit_due_ms: int | None = None) -> None:
        """Record that its poll loop starts or changes."""
        self.env.recorder.loops.append(PollLoop(self.name, self.now_ms, self.processing_ms, commit_due_ms))

    def _record_stop(self) -> None:
        self.env.recorder.loops.append(PollLoop(self.name, self.now_ms, None, None))

    def _begin_batch(self) -> None:
        self.record_poll_loop()
        self._batch_ms = self.now_ms
        self._batch += 1
        if self.is_too_slow:
            self._start_poll_timer(self._max_poll_interval_ms)
            self.later(self.processing_ms, partial(self._end_batch, self._batch))

    def _end_batch(self, batch: int) -> None:
        if self._batch == batch and self._is_busy and not self.is_stalled:
            self._begin_batch()

    @property
    def is_too_slow(self) -> bool:
        """Whether its batches take longer than max.poll.interval.ms."""
        return self._is_busy and self.processing_ms > self._max_poll_interval_ms

    @property
    def _max_poll_interval_ms(self) -> int:
        return self.env.settings.client.max_poll_interval_ms

    def _start_poll_timer(self, remaining_ms: int) -> None:
        """Start the poll timer (max.poll.interval.ms) of the current batch."""
        batch = self._batch

        def expire() -> None:
            if self._batch == batch and (self.is_stalled or self._is_busy):
                self.poll_timed_out()

        self.later(remaining_ms, expire)

    # Partitions

    def set_owned(self, partitions: Sequence[TopicPartition]) -> None:
        """From now on it owns these partitions."""
        was_idle = not self.owned
        self.owned = tuple(partitions)
        self.record_ownership()
        if was_idle and self._is_busy:
            self._begin_batch()

    def adopt(self, target: Sequence[TopicPartition]) -> bool:
        """Own exactly these partitions: revoke the others, then call the listener; whether it revoked any."""
        had, wanted = frozenset(self.owned), frozenset(target)
        revoked = [tp for tp in self.owned if tp not in wanted]
        if revoked:
            self.call("onPartitionsRevoked", revoked)
        self.is_zombie = self.env.has_removed(self)  # too late: the group has removed it
        self.set_owned(target)
        self.call("onPartitionsAssigned", [tp for tp in target if tp not in had])
        return bool(revoked)

    def record_ownership(self) -> None:
        """Record its partitions and how it has them."""
        kind = Hold.OWNED
        if self.is_frozen:
            kind = Hold.FROZEN
        elif self.is_zombie:
            kind = Hold.ZOMBIE
        elif self.is_stalled:
            kind = Hold.STALLED
        self.env.recorder.hold(self.name, self.owned, kind)

    def commit(self) -> None:
        """Commit its positions (Kafka: enable.auto.commit), if it has partitions."""
        if self.owned:
            error = self.env.commit_error(self)
            self.env.recorder.commits.append(Commit(self.now_ms, self.name, self.owned, error))

    def call(self, listener: str, partitions: Sequence[TopicPartition]) -> None:
        """Call a method of the application's ConsumerRebalanceListener."""
        self.env.recorder.callback(self.name, listener, partitions)

    def mark_zombie(self) -> None:
        """It is out of the group but continues to consume its former partitions."""
        if self.alive and self.owned and not self.is_zombie:
            self.is_zombie = True
            self.record_ownership()
            self.record_state()

    def clear_zombie(self) -> None:
        """Its heartbeat was accepted: it is not a zombie if it is a member of the group.

        It may not be: the reply may be old, or from a coordinator that is still loading and accepts all heartbeats.
        """
        if self.is_zombie and not self.env.has_removed(self):
            self.is_zombie = False
            self.record_ownership()
            self.record_state()

    def progress(self, *, is_stable: bool) -> MemberState:
        """Its state in the group while nothing disturbs it."""
        if is_stable:
            return MemberState.CONSUMING if self.owned else MemberState.IDLE
        if self.owned:
            return MemberState.REJOINING
        return MemberState.PAUSED if self.has_revoked else MemberState.JOINING

    def record_state(self) -> None:
        if not self.alive:
            return
        state, generation = self.state
        if self.is_frozen:
            state = MemberState.FROZEN
        elif self.is_zombie:
            state = MemberState.ZOMBIE
        elif self.is_stalled:
            state = MemberState.STALLED
        elif self.is_split:
            state = MemberState.SPLIT
        self.env.recorder.state(self.name, state, generation)

    # Events

    def stall(self) -> None:
        """It stops polling; its heartbeats go on."""
        idle_ms = (self.now_ms - self._batch_ms) % self.processing_ms if self._is_busy else 0
        self.is_stalled = True
        self._record_stop()
        self._batch += 1
        self._start_poll_timer(self._max_poll_interval_ms - idle_ms)
        self.record_ownership()
        self.record_state()

    def freeze(self) -> None:
        """The whole process stops (SIGSTOP, GC pause)."""
        self.is_frozen = True
        self._record_stop()
        self.record_ownership()
        self.record_state()

    def resume(self) -> None:
        """It continues with what it missed, or with the next poll."""
        self.is_stalled = self.is_frozen = False
        self.record_ownership()
        self.record_state()
        deferred, self._deferred = self._deferred, []
        for action in deferred:
            self.run(action)
        if self.alive:
            self._begin_batch()
            self.wake()

    def set_processing_ms(self, processing_ms: int) -> None:
        """It polls now, and from now on takes `processing_ms` from one poll to the next."""
        self.processing_ms = processing_ms
        if not self.is_stalled:
            self._begin_batch()
            self.wake()

    @property
    def is_split(self) -> bool:
        """Whether its messages to the coordinator are lost."""
        return self.name in self.env.network.split

    def crash(self) -> None:
        """It dies without closing its consumer."""
        self._end(MemberState.DOWN)

    def close(self) -> None:
        """It closes its consumer."""
        self.commit()
        self.leave_on_close()
        self._end(MemberState.DOWN)

    def fail(self, error: str) -> None:
        """Its consumer throws that error in poll, and the process ends."""
        self.env.recorder.failures.append(Failure(self.now_ms, self.name, error))
        self._end(MemberState.FAILED)

    def _end(self, state: MemberState) -> None:
        self.alive = self.is_frozen = False
        self._deferred.clear()
        self.owned = ()
        self.record_ownership()
        self.env.recorder.state(self.name, state, -1)

    @abstractmethod
    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """Change the subscription to these topics or that pattern, and refresh the metadata."""

    # Topics

    def topics_changed(self, name: str) -> None:
        """A topic was created, changed or deleted: the process sees it with its next metadata."""
        self.later(self._until_noticed_ms(name), self._notice)

    def _until_noticed_ms(self, name: str) -> int:
        """A consumer keeps asking for a missing topic, and asks at once when a fetch fails."""
        client, now = self.env.settings.client, self.env.topics()
        if name not in now and any(partition.topic == name for partition in self.owned):
            return client.retry_backoff_ms
        missing = name in self.member.topics and name not in self.topics
        period_ms = client.retry_backoff_max_ms if missing else client.metadata_max_age_ms
        return -(self.now_ms - self._started_ms) % period_ms if period_ms else 0

    def _notice(self) -> None:
        self.refresh()
        self.wake()

    def refresh(self) -> None:
        self.topics = self.env.topics()
