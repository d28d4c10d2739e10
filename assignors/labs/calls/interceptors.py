"""A chain of interceptors (Kafka: ConsumerInterceptors): exceptions are logged, and the chain continues."""

from collections.abc import Sequence
from dataclasses import dataclass

from assignors.labs.calls.log import Logs
from assignors.labs.calls.script_machine import listed
from assignors.model import TopicPartition

Records = list[tuple[TopicPartition, int]]


@dataclass(frozen=True, slots=True)
class Interceptor:
    """Drops records that are `ttl_ms` old or older (None: none), or throws in both of its methods."""

    name: str
    ttl_ms: int | None = None
    throws: bool = False


def poll_through(chain: Sequence[Interceptor], records: Records, logs: Logs, now_ms: int) -> tuple[Records, list[str]]:
    """The records after all interceptors, and remarks; each gets the result of the last one that did not throw."""
    remarks = list[str]()
    for its in chain:
        if its.throws:
            remarks.append(f"{its.name} throws in onConsume: the exception is logged, and the chain continues")
            continue
        kept = [entry for entry in records if not _expired(its, entry, logs, now_ms)]
        if len(kept) < len(records):
            gone = [f"{partition} {offset}" for partition, offset in records if (partition, offset) not in kept]
            remarks.append(f"{its.name} drops {listed(gone)}")
        records = kept
    return records, remarks


def _expired(its: Interceptor, entry: tuple[TopicPartition, int], logs: Logs, now_ms: int) -> bool:
    partition, offset = entry
    return its.ttl_ms is not None and now_ms - logs[partition].records[offset].at_ms >= its.ttl_ms


def commit_through(chain: Sequence[Interceptor]) -> list[str]:
    """onCommit of each, after the broker has accepted the commit."""
    threw = [its.name for its in chain if its.throws]
    called = [its.name for its in chain if not its.throws]
    outcomes = [f"onCommit of {listed(called)}"] if called else []
    return outcomes + [f"{name} throws in onCommit: the exception is logged" for name in threw]
