"""Advice for one consumer: its properties, what is known of its work, and the broker's bounds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from assignors.simulation.advice import names
from assignors.simulation.advice.broker import DEFAULTS as BROKER_DEFAULTS
from assignors.simulation.advice.findings import Finding, Numbers, Properties, Severity, unknown

SOURCE = "ConsumerConfig"
DEFAULTS = {
    "session.timeout.ms": 45_000,
    "heartbeat.interval.ms": 3_000,
    "max.poll.interval.ms": 300_000,
    "max.poll.records": 500,
    "auto.commit.interval.ms": 5_000,
    "metadata.max.age.ms": 300_000,
}
DEFAULT_STRATEGY = "RangeAssignor,CooperativeStickyAssignor"
_SESSION, _HEARTBEAT, _POLL = "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"
_STRATEGY, _PROTOCOL = "partition.assignment.strategy", "group.protocol"
_CLASSIC_ONLY = (_SESSION, _HEARTBEAT, _STRATEGY)


@dataclass(frozen=True, slots=True)
class Work:
    """What is known of how a consumer is used; None is not known, and brings no advice.

    `record_p99_ms` is how long 99 of 100 records take at most, `restart_ms` how long a restart, `gc_pause_ms` the
    longest pause. `async_workers`: records are processed outside the poll loop. `grows`: topics get partitions, or are
    subscribed by pattern.
    """

    record_p99_ms: float | None = None
    restart_ms: int | None = None
    gc_pause_ms: int | None = None
    async_workers: bool = False
    grows: bool = False


@dataclass(frozen=True, slots=True)
class _Client:
    properties: Properties
    number: Numbers
    work: Work
    broker: Numbers

    @property
    def is_classic(self) -> bool:
        return self.properties.get(_PROTOCOL, "classic").strip().lower() != "consumer"

    @property
    def auto_commits(self) -> bool:
        return self.properties.get("enable.auto.commit", "true").strip().lower() == "true"


_NOTHING_KNOWN = Work()


def advise_client(
    properties: Properties, work: Work = _NOTHING_KNOWN, broker: Properties | None = None
) -> list[Finding]:
    """Errors first, then warnings. Source: ConsumerConfig, GroupCoordinatorConfig and KafkaConsumer of Kafka 4.3.1."""
    number, bounds = (
        Numbers(properties, DEFAULTS, SOURCE),
        Numbers(broker or {}, BROKER_DEFAULTS, "GroupCoordinatorConfig"),
    )
    client = _Client(properties, number, work, bounds)
    found = [*number.findings, *unknown(properties, names.CONSUMER, SOURCE)]
    for rule in _RULES:
        found.extend(rule(client))
    return sorted(found, key=lambda finding: finding.severity is not Severity.ERROR)


def _error(key: str, reason: str, source: str, better: str | None = None) -> Finding:
    return Finding(key, Severity.ERROR, reason, source, better)


def _warning(key: str, reason: str, source: str, better: str | None = None) -> Finding:
    return Finding(key, Severity.WARNING, reason, source, better)


def _heartbeat(client: _Client) -> Iterator[Finding]:
    session, heartbeat = client.number[_SESSION], client.number[_HEARTBEAT]
    if not client.is_classic:
        return
    better = str(session // 3)
    if heartbeat >= session:
        reason = f"{_HEARTBEAT} {heartbeat} is not below {_SESSION} {session}; the consumer does not start."
        yield _error(_HEARTBEAT, reason, "Heartbeat (constructor)", better)
    elif heartbeat * 3 > session:
        reason = f"Fewer than 3 heartbeats of {heartbeat} ms fit into the session of {session} ms."
        yield _warning(_HEARTBEAT, reason, SOURCE, better)


def _session_bounds(client: _Client) -> Iterator[Finding]:
    session = client.number[_SESSION]
    low, high = (client.broker[f"group.{side}.session.timeout.ms"] for side in ("min", "max"))
    if client.is_classic and not low <= session <= high:
        reason = f"{_SESSION} {session} is outside the broker's {low} to {high}: INVALID_SESSION_TIMEOUT (26), fatal."
        yield _error(_SESSION, reason, "GroupCoordinatorConfig", str(min(max(session, low), high)))


def _protocols(client: _Client) -> Iterator[Finding]:
    remote = "group.remote.assignor"
    if client.is_classic and remote in client.properties:
        reason = f"{remote} needs {_PROTOCOL}=consumer; the classic consumer does not start with it."
        yield _error(remote, reason, SOURCE)
    for key in () if client.is_classic else _CLASSIC_ONLY:
        if key in client.properties:
            reason = f"{key} belongs to the classic protocol; with {_PROTOCOL}=consumer the broker decides."
            yield _error(key, reason, "ConsumerConfig, KIP-848")


def _strategies(client: _Client) -> Iterator[Finding]:
    listed = client.properties.get(_STRATEGY, DEFAULT_STRATEGY)
    chosen = [name.strip().rsplit(".", 1)[-1] for name in listed.split(",")]
    if client.is_classic and "CooperativeStickyAssignor" in chosen and len(set(chosen)) > 1:
        reason = f"{' and '.join(chosen)} are listed, so the group stays eager: every rebalance stops every member."
        better = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
        yield _warning(_STRATEGY, reason, "ConsumerCoordinator (constructor), KIP-429", better)


def _commits(client: _Client) -> Iterator[Finding]:
    key, has_group = "enable.auto.commit", bool(client.properties.get("group.id"))
    if key in client.properties and client.auto_commits and not has_group:
        yield _error(key, "Auto-commit is on without a group.id; the consumer does not start.", SOURCE, "false")
    if client.auto_commits and has_group and client.work.async_workers:
        reason = "Auto-commit covers what poll returned, not what workers have finished: a crash loses their queue."
        yield _warning(key, reason, "ConsumerCoordinator", "false")


def _slow_work(client: _Client) -> Iterator[Finding]:
    p99, records, interval = client.work.record_p99_ms, client.number["max.poll.records"], client.number[_POLL]
    if p99 and records * p99 > interval / 2:
        reason = f"{records} records of {p99:g} ms may take {records * p99:g} ms, over half of {_POLL} {interval}."
        yield _warning("max.poll.records", reason, "KIP-62", str(max(1, int(interval / 2 / p99))))


def _session_and_poll(client: _Client) -> Iterator[Finding]:
    session, interval = client.number[_SESSION], client.number[_POLL]
    if not client.is_classic or session <= interval:
        return
    reason = f"{_SESSION} {session} is above {_POLL} {interval}: a stalled member is found before a dead one."
    if "group.instance.id" in client.properties:
        reason += " A dead static member is even assigned partitions in the next generation."
    yield _warning(_SESSION, reason, "KIP-62, KIP-345", str(min(interval, DEFAULTS[_SESSION])))


def _restarts(client: _Client) -> Iterator[Finding]:
    restart, session = client.work.restart_ms, client.number[_SESSION]
    if client.is_classic and "group.instance.id" in client.properties and restart is not None and session < restart:
        reason = f"A restart takes {restart} ms, the session {session}: the static member loses its partitions."
        yield _warning(_SESSION, reason, "KIP-345", str(restart + DEFAULTS[_HEARTBEAT]))


def _pauses(client: _Client) -> Iterator[Finding]:
    pause, session, heartbeat = client.work.gc_pause_ms, client.number[_SESSION], client.number[_HEARTBEAT]
    if client.is_classic and pause is not None and pause + heartbeat >= session:
        reason = f"A pause of {pause} ms and a heartbeat of {heartbeat} use up the session of {session} ms."
        yield _warning(_SESSION, reason, SOURCE, str(DEFAULTS[_SESSION]))


def _reset(client: _Client) -> Iterator[Finding]:
    key, age = "auto.offset.reset", client.number["metadata.max.age.ms"]
    if client.work.grows and client.properties.get(key, "latest").strip() == "latest":
        reason = f"Records written to a new partition before it is discovered (up to {age} ms) are skipped."
        yield _warning(key, reason, "SubscriptionState", "earliest")


_RULES: tuple[Callable[[_Client], Iterator[Finding]], ...] = (
    _heartbeat,
    _session_bounds,
    _protocols,
    _strategies,
    _commits,
    _slow_work,
    _session_and_poll,
    _restarts,
    _pauses,
    _reset,
)
