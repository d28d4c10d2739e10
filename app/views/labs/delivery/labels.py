"""Display names of strategies, failures and records."""

from collections.abc import Iterable, Mapping

from assignors.labs.delivery import FailureKind, Interceptor, Lab, OnPoison, Record, Strategy

_NAMES: Mapping[Strategy, tuple[str, str]] = {
    Strategy.AUTO: ("auto-commit", "auto-commit in poll"),
    Strategy.SYNC: ("sync per batch", "commitSync after each batch"),
    Strategy.ASYNC: ("async per batch", "commitAsync after each batch, commitSync on close"),
    Strategy.ASYNC_RETRY: ("async, retried", "commitAsync with a retry of failed commits"),
    Strategy.PER_PARTITION: ("sync per partition", "commitSync after each partition of a batch"),
    Strategy.EVERY_N: ("every n", "commitSync after every n records"),
    Strategy.EVERY_N_FROM_ZERO: ("every n, from 0", "commitSync when count % n == 0, counted from 0"),
    Strategy.COMMIT_FIRST: ("commit first", "commitSync before processing"),
    Strategy.EXTERNAL: ("external store", "results and offset in one transaction of an external store"),
    Strategy.WORKERS_SHARED: ("shared queue", "auto-commit, workers on a shared queue"),
    Strategy.WORKERS_QUEUES: ("worker queues", "commitSync of finished records, workers with a queue per partition"),
}
SHORT = {strategy: name for strategy, (name, _) in _NAMES.items()}
STRATEGIES = {strategy: name for strategy, (_, name) in _NAMES.items()}
FAILURES: Mapping[FailureKind, str] = {
    FailureKind.NONE: "none",
    FailureKind.CRASH: "the process crashes",
    FailureKind.EXCEPTION: "processing throws, and a finally block closes the consumer",
    FailureKind.KICKED: "max.poll.interval.ms is exceeded, and the consumer keeps processing",
    FailureKind.EAGER: "a planned rebalance, eager protocol",
    FailureKind.COOPERATIVE: "a planned rebalance, cooperative protocol",
    FailureKind.OUTSIDER_REFUSED: "a standalone consumer with the same group.id commits while the group is Stable",
    FailureKind.OUTSIDER_ACCEPTED: "the process crashes, and a standalone consumer with the same group.id commits",
}
INTERCEPTORS: Mapping[Interceptor, str] = {
    Interceptor.NONE: "none",
    Interceptor.DROPS: "drops expired records",
    Interceptor.THROWS: "throws",
}
ON_POISON: Mapping[OnPoison, str] = {OnPoison.STOP: "stops", OnPoison.SKIP: "seeks past it"}


def offsets(pairs: Iterable[tuple[int, int]], lab: Lab) -> str:
    """Offsets of (partition, offset): "15", or "0:4, 1:2" with several partitions."""
    return ", ".join(f"{p}:{offset}" if len(lab.end) > 1 else str(offset) for p, offset in pairs)


def name_of(record: Record, lab: Lab) -> str:
    """The offset, with its partition if there are several."""
    return str(record) if len(lab.end) > 1 else str(record.offset)
