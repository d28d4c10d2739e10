"""Section 1d of the checklist: offsets, lag and watermarks."""

from assignors.labs.checklist.model import Row, calls, delivery, watermark

ROWS: tuple[Row, ...] = (
    Row(
        "1d.1",
        "Consumed x means committed x + 1. __consumer_offsets has a key of group, topic and partition, records of "
        "groups, tombstones; 50 partitions, three replicas, compacted.",
        "So it is.",
        calls("positions", "offsets-topic"),
    ),
    Row(
        "1d.2",
        "Inserting into a database: committed 10, five rows, a crash before the commit; it ends at 16.",
        "It ends at 15, with five rows twice.",
        delivery("database"),
    ),
    Row(
        "1d.3",
        "Auto-commit, every 5 s in poll, repeats after a crash, and loses what is buffered. commitSync waits and tries "
        "again, commitAsync does not. Commit every n records or per partition; async and at the end sync; process "
        "first is at least once, commit first at most once.",
        "So it is; and auto-commit with an exception and close() loses the rest of the batch.",
        delivery(
            "nothing-fails",
            "auto-commit-crash",
            "auto-commit-exception",
            "commit-first",
            "per-partition",
            "every-n",
            "every-n-from-zero",
            "async-commit-lost",
            "async-retry",
            "external-store",
            "fenced-store",
        ),
    ),
    Row(
        "1d.4",
        "auto.offset.reset is latest, earliest or none; it counts only without an offset, or with one out of range.",
        "So it is; by_duration since 4.0.",
        calls("reset-latest", "reset-earliest", "reset-none", "reset-by-duration"),
    ),
    Row(
        "1d.5",
        "max.poll.records is 500; a message larger than fetch.max.bytes can never be consumed.",
        "It can: the first batch of a fetch always comes (KIP-74).",
        calls("max-poll-records", "big-message"),
    ),
    Row(
        "1d.6",
        "Offsets are deleted when the group has been Empty for long enough.",
        "Seven days; looked for every ten minutes.",
        calls("offset-expiry"),
    ),
    Row(
        "1d.7",
        "Committed offset, position, high watermark, log end offset.",
        "The log end is the last offset + 1; the high watermark waits for the replicas in sync, not for all.",
        (*calls("positions"), *watermark("isr-only")),
    ),
    Row(
        "1d.8",
        "How the high watermark moves (T1 to T4), when a replica is in sync, what leader epochs are for.",
        "So it is; replica.lag.time.max.ms is 30 s today, not 10 s.",
        watermark(
            "t1-t4",
            "exact-timing",
            "slow-follower",
            "restart",
            "loss",
            "loss-epochs",
            "divergence",
            "divergence-epochs",
            "too-few",
            "shrinks",
            "one-ack",
            "clean",
            "unclean",
        ),
    ),
    Row(
        "1d.9",
        "Lag is log end less committed; records-lag-max, records-lead-min, --describe. Who lags reads from disk, and "
        "zero copy is lost.",
        "So it is; the client's own metrics count from its position.",
        calls("lag"),
    ),
)
