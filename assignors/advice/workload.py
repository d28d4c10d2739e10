"""The workload of a consumer or a broker."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Workload:
    """The workload of a consumer or a broker; None is unknown and gives no advice.

    Of a consumer: `record_p99_ms` is the 99th percentile of the processing time of a record, `batch_ms` the time
    between two polls, `gc_pause_ms` the longest pause. The partitions of a dead member may wait for
    `tolerated_outage_ms`, the whole group may be down for `planned_outage_ms`. `async_workers`: records are processed
    outside the poll loop. `closes_in_finally`: close() is also called after a processing error. `grows`: topics get new
    partitions, or are subscribed by pattern.

    Of a broker: `members` start together. `acks_all`: producers use acks=all with topics that do not set
    min.insync.replicas.
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


NOTHING_KNOWN = Workload()
