"""Advice for one consumer, from its properties, its workload and the broker's settings."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from assignors.advice.config_table import CONSUMER, COORDINATOR
from assignors.advice.findings import Finding, Properties, error, errors_first, numbers, refused, unknown, warning
from assignors.advice.workload import NOTHING_KNOWN, Workload

SOURCE = "ConsumerConfig"
DEFAULT_STRATEGY = "RangeAssignor,CooperativeStickyAssignor"
_SESSION, _HEARTBEAT, _POLL = "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"
_GROUP, _INSTANCE, _RESET = "group.id", "group.instance.id", "auto.offset.reset"
_STRATEGY, _PROTOCOL = "partition.assignment.strategy", "group.protocol"
_REMOTE, _SHARE = "group.remote.assignor", ("share.acknowledgement.mode", "share.acquire.mode")
_INSTANCE_ID = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{0,249}")
_NO_START = "the consumer does not start."


@dataclass(frozen=True, slots=True)
class _Client:
    properties: Properties
    number: Mapping[str, int]
    workload: Workload
    broker: Mapping[str, int]

    def word(self, key: str, default: str) -> str:
        return self.properties.get(key, default).strip()

    @property
    def is_classic(self) -> bool:
        return self.word(_PROTOCOL, "classic").lower() != "consumer"

    @property
    def is_static(self) -> bool:
        return _INSTANCE in self.properties

    @property
    def session(self) -> tuple[str, int]:
        """The session setting in effect and its milliseconds; under KIP-848 it is the broker's."""
        key = f"group.consumer.{_SESSION}"
        return (_SESSION, self.number[_SESSION]) if self.is_classic else (key, self.broker[key])


def advise_client(
    properties: Properties, workload: Workload = NOTHING_KNOWN, broker: Properties | None = None
) -> list[Finding]:
    """Findings, errors first. Source: ConsumerConfig, GroupCoordinatorConfig and KafkaConsumer of Kafka 4.3.1."""
    client = _Client(properties, numbers(properties, CONSUMER), workload, numbers(broker or {}, COORDINATOR))
    found = [*refused(properties, CONSUMER, SOURCE), *unknown(properties, CONSUMER, SOURCE)]
    return errors_first(chain(found, *(rule(client) for rule in _RULES)))


def _heartbeat(client: _Client) -> Iterator[Finding]:
    session, heartbeat = client.number[_SESSION], client.number[_HEARTBEAT]
    if not client.is_classic:
        return
    better = str(session // 3)
    if heartbeat < 0:
        reason = f"{_HEARTBEAT} {heartbeat} is below 0 (IllegalArgumentException); {_NO_START}"
        yield error(_HEARTBEAT, reason, "Timer", str(CONSUMER[_HEARTBEAT].default))
    elif heartbeat >= session:
        reason = f"{_HEARTBEAT} {heartbeat} is not below {_SESSION} {session} (IllegalArgumentException); {_NO_START}"
        yield error(_HEARTBEAT, reason, "Heartbeat (constructor)", better)
    elif heartbeat * 3 > session:
        reason = f"Fewer than 3 heartbeats of {heartbeat} ms fit into the session of {session} ms."
        yield warning(_HEARTBEAT, reason, SOURCE, better)


def _session_bounds(client: _Client) -> Iterator[Finding]:
    session = client.number[_SESSION]
    low, high = (client.broker[f"group.{side}.session.timeout.ms"] for side in ("min", "max"))
    if client.is_classic and not low <= session <= high:
        reason = f"{_SESSION} {session} is outside the broker's {low} to {high}: INVALID_SESSION_TIMEOUT (26), fatal."
        better = str(min(max(session, low), high)) if low <= high else None
        yield error(_SESSION, reason, "GroupCoordinatorConfig", better)


def _ids(client: _Client) -> Iterator[Finding]:
    if _GROUP in client.properties and not client.word(_GROUP, ""):
        yield error(_GROUP, f"{_GROUP} is empty (InvalidGroupIdException); {_NO_START}", "KafkaConsumer")
    if not _INSTANCE_ID.fullmatch(client.word(_INSTANCE, "")):
        reason = (
            f"{_INSTANCE} takes at most 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-', and neither '.' nor "
            f"'..' alone (InvalidConfigurationException); {_NO_START}"
        )
        yield error(_INSTANCE, reason, "JoinGroupRequest")


def _protocols(client: _Client) -> Iterator[Finding]:
    name = "classic" if client.is_classic else "consumer"
    for key in (_REMOTE, *_SHARE) if client.is_classic else (_SESSION, _HEARTBEAT, _STRATEGY, *_SHARE):
        if client.word(key, ""):
            yield error(key, f"{key} cannot be set with {_PROTOCOL}={name} (ConfigException); {_why(key)}", SOURCE)


def _why(key: str) -> str:
    if key in _SHARE:
        return "it belongs to share consumers."
    return f"it needs {_PROTOCOL}=consumer." if key == _REMOTE else "the broker decides (KIP-848)."


def _strategies(client: _Client) -> Iterator[Finding]:
    listed = client.properties.get(_STRATEGY, DEFAULT_STRATEGY)
    chosen = [name.strip().rsplit(".", 1)[-1] for name in listed.split(",")]
    if client.is_classic and "CooperativeStickyAssignor" in chosen and len(set(chosen)) > 1:
        reason = f"{' and '.join(chosen)} are listed, so the group stays eager: every rebalance stops all members."
        better = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
        yield warning(_STRATEGY, reason, "ConsumerCoordinator (constructor), KIP-429", better)


def _commits(client: _Client) -> Iterator[Finding]:
    key, has_group = "enable.auto.commit", _GROUP in client.properties
    if client.word(key, "true").lower() != "true":
        return
    if not has_group and key in client.properties:
        reason = f"Auto-commit is on without a {_GROUP} (InvalidConfigurationException); {_NO_START}"
        yield error(key, reason, SOURCE, "false")
    if has_group and client.workload.async_workers:
        reason = "Auto-commit covers what poll returned, not what workers have finished: a crash loses their queue."
        yield warning(key, reason, "ConsumerCoordinator", "false")
    if has_group and client.workload.closes_in_finally:
        reason = "close() after a processing error commits what poll returned: the failed records are lost."
        yield warning(key, reason, "ConsumerCoordinator (close)", "false")


def _slow_records(client: _Client) -> Iterator[Finding]:
    p99, records, interval = client.workload.record_p99_ms, client.number["max.poll.records"], client.number[_POLL]
    if p99 and records * p99 > interval / 2:
        reason = f"{records} records of {p99:g} ms may take {records * p99:g} ms, over half of {_POLL} {interval}."
        yield warning("max.poll.records", reason, "KIP-62", str(max(1, int(interval / 2 / p99))))


def _slow_batches(client: _Client) -> Iterator[Finding]:
    batch, interval = client.workload.batch_ms, client.number[_POLL]
    if batch is None or 2 * batch <= interval:
        return
    over = "over half of" if batch <= interval else "more than"
    effect = "" if batch <= interval else ": the member leaves the group in every batch"
    reason = f"The time between two polls is {batch} ms, {over} {_POLL} {interval}{effect}."
    yield warning(_POLL, reason, "KIP-62", str(2 * batch))


def _session_and_poll(client: _Client) -> Iterator[Finding]:
    if client.is_classic:
        yield from session_and_poll(client.number[_SESSION], client.number[_POLL], client.is_static)


def session_and_poll(session: int, interval: int, is_static: bool) -> Iterator[Finding]:
    """Findings about session.timeout.ms and max.poll.interval.ms of a member under the classic protocol."""
    if session <= interval:
        return
    reason = f"{_SESSION} {session} is above {_POLL} {interval}: a stalled member is detected before a dead one."
    if is_static:
        reason += " A dead static member even gets partitions in the next generation."
    yield warning(_SESSION, reason, "KIP-62, KIP-345", str(min(interval, int(CONSUMER[_SESSION].default or 0))))


def _restarts(client: _Client) -> Iterator[Finding]:
    restart, (key, session) = client.workload.restart_ms, client.session
    if client.is_static and restart is not None and session < restart:
        reason = (
            f"A restart of {restart} ms outlasts the session of {session} ms: the static member loses its partitions."
        )
        yield warning(key, reason, "KIP-345", str(restart + int(CONSUMER[_HEARTBEAT].default or 0)))


def _outages(client: _Client) -> Iterator[Finding]:
    tolerated, (key, session) = client.workload.tolerated_outage_ms, client.session
    if client.is_static and tolerated is not None and session > tolerated:
        reason = (
            f"The partitions of a dead static member wait for its session of {session} ms; "
            f"{tolerated} ms are tolerated."
        )
        yield warning(key, reason, "KIP-345", str(tolerated))


def _pauses(client: _Client) -> Iterator[Finding]:
    pause, session, heartbeat = client.workload.gc_pause_ms, client.number[_SESSION], client.number[_HEARTBEAT]
    if client.is_classic and pause is not None and pause + heartbeat >= session:
        reason = f"A GC pause of {pause} ms and a heartbeat of {heartbeat} ms use up the session of {session} ms."
        yield warning(_SESSION, reason, SOURCE, str(CONSUMER[_SESSION].default))


def _skipped(client: _Client) -> Iterator[Finding]:
    age, outage = client.number["metadata.max.age.ms"], client.workload.planned_outage_ms
    minutes = client.broker["offsets.retention.minutes"]
    if client.word(_RESET, "latest") != "latest":
        return
    if client.workload.grows:
        reason = f"Records written to a new partition before it is discovered (up to {age} ms) are skipped."
        yield warning(_RESET, reason, "SubscriptionState", "earliest")
    if outage is not None and outage > minutes * 60_000:
        reason = (
            f"An outage of {outage} ms outlives the group's offsets (offsets.retention.minutes {minutes}): records "
            "written meanwhile are skipped."
        )
        yield warning(_RESET, reason, "SubscriptionState, GroupCoordinatorConfig", "earliest")


_RULES: tuple[Callable[[_Client], Iterator[Finding]], ...] = (
    _ids,
    _heartbeat,
    _session_bounds,
    _protocols,
    _strategies,
    _commits,
    _slow_records,
    _slow_batches,
    _session_and_poll,
    _restarts,
    _outages,
    _pauses,
    _skipped,
)
