"""Kafka's own group coordinator of one partition of `__consumer_offsets`, in this process and on a virtual clock.

This module plays CoordinatorRuntime for `GroupCoordinatorShard`: it replays the records that come back, appends them
(at once, or on request), completes append futures and fires timers. Not played: batching (append.linger), replies that
wait for the append of another request, failed appends, authorization, and GroupCoordinatorService above the shard.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import jpype

from assignors.simulation.kernel import Kernel, Timers
from assignors.topic_ids import kafka_text

EPOCH_MS = 1_700_000_000_000
"""What Java's clock says at 0 ms; a time of 0 means "never" to Kafka."""

_COMMON = "org.apache.kafka.common."
_GROUP = "org.apache.kafka.coordinator.group."
_RUNTIME = "org.apache.kafka.coordinator.common.runtime."
_METRICS_TIMER = "group-size-counter"  # counts groups every minute, and changes nothing

Blob = tuple[bytes, bytes | None]


@lru_cache(None)
def java(name: str) -> Any:
    """A Java class by its name; "message.X" and the like are Kafka's common ones."""
    return jpype.JClass(name if name.startswith(("java.", "org.", "sun.")) else _COMMON + name)


def silence() -> None:
    """No log lines: coordinators of groups in trouble write a lot."""
    java("org.slf4j.LoggerFactory").getLogger("org.apache.kafka")  # the first logger would set the level back
    off = java("org.apache.logging.log4j.Level").OFF
    java("org.apache.logging.log4j.core.config.Configurator").setRootLevel(off)


def array_list(items: Sequence[Any]) -> Any:
    """Java's ArrayList of these."""
    made = java("java.util.ArrayList")(len(items))
    for item in items:
        made.add(item)
    return made


def no_metadata() -> Any:
    """Java's image of a cluster without topics."""
    return java("org.apache.kafka.image.MetadataImage").EMPTY


def java_bytes(data: bytes) -> Any:
    """Java's byte[] of these."""
    return jpype.JArray(jpype.JByte)(data)


def text(value: Any) -> str | None:
    """A Java string, or None."""
    return None if value is None else str(value)


class MemberIds:
    """Gives the member ids that Java will give next: both draw from a generator with one seed."""

    def __init__(self, seed: int) -> None:
        _seed_uuids(_seeded(seed))
        self._twin = _seeded(seed)

    def __call__(self, prefix: str) -> str:
        """As the classic protocol has them."""
        return f"{prefix}-{self._next()}"

    def kafka_id(self) -> str:
        """As `Uuid.randomUuid()` prints them, which never begins with a dash."""
        made = kafka_text(self._next())
        return self.kafka_id() if made.startswith("-") else made

    def _next(self) -> UUID:
        drawn = java_bytes(bytes(16))
        self._twin.nextBytes(drawn)
        return UUID(bytes=bytes(drawn), version=4)


def _seeded(seed: int) -> Any:
    generator = java("java.security.SecureRandom").getInstance("SHA1PRNG")
    generator.setSeed(jpype.JLong(seed))
    return generator


def _seed_uuids(generator: Any) -> None:
    """Make UUID.randomUUID() draw from the inside of that generator: of its own, only that is not final."""
    unsafe, uuid_generator, inside = _uuid_generator()
    unsafe.putObject(uuid_generator, inside, unsafe.getObject(generator, inside))


@lru_cache(None)
def _uuid_generator() -> tuple[Any, Any, Any]:
    field = java("sun.misc.Unsafe").class_.getDeclaredField("theUnsafe")
    field.setAccessible(True)
    unsafe = field.get(None)
    java("java.util.UUID").randomUUID()  # initialises the holder
    held = jpype.JClass("java.util.UUID$Holder").class_.getDeclaredField("numberGenerator")
    generator = unsafe.getObject(unsafe.staticFieldBase(held), unsafe.staticFieldOffset(held))
    inside = java("java.security.SecureRandom").class_.getDeclaredField("secureRandomSpi")
    return unsafe, generator, unsafe.objectFieldOffset(inside)


@lru_cache(None)
def _proxies() -> tuple[Any, Any, Any, Any]:
    """Java interfaces in Python: Time, CoordinatorTimer, CoordinatorExecutor, BiConsumer. The JVM must run."""

    @jpype.JImplements(_COMMON + "utils.Time")
    class Time:
        def __init__(self, kernel: Kernel) -> None:
            self.kernel = kernel

        @jpype.JOverride
        def milliseconds(self) -> int:
            return EPOCH_MS + self.kernel.now_ms

        @jpype.JOverride
        def hiResClockMs(self) -> int:
            return EPOCH_MS + self.kernel.now_ms

        @jpype.JOverride
        def nanoseconds(self) -> int:
            return (EPOCH_MS + self.kernel.now_ms) * 1_000_000

        @jpype.JOverride
        def sleep(self, ms: int) -> None:
            raise AssertionError("the coordinator slept")

        @jpype.JOverride
        def waitObject(self, *arguments: Any) -> None:
            raise AssertionError("the coordinator waited")

    @jpype.JImplements(_RUNTIME + "CoordinatorTimer")
    class CoordinatorTimer:
        def __init__(self, timers: Timers, finish: Callable[[Any], None]) -> None:
            self.timers, self.finish = timers, finish

        @jpype.JOverride
        def schedule(self, key: Any, delay: int, unit: Any, retry: bool, *rest: Any) -> None:
            if str(key) != _METRICS_TIMER:
                self.timers.arm(str(key), int(unit.toMillis(delay)), lambda: self.finish(rest[-1].generateRecords()))

        @jpype.JOverride
        def scheduleIfAbsent(self, key: Any, delay: int, unit: Any, retry: bool, operation: Any) -> None:
            if str(key) not in self.timers.deadlines_ms:
                self.schedule(key, delay, unit, retry, operation)

        @jpype.JOverride
        def cancel(self, key: Any) -> None:
            self.timers.disarm(str(key))

        @jpype.JOverride
        def isScheduled(self, key: Any) -> bool:
            return str(key) in self.timers.deadlines_ms

    @jpype.JImplements(_RUNTIME + "CoordinatorExecutor")
    class Executor:
        """The background: what it does it does at once, but after the request."""

        def __init__(self, timers: Timers, finish: Callable[[Any], None]) -> None:
            self.timers, self.finish = timers, finish

        @jpype.JOverride
        def schedule(self, key: Any, task: Any, operation: Any) -> bool:
            self.timers.arm(str(key), 0, lambda: self.finish(operation.onComplete(task.run(), None)))
            return True

        @jpype.JOverride
        def isScheduled(self, key: Any) -> bool:
            return str(key) in self.timers.deadlines_ms

        @jpype.JOverride
        def cancel(self, key: Any) -> None:
            self.timers.disarm(str(key))

    @jpype.JImplements("java.util.function.BiConsumer")
    class Completed:
        def __init__(self, then: Callable[[Any, Any], None]) -> None:
            self.then = then

        @jpype.JOverride
        def accept(self, value: Any, error: Any) -> None:
            self.then(value, error)

        @jpype.JOverride
        def andThen(self, other: Any) -> Any:
            raise AssertionError("nobody chains these")

    return Time, CoordinatorTimer, Executor, Completed


class Shard:
    """One `GroupCoordinatorShard`, loaded from the log of an earlier one, or new. The JVM must run."""

    def __init__(
        self, kernel: Kernel, properties: Mapping[str, int | str], log: Sequence[Blob] = (), image: Any = None
    ) -> None:
        self.timers = Timers(kernel)
        self.replayed = 0  # how many records; what it knows of KIP-848 groups and offsets changes with them alone
        self._log: list[Any] = []
        self.held = False  # whether appends wait for `replicate`
        self._waiting: list[Callable[[], None]] = []
        self._serde = java(_GROUP + "GroupCoordinatorRecordSerde")()
        self._shard = self._build(kernel, properties)
        for key, value in log:
            self._load(key, value)
        self._shard.onLoaded(java(_RUNTIME + "KRaftCoordinatorMetadataImage")(image or no_metadata()))
        self.manager = _private(self._shard, "groupMetadataManager")

    def _build(self, kernel: Kernel, properties: Mapping[str, int | str]) -> Any:
        time, timer, executor, _ = _proxies()
        config, manager = configs(tuple(sorted(properties.items())))
        context = java("utils.LogContext")()
        builder = jpype.JClass(_GROUP + "GroupCoordinatorShard$Builder")(config, manager)
        builder.withAuthorizerPlugin(java("java.util.Optional").empty())
        builder.withLogContext(context)
        builder.withSnapshotRegistry(java("org.apache.kafka.timeline.SnapshotRegistry")(context))
        builder.withTime(time(kernel))
        builder.withTimer(timer(self.timers, self.finish))
        builder.withExecutor(executor(self.timers, self.finish))
        builder.withCoordinatorMetrics(_metrics())
        builder.withTopicPartition(java("TopicPartition")("__consumer_offsets", 0))
        return builder.build()

    def _load(self, key: bytes, value: bytes | None) -> None:
        wrap = java("java.nio.ByteBuffer").wrap
        record = self._serde.deserialize(wrap(java_bytes(key)), None if value is None else wrap(java_bytes(value)))
        self._replay(record)
        self._log.append(record)

    def _replay(self, record: Any) -> None:
        self._shard.replay(jpype.JLong(self.replayed), jpype.JLong(-1), jpype.JShort(-1), record)
        self.replayed += 1

    def finish(self, result: Any, reply: Callable[[Any], None] | None = None) -> None:
        """What the runtime does with a result: replay its records, append them, answer."""
        found = result.records()
        records = [] if found.isEmpty() else list(found.toArray())
        if records and result.replayRecords():
            for record in records:
                self._replay(record)
        future, response = result.appendFuture(), result.response()

        def replicated() -> None:
            self._log.extend(records)
            if future is not None:
                future.complete(None)
            if reply is not None:
                reply(response)

        if self.held and records:
            self._waiting.append(replicated)
        else:
            replicated()

    @property
    def log(self) -> list[Blob]:
        """What is replicated, as bytes."""
        return list(map(self._blob, self._log))

    def _blob(self, record: Any) -> Blob:
        value = self._serde.serializeValue(record)
        return bytes(self._serde.serializeKey(record)), None if value is None else bytes(value)

    def replicate(self) -> None:
        """Complete the appends that wait, in their order."""
        waiting, self._waiting = self._waiting, []
        for replicated in waiting:
            replicated()

    def call(self, name: str, context: Any, request: Any, reply: Callable[[Any], None]) -> str | None:
        """Ask what is answered within the call; the name of Kafka's error when it is refused by an exception."""
        try:
            result = getattr(self._shard, name)(context, request)
        except jpype.JException as error:
            return error_name(error)
        self.finish(result, reply)
        return None

    def park(self, name: str, context: Any, request: Any, reply: Callable[[Any], None]) -> str | None:
        """Ask what may be answered later, by a future."""
        future = java("java.util.concurrent.CompletableFuture")()
        future.whenComplete(_proxies()[3](lambda value, error: reply(value)))
        try:
            result = getattr(self._shard, name)(context, request, future)
        except jpype.JException as error:
            return error_name(error)
        self.finish(result)
        return None

    def see(self, delta: Any, image: Any, deleted: Sequence[tuple[Any, str]]) -> None:
        """The cluster's topics have changed; `deleted`: ids and names of those that are gone."""
        runtime_image = java(_RUNTIME + "KRaftCoordinatorMetadataImage")(image)
        self._shard.onMetadataUpdate(java(_RUNTIME + "KRaftCoordinatorMetadataDelta")(delta), runtime_image)
        kind = jpype.JClass(_GROUP + "GroupCoordinatorShard$DeletedTopic")
        self.finish(self._shard.onTopicsDeleted(array_list([kind(uuid, name) for uuid, name in deleted])))

    def unload(self) -> None:
        """Give the partition up."""
        self.timers.disarm_all()
        self._shard.onUnloaded()

    def group(self, group_id: str) -> Any:
        """Java's group, or None."""
        try:
            return self.manager.group(group_id)
        except jpype.JException:
            return None

    def committed(self, group_id: str) -> Any:
        """Java's answer to a fetch of all offsets of a group."""
        request = jpype.JClass(_COMMON + "message.OffsetFetchRequestData$OffsetFetchRequestGroup")()
        return self._shard.fetchOffsets(request.setGroupId(group_id).setTopics(None), jpype.JLong(2**63 - 1))

    def close(self) -> None:
        """Let go of Java's objects, which hold this: neither garbage collector sees the whole circle."""
        self.timers.disarm_all()
        self._waiting.clear()
        self._log.clear()
        del self._shard, self.manager


def error_name(error: Any) -> str:
    """The name on the wire of a Java exception."""
    errors = java("protocol.Errors")
    return str(errors.forException(errors.maybeUnwrapException(error)).name())


def _private(owner: Any, name: str) -> Any:
    field = owner.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field.get(owner)


@lru_cache(None)
def _metrics() -> Any:
    return java(_GROUP + "metrics.GroupCoordinatorMetrics")()


@lru_cache(64)
def configs(properties: tuple[tuple[str, int | str], ...]) -> tuple[Any, Any]:
    """Java's `GroupCoordinatorConfig` and `GroupConfigManager` of these properties."""
    given = java("java.util.HashMap")()
    for name, value in properties:
        given.put(name, str(value))
    config, share = java(_GROUP + "GroupCoordinatorConfig"), java(_GROUP + "modern.share.ShareGroupConfig")
    both = java("utils.Utils").mergeConfigs(array_list([config.CONFIG_DEF, share.CONFIG_DEF]))
    shared = share(java("config.AbstractConfig")(both, given, False))
    made = config.fromProps(given)
    return made, java(_GROUP + "GroupConfigManager")(java("java.util.HashMap")(), made, shared)


@lru_cache(None)
def request_context(api: str, version: int, client_id: str) -> Any:
    """Java's RequestContext of a request of that client."""
    header = java("requests.RequestHeader")(getattr(java("protocol.ApiKeys"), api), jpype.JShort(version), client_id, 0)
    return java("requests.RequestContext")(
        header,
        "c",
        java("java.net.InetAddress").getLoopbackAddress(),
        java("security.auth.KafkaPrincipal").ANONYMOUS,
        java("network.ListenerName")("PLAINTEXT"),
        java("security.auth.SecurityProtocol").PLAINTEXT,
        java("network.ClientInformation").EMPTY,
        False,
    )
