"""A consumer's process: its poll loop, what can happen to it from outside, and what it holds.

The application polls, processes what it got for `processing_ms`, and polls again. At 0 it waits in poll.
Kafka's consumer sees replies and calls listeners inside poll alone; only its heartbeat thread works beside that.
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
from assignors.simulation.timeline import Commit, Failure, Hold, Loop, MemberState
from assignors.simulation.timeline_recorder import Recorder


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a process finds around it. `topics` are those of the cluster, at any time.

    `refusal`: Kafka's name of the error that a commit of that process gets now, None when it is accepted.
    `has_forgotten`: whether the group goes on without that process.
    """

    kernel: Kernel
    network: Network
    recorder: Recorder
    settings: Settings
    topics: Callable[[], Mapping[str, Topic]]
    assignor: Assignor
    new_id: Callable[[str], str]
    refusal: Callable[["Process"], str | None]
    has_forgotten: Callable[["Process"], bool]


class Process(ABC):
    """From its start to its end; a restart is another one. Subclasses speak a protocol."""

    def __init__(self, around: Surroundings, member: Member) -> None:
        self.around = around
        self.member = member
        self.name = member.member_id
        self.alive = True
        self.connection = 0
        self.member_id = ""
        self.owned: tuple[TopicPartition, ...] = ()
        self.topics = around.topics()
        self.processing_ms = around.settings.assumed.processing_ms
        self.is_frozen = False
        self.is_stalled = False
        self.is_zombie = False
        self.knows_coordinator = self._searches = False
        self._backlog: list[Action] = []
        self._polls = False
        self._born_ms = self._batch_ms = around.kernel.now_ms
        self._batch = 0

    # What a protocol does

    @abstractmethod
    def start(self) -> None:
        """Begin to live."""

    @abstractmethod
    def poll(self) -> None:
        """The application is in poll: do what is due."""

    @abstractmethod
    def poll_timed_out(self) -> None:
        """The application has not polled for max.poll.interval.ms."""

    @abstractmethod
    def lost_coordinator(self) -> None:
        """The connection to the coordinator is gone."""

    @abstractmethod
    def found_coordinator(self) -> None:
        """The coordinator is known again."""

    @abstractmethod
    def say_goodbye(self) -> None:
        """The consumer closes: call listeners, leave the group as the protocol has it."""

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether it has its place and nothing is under way."""

    @property
    @abstractmethod
    def doing(self) -> tuple[MemberState, int]:
        """What it is doing in the group, and its generation."""

    # Time

    @property
    def now_ms(self) -> int:
        """The time."""
        return self.around.kernel.now_ms

    def run(self, action: Callable[..., None], *what: Any) -> None:
        """Do that, unless the process is dead; once it goes on, where it stands still."""
        if self.is_frozen:
            self._backlog.append(partial(action, *what))
        elif self.alive:
            action(*what)

    def later(self, delay_ms: int, action: Callable[..., None], *what: Any) -> None:
        """Do that in a while."""
        self.around.kernel.after(delay_ms, partial(self.run, action, *what))

    # The subscription

    @property
    def subscribes(self) -> bool:
        """Whether it reads anything: nobody joins without topics or a pattern."""
        return bool(self.member.topics) or self.member.pattern is not None

    # The coordinator

    def find(self, attempt: int = 0) -> None:
        """Ask who the coordinator is, again and again, longer and longer apart."""
        if attempt or not self._searches:
            self._searches = True
            self.around.network.find_coordinator(self, partial(self._found, attempt))

    def _found(self, attempt: int, found: bool) -> None:
        client = self.around.settings.client
        if found:
            self._searches, self.knows_coordinator = False, True
            self.found_coordinator()
        else:
            pause_ms = min(client.retry_backoff_ms << min(attempt, 10), client.retry_backoff_max_ms)
            self.later(pause_ms, partial(self.find, attempt + 1))

    def forget_coordinator(self) -> None:
        """It does not answer, or is no longer the one: look for it."""
        self.knows_coordinator = False
        self.find()

    # The poll loop

    def wake(self) -> None:
        """Something is there for the application: `poll` runs when it polls next."""
        wait_ms = self._until_poll_ms()
        if wait_ms == 0:
            self.poll()
        elif wait_ms is not None and not self._polls:
            self._polls = True
            self.later(wait_ms, self._poll_now)

    def _poll_now(self) -> None:
        self._polls = False
        self.wake()

    def _until_poll_ms(self) -> int | None:
        """Until the next poll; None while nobody knows."""
        if self.is_stalled:
            return None
        return -(self.now_ms - self._batch_ms) % self.processing_ms if self._is_busy else 0

    @property
    def _is_busy(self) -> bool:
        return bool(self.owned) and self.processing_ms > 0

    def begin(self, commit_due_ms: int | None = None) -> None:
        """Its poll loop starts, or goes on in another way."""
        self.around.recorder.loops.append(Loop(self.name, self.now_ms, self.processing_ms, commit_due_ms))

    def _stand_still(self) -> None:
        self.around.recorder.loops.append(Loop(self.name, self.now_ms, None, None))

    def _begin_batch(self) -> None:
        self.begin()
        self._batch_ms = self.now_ms
        self._batch += 1
        if self.is_too_slow:
            self._watch(self._limit_ms)
            self.later(self.processing_ms, partial(self._end_batch, self._batch))

    def _end_batch(self, batch: int) -> None:
        if self._batch == batch and self._is_busy and not self.is_stalled:
            self._begin_batch()

    @property
    def is_too_slow(self) -> bool:
        """Whether its batches take longer than max.poll.interval.ms."""
        return self._is_busy and self.processing_ms > self._limit_ms

    @property
    def _limit_ms(self) -> int:
        return self.around.settings.client.max_poll_interval_ms

    def _watch(self, remaining_ms: int) -> None:
        """The poll timer of the batch under way."""
        batch = self._batch

        def expire() -> None:
            if self._batch == batch and (self.is_stalled or self._is_busy):
                self.poll_timed_out()

        self.later(remaining_ms, expire)

    # What it holds

    def hold(self, partitions: Sequence[TopicPartition]) -> None:
        """These partitions are its own from now on."""
        was_idle = not self.owned
        self.owned = tuple(partitions)
        self.note_hold()
        if was_idle and self._is_busy:
            self._begin_batch()

    def note_hold(self) -> None:
        """Write down how it holds what it holds."""
        kind = Hold.FROZEN if self.is_frozen else Hold.ZOMBIE if self.is_zombie else Hold.OWNED
        self.around.recorder.hold(self.name, self.owned, kind)

    def commit(self) -> None:
        """Commit what it has read (Kafka: enable.auto.commit), if it has anything."""
        if self.owned:
            error = self.around.refusal(self)
            self.around.recorder.commits.append(Commit(self.now_ms, self.name, self.owned, error))

    def call(self, listener: str, partitions: Sequence[TopicPartition]) -> None:
        """Call a method of the application's ConsumerRebalanceListener."""
        self.around.recorder.callback(self.name, listener, partitions)

    def expelled(self) -> None:
        """The coordinator has forgotten it, or it has said goodbye, while it goes on: what it holds is not its own."""
        if self.alive and self.owned and not self.is_zombie:
            self.is_zombie = True
            self.note_hold()
            self.note()

    def recognised(self) -> None:
        """Its heartbeat was accepted: perhaps another coordinator has taken over, which does not know it as expelled.

        Or it was accepted long ago, or by one that loads and accepts them all.
        """
        if self.is_zombie and not self.around.has_forgotten(self):
            self.is_zombie = False
            self.note_hold()
            self.note()

    def note(self) -> None:
        """Write down what it does."""
        if not self.alive:
            return
        state, generation = self.doing
        if self.is_frozen:
            state = MemberState.FROZEN
        elif self.is_zombie:
            state = MemberState.ZOMBIE
        elif self.is_stalled:
            state = MemberState.STALLED
        elif self.is_split:
            state = MemberState.SPLIT
        self.around.recorder.state(self.name, state, generation)

    # What happens to it

    def stall(self) -> None:
        """It stops polling; its heartbeats go on."""
        idle_ms = (self.now_ms - self._batch_ms) % self.processing_ms if self._is_busy else 0
        self.is_stalled = True
        self._stand_still()
        self._batch += 1
        self._watch(self._limit_ms - idle_ms)
        self.note()

    def freeze(self) -> None:
        """The whole process stands still (SIGSTOP, a pause of the garbage collector)."""
        self.is_frozen = True
        self._stand_still()
        self.note_hold()
        self.note()

    def resume(self) -> None:
        """It goes on: with what it missed meanwhile, or with the next poll."""
        self.is_stalled = self.is_frozen = False
        self.note_hold()
        self.note()
        backlog, self._backlog = self._backlog, []
        for action in backlog:
            self.run(action)
        if self.alive:
            self._begin_batch()
            self.wake()

    def work_for(self, processing_ms: int) -> None:
        """It polls now, and from now on takes that long from one poll to the next."""
        self.processing_ms = processing_ms
        if not self.is_stalled:
            self._begin_batch()
            self.wake()

    @property
    def is_split(self) -> bool:
        """Whether its messages to the coordinator are lost."""
        return self.name in self.around.network.split

    def crash(self) -> None:
        """It dies without a word."""
        self._end(MemberState.DOWN)

    def close(self) -> None:
        """It closes as Kafka's consumer does."""
        self.commit()
        self.say_goodbye()
        self._end(MemberState.DOWN)

    def fail(self, error: str) -> None:
        """Its consumer throws that error out of poll, and the process ends."""
        self.around.recorder.failures.append(Failure(self.now_ms, self.name, error))
        self._end(MemberState.FAILED)

    def _end(self, state: MemberState) -> None:
        self.alive = self.is_frozen = False
        self._backlog.clear()
        self.owned = ()
        self.note_hold()
        self.around.recorder.state(self.name, state, -1)

    @abstractmethod
    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """Its subscription becomes these topics, or that pattern; it learns all about topics at once."""

    # Topics

    def topics_changed(self, name: str) -> None:
        """A topic grew, came or went: it will notice sooner or later, if that topic matters to it."""
        self.later(self._until_noticed_ms(name), self._notice)

    def _until_noticed_ms(self, name: str) -> int:
        """Kafka's consumer asks again and again for a topic that is missing, and at once when a fetch fails."""
        client, now = self.around.settings.client, self.around.topics()
        if name not in now and any(partition.topic == name for partition in self.owned):
            return client.retry_backoff_ms
        missing = name in self.member.topics and name not in self.topics
        period_ms = client.retry_backoff_max_ms if missing else client.metadata_max_age_ms
        return -(self.now_ms - self._born_ms) % period_ms if period_ms else 0

    def _notice(self) -> None:
        self.refresh()
        self.wake()

    def refresh(self) -> None:
        """Learn which topics there are."""
        self.topics = self.around.topics()
