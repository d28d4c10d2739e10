"""What is known beside the settings."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """How a consumer, or what stands behind a broker, is used; None is not known, and brings no advice.

    Of a consumer: `record_p99_ms` is how long 99 of 100 records take at most, `batch_ms` how long it is from one poll
    to the next, `restart_ms` how long a restart takes, `gc_pause_ms` the longest pause. The partitions of a dead member
    may wait for `tolerated_outage_ms`, the whole group may be down for `planned_outage_ms`. `async_workers`: records
    are processed outside the poll loop. `closes_in_finally`: close() is called after a processing error too. `grows`:
    topics get partitions, or are subscribed by pattern.

    Of a broker: `members` start together. `acks_all`: producers count on acks=all, with topics that have no
    min.insync.replicas of their own.
    """

    record_p99_ms: float | None = None
    batch_ms: int | None = None
    restart_ms: int | None = None
    gc_pause_ms: int | None = None
    tolerated_outage_ms: int | None = None
    planned_outage_ms: int | None = None
    async_workers: bool = False
    closes_in_finally: bool = False
    grows: bool = False
    members: int | None = None
    acks_all: bool = False


NOTHING_KNOWN = Work()
