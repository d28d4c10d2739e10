"""One consumer, call by call (Kafka: KafkaConsumer, SubscriptionState), alone in its group.

A poll is long enough for the whole of a rebalance.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

from assignors.labs.calls.config import CONFIG, KIB, checked
from assignors.labs.calls.fetcher import Reader, ranges
from assignors.labs.calls.interceptors import Interceptor, commit_through, poll_through
from assignors.labs.calls.log import MOST_RECORDS, PartitionLog, Record
from assignors.labs.calls.script import Call
from assignors.labs.calls.script_machine import Machine, PartitionOffsets, Refusal, Verb, listed
from assignors.model import AssignorError, TopicPartition
from assignors.patterns import compiled

MAIN = "main"
CLOSE_TIMEOUT = "30 s"


class Mode(StrEnum):
    """How partitions are chosen (Kafka: SubscriptionState.SubscriptionType); only one way at a time."""

    NONE = "NONE"
    TOPICS = "AUTO_TOPICS"
    PATTERN = "AUTO_PATTERN"
    ASSIGNED = "USER_ASSIGNED"


_CLOSED = "This consumer has already been closed."
_NOT_BOTH = "subscribing to topics, to a pattern and assigning partitions exclude each other"
_UNASSIGNED = "no current assignment for partition"


class Client(Machine):
    """A call may name its thread: `worker: wakeup`; otherwise it comes from the main thread."""

    def __init__(self) -> None:
        self._now_ms = self._committed_ms = self._looked_ms = 0
        self._sizes: dict[str, int] = {}
        self._seen: dict[str, int] = {}  # topics as the consumer's metadata has them
        self._mode, self._wanted = Mode.NONE, tuple[str, ...]()
        self._assigned: tuple[TopicPartition, ...] = ()
        self._paused: set[TopicPartition] = set()
        self._reader = Reader({}, dict(CONFIG))
        self._interceptors: list[Interceptor] = []
        self._listener, self._rewind = "", 0
        self._store: dict[TopicPartition, int] = {}
        self._inside: str | None = None  # the thread that waits in poll
        self._begun = self._closed = self._woken = False

    def verbs(self) -> Iterable[Verb]:
        return (
            Verb("topic NAME PARTITIONS", self._topic),
            Verb("produce PARTITION COUNT [size=KIB] [transaction=open]", self._produce),
            Verb("end-transaction PARTITION", self._end_transaction),
            Verb("delete-records PARTITION OFFSET", self._delete_records),
            Verb("wait TIME", self._wait),
            Verb("config NAME VALUE", self._config),
            Verb("interceptor NAME [ttl=TIME] [throws=yes]", self._interceptor),
            Verb("listener KIND [RECORDS]", self._set_listener),
            Verb("subscribe [TOPIC…]", self._subscribe),
            Verb("subscribe-pattern REGEX", self._subscribe_pattern),
            Verb("assign [PARTITION…]", self._assign),
            Verb("unsubscribe", self._unsubscribe),
            Verb("poll [waits=yes]", self._poll),
            Verb("commit [PARTITION] [OFFSET]", self._commit),
            Verb("seek PARTITION OFFSET", self._seek),
            Verb("position PARTITION", self._position),
            Verb("pause PARTITION…", self._pause),
            Verb("resume PARTITION…", self._resume),
            Verb("wakeup", self._wakeup),
            Verb("close", self._close),
            Verb("metrics", lambda call: self._reader.metrics(self._assigned)),
            Verb("describe", lambda call: self._reader.described()),
        )

    def state(self) -> Mapping[str, str]:
        reader = self._reader
        text = f"{self._mode.value}: {listed(self._wanted)}" if self._wanted else self._mode.value
        return {
            "subscription": "closed" if self._closed else text,
            "assigned": listed(f"{p} paused" if p in self._paused else str(p) for p in self._assigned),
            "position": listed(f"{p} {reader.position[p]}" for p in self._assigned if p in reader.position),
            "committed": listed(f"{p} {at}" for p, at in reader.committed.items()),
            "log end": listed(f"{p} {log.end}" for p, log in reader.logs.items()),
        }

    def offsets(self) -> tuple[PartitionOffsets, ...]:
        return self._reader.offsets(self._assigned)

    # The cluster

    def _topic(self, call: Call) -> str:
        name, size = call.words[0], call.number(1)
        if name in self._sizes or not 1 <= size <= 20:
            raise call.wrong("a topic is created once, with 1 to 20 partitions.")
        self._sizes[name] = size
        self._reader.logs.update({TopicPartition(name, at): PartitionLog() for at in range(size)})
        return f"{name} has {size} partition{'s' if size > 1 else ''}"

    def _log(self, call: Call) -> tuple[TopicPartition, PartitionLog]:
        partition = call.partition(0)
        if partition not in self._reader.logs:
            raise call.wrong(f"there is no partition {partition}. Create its topic first: `topic {partition.topic} 1`.")
        return partition, self._reader.logs[partition]

    def _produce(self, call: Call) -> str:
        (partition, log), size = self._log(call), call.count("size", 1) * KIB
        if not 1 <= call.number(1) <= MOST_RECORDS - log.end:
            raise call.wrong(f"a partition holds 1 to {MOST_RECORDS:,} records.")
        if size > (most := self._reader.whole("message.max.bytes")):
            raise Refusal("RecordTooLargeException", f"{size:,} bytes, and message.max.bytes is {most:,}")
        log.append(Record(self._now_ms, size), call.number(1), "transaction" in call.options)
        return "; ".join([f"{partition} ends at {log.end}", *self._poll_ends()])

    def _end_transaction(self, call: Call) -> str:
        partition, log = self._log(call)
        if log.open_since is None:
            raise Refusal("InvalidTxnStateException", f"no transaction is open in {partition}")
        log.end_transaction(self._now_ms)
        return "; ".join([f"{partition} gets a commit marker and ends at {log.end}", *self._poll_ends()])

    def _poll_ends(self) -> list[str]:
        """End a poll that waited, if there are records now."""
        thread = self._inside
        if thread is None or not (given := self._take()):
            return []
        self._inside = None
        return [f"the poll of {thread} returns {given}"]

    def _delete_records(self, call: Call) -> str:
        (partition, log), to = self._log(call), call.number(1)
        if not log.start <= to <= log.end:
            raise Refusal("OffsetOutOfRangeException", f"{to} is not between {log.start} and {log.end}")
        log.start = to
        return f"{partition} begins at {to}"

    def _wait(self, call: Call) -> str:
        self._now_ms += call.ms(call.words[0])
        thread, self._inside = self._inside, None
        return f"the poll of {thread} returns no records" if thread else "time passes"

    # Setup

    def _config(self, call: Call) -> str:
        name, value = call.words
        if self._begun:
            raise call.wrong("settings must come before the first call: the consumer reads them when it is created.")
        if name not in CONFIG:
            raise call.wrong(f"{name[:40]!r} is not used here. Use one of {listed(CONFIG)}.")
        self._reader.config[name] = "" if value == "none" and name == "group.id" else checked(name, value)
        return f"{name} is {value}"

    def _interceptor(self, call: Call) -> str:
        ttl_ms = call.time("ttl", 0) if "ttl" in call.options else None
        self._interceptors.append(Interceptor(call.words[0], ttl_ms, "throws" in call.options))
        return f"the chain is {listed(its.name for its in self._interceptors)}"

    def _set_listener(self, call: Call) -> str:
        kind = call.words[0]
        if kind not in ("rewind", "store"):
            raise call.wrong("a listener is `listener rewind RECORDS` or `listener store`.")
        self._listener, self._rewind = kind, call.number(1) if len(call.words) > 1 else 0
        if kind == "rewind":
            return f"onPartitionsAssigned seeks {self._rewind} records back"
        return "onPartitionsRevoked saves positions in the store, onPartitionsAssigned seeks there"

    def _enter(self, call: Call) -> None:
        """Checks at the start of every method but wakeup (Kafka: acquireAndEnsureOpen)."""
        thread = call.who or MAIN
        if self._inside == thread:
            raise call.wrong(f"{thread} is still in poll. Produce records, call wakeup(), or `wait`.")
        if self._inside is not None:
            error = "ConcurrentModificationException"
            raise Refusal(error, f"KafkaConsumer is not safe for multi-threaded access: {self._inside} is in poll")
        if self._closed:
            raise Refusal("IllegalStateException", _CLOSED)
        self._begun = True

    # Subscriptions

    def _become(self, mode: Mode) -> None:
        if self._mode not in (Mode.NONE, mode):
            raise Refusal("IllegalStateException", f"{_NOT_BOTH}; it is {self._mode.value}")
        self._mode = mode

    def _needs_group(self) -> None:
        if not self._reader.config["group.id"]:
            raise Refusal("InvalidGroupIdException", "group management and commits need a group.id")

    def _subscribe(self, call: Call) -> str:
        self._enter(call)
        self._needs_group()
        if not call.words:
            return self._drop_all()
        self._become(Mode.TOPICS)
        self._wanted, self._looked_ms = call.words, -1
        return f"takes effect in the next poll: {listed(call.words)}"

    def _subscribe_pattern(self, call: Call) -> str:
        self._enter(call)
        self._needs_group()
        try:
            compiled(call.words[0])
        except AssignorError:
            raise call.wrong(f"{call.words[0][:40]!r} is not a regular expression.") from None
        self._become(Mode.PATTERN)
        self._wanted, self._looked_ms = call.words, -1
        return "takes effect in the next poll: every topic that matches; no listener is needed"

    def _assign(self, call: Call) -> str:
        self._enter(call)
        if not call.words:
            return self._drop_all()
        chosen = call.partitions()
        for partition in chosen:
            if partition not in self._reader.logs:
                raise call.wrong(f"there is no partition {partition}.")
        self._become(Mode.ASSIGNED)
        self._wanted = ()
        self._own(chosen)
        return f"takes effect at once, without the group: {listed(chosen)}"

    def _unsubscribe(self, call: Call) -> str:
        self._enter(call)
        return self._drop_all()

    def _drop_all(self) -> str:
        parts = self._revoked(self._assigned) if self._mode is not Mode.ASSIGNED else []
        self._mode, self._wanted = Mode.NONE, ()
        self._own(())
        return "; ".join([*parts, "nothing is subscribed or assigned"])

    def _own(self, partitions: tuple[TopicPartition, ...]) -> None:
        self._assigned = partitions
        self._paused &= set(partitions)
        self._reader.forget(partitions)

    def _revoked(self, partitions: Iterable[TopicPartition]) -> list[str]:
        gone = [partition for partition in partitions if partition in self._reader.position]
        if self._listener != "store" or not gone:
            return []
        self._store.update({partition: self._reader.position[partition] for partition in gone})
        return [f"onPartitionsRevoked saves {listed(f'{p} {self._store[p]}' for p in gone)}"]

    def _rejoin(self) -> list[str]:
        """Join the group in poll: it is alone, and is assigned all partitions of its topics."""
        max_age_ms = self._reader.whole("metadata.max.age.ms")
        if self._looked_ms < 0 or self._now_ms - self._looked_ms >= max_age_ms:
            self._seen, self._looked_ms = dict(self._sizes), self._now_ms
        wanted = tuple(
            TopicPartition(name, at)
            for name in sorted(self._seen)
            if self._wants(name)
            for at in range(self._seen[name])
        )
        if wanted == self._assigned:
            return []
        added = [partition for partition in wanted if partition not in self._assigned]
        parts = self._auto_commit(is_due=bool(self._assigned))
        parts += self._revoked(partition for partition in self._assigned if partition not in wanted)
        self._own(wanted)
        return [*parts, f"assigned {listed(wanted) or 'nothing'}", *self._assigned_to(added)]

    def _wants(self, topic: str) -> bool:
        if self._mode is Mode.PATTERN:
            return compiled(self._wanted[0]).fullmatch(topic) is not None
        return topic in self._wanted

    def _assigned_to(self, added: list[TopicPartition]) -> list[str]:
        """onPartitionsAssigned."""
        if self._listener == "rewind":
            known = {p: self._reader.committed[p] for p in added if p in self._reader.committed}
            sought = {p: max(self._reader.logs[p].start, at - self._rewind) for p, at in known.items()}
        else:
            sought = {p: self._store[p] for p in added if self._listener == "store" and p in self._store}
        for partition, offset in sought.items():
            self._reader.seek(partition, offset)
        return [f"onPartitionsAssigned seeks {listed(f'{p} {at}' for p, at in sought.items())}"] if sought else []

    # Poll and commit

    def _poll(self, call: Call) -> str:
        self._enter(call)
        if self._mode is Mode.NONE:
            raise Refusal("IllegalStateException", "it is not subscribed to topics, and nothing is assigned")
        if self._woken:
            self._woken = False
            raise Refusal("WakeupException", "wakeup() was called earlier")
        parts = [] if self._mode is Mode.ASSIGNED else self._rejoin()
        parts += self._auto_commit()
        parts += self._reader.find_positions(self._assigned, self._now_ms)
        given = self._take()
        if not given and "waits" in call.options:
            self._inside = call.who or MAIN
            return "; ".join([*parts, f"{self._inside} waits in poll"])
        return "; ".join([*parts, f"returns {given or 'no records'}"])

    def _take(self) -> str:
        """The records for the application, after the interceptors; "" for none."""
        open_ = [partition for partition in self._assigned if partition not in self._paused]
        records = self._reader.next_records(open_)
        if not records:
            return ""
        kept, remarks = poll_through(self._interceptors, records, self._reader.logs, self._now_ms)
        return "; ".join([ranges(kept), *remarks])

    def _auto_commit(self, is_due: bool = False) -> list[str]:
        """Commit what earlier polls have returned: in poll once the interval is over, and before a rebalance."""
        is_due |= self._now_ms - self._committed_ms >= self._reader.whole("auto.commit.interval.ms")
        if not self._auto_commits or not is_due:
            return []
        self._committed_ms = self._now_ms
        parts = self._write(dict(self._reader.position))
        return [f"auto-commit: {parts}"] if parts else []

    @property
    def _auto_commits(self) -> bool:
        return self._reader.config["enable.auto.commit"] == "true" and bool(self._reader.config["group.id"])

    def _commit(self, call: Call) -> str:
        self._enter(call)
        self._needs_group()
        if len(call.words) == 1:
            raise call.wrong("`commit` takes no arguments, or a partition and an offset.")
        offsets = {self._log(call)[0]: call.number(1)} if call.words else dict(self._reader.position)
        if any(offset < 0 for offset in offsets.values()):
            raise Refusal("IllegalArgumentException", "an offset cannot be negative")
        return self._write(offsets) or "nothing to commit"

    def _write(self, offsets: dict[TopicPartition, int]) -> str:
        self._reader.committed.update(offsets)
        remarks = commit_through(self._interceptors) if offsets else []
        parts = [f"commits {listed(f'{p} {at}' for p, at in offsets.items())}"] if offsets else []
        return "; ".join([*parts, *remarks])

    # The rest of the API

    def _mine(self, partition: TopicPartition, refusal: str = _UNASSIGNED) -> TopicPartition:
        if partition not in self._assigned:
            raise Refusal("IllegalStateException", f"{refusal} {partition}")
        return partition

    def _seek(self, call: Call) -> str:
        self._enter(call)
        if call.number(1) < 0:
            raise Refusal("IllegalArgumentException", "the offset to seek to must not be negative")
        partition = self._mine(call.partition(0))
        self._reader.seek(partition, call.number(1))
        return f"the next poll reads {partition} from {call.number(1)}"

    def _position(self, call: Call) -> str:
        self._enter(call)
        partition = self._mine(call.partition(0), "only for assigned partitions, not for")
        parts = self._reader.find_positions([partition], self._now_ms)
        return "; ".join([*parts, f"{self._reader.position.get(partition, 'unknown')}"])

    def _pause(self, call: Call) -> str:
        self._enter(call)
        for partition in call.partitions():
            self._paused.add(self._mine(partition))
        return "poll returns none of its records; no rebalance"

    def _resume(self, call: Call) -> str:
        self._enter(call)
        for partition in call.partitions():
            self._paused.discard(self._mine(partition))
        return "fetched again; no rebalance"

    def _wakeup(self, call: Call) -> str:
        if self._inside is None:
            self._woken = True
            return "takes effect in the next poll"
        thread, self._inside = self._inside, None
        return f"the poll of {thread} ends with WakeupException"

    def _close(self, call: Call) -> str:
        self._enter(call)
        commits = self._auto_commits and self._mode is not Mode.NONE
        parts = [f"auto-commit: {text}"] if commits and (text := self._write(dict(self._reader.position))) else []
        grouped = self._mode in (Mode.TOPICS, Mode.PATTERN)
        parts += [*self._revoked(self._assigned), "leaves the group"] if grouped else []
        self._closed, self._mode, self._wanted = True, Mode.NONE, ()
        self._own(())
        return "; ".join([*parts, f"closed (it may take up to {CLOSE_TIMEOUT})"])
