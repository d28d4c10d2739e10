"""The stories of the delivery lab: a lab, a failure, and what they teach."""

from dataclasses import dataclass

from assignors.labs.delivery.model import (
    Failure,
    FailureKind,
    Interceptor,
    Lab,
    OnPoison,
    Record,
    Strategy,
)


@dataclass(frozen=True, slots=True)
class Story:
    """A preset: `name` for links, `title` for people, `shows` in one sentence."""

    name: str
    title: str
    shows: str
    lab: Lab
    failure: Failure = Failure()  # noqa: RUF009 - frozen


_CRASH, _POLL, _BATCH = FailureKind.CRASH, 1, 5
_TTL = frozenset({Record(0, 1), Record(0, 4)})

STORIES: tuple[Story, ...] = (
    Story(
        "database",
        "Database inserts, then a commit",
        "Committed 10, five rows inserted, the process dies before the commit: it ends at 15 with five rows twice.",
        Lab(Strategy.SYNC, (15,), (10,)),
        Failure(_CRASH, _POLL + _BATCH),
    ),
    Story(
        "nothing-fails",
        "Nothing goes wrong",
        "Without a failure every strategy processes every record once.",
        Lab(Strategy.AUTO, (10,)),
    ),
    Story(
        "auto-commit-crash",
        "Auto-commit, and a crash in a batch",
        "Auto-commit sends what earlier polls returned, so what is done of this batch comes again.",
        Lab(Strategy.AUTO, (15,)),
        Failure(_CRASH, (_POLL + _BATCH) + 1 + _POLL + 3),
    ),
    Story(
        "auto-commit-exception",
        "Auto-commit, and processing throws",
        "finally { consumer.close() } commits the position: the rest of the batch is lost.",
        Lab(Strategy.AUTO, (10,)),
        Failure(FailureKind.EXCEPTION, _POLL + 2),
    ),
    Story(
        "commit-first",
        "Commit, then process",
        "At most once: what was committed and not yet processed is lost.",
        Lab(Strategy.COMMIT_FIRST, (10,)),
        Failure(_CRASH, _POLL + 1 + 2),
    ),
    Story(
        "per-partition",
        "Commit after each partition of a batch",
        "Only the partition in work when it dies comes again.",
        Lab(Strategy.PER_PARTITION, (4, 4), batch_records=8),
        Failure(_CRASH, _POLL + 4 + 1 + 2),
    ),
    Story(
        "every-n",
        "Commit after every third record",
        "At most n records come twice, whatever the size of the batch.",
        Lab(Strategy.EVERY_N, (10,), batch_records=10, every_records=3),
        Failure(_CRASH, _POLL + 3 + 1 + 2),
    ),
    Story(
        "every-n-from-zero",
        "Commit when count % 3 == 0, counted from 0",
        "The first commit comes after one record, not after three.",
        Lab(Strategy.EVERY_N_FROM_ZERO, (10,), batch_records=10, every_records=3),
        Failure(_CRASH, _POLL + 1 + 1 + 2),
    ),
    Story(
        "async-commit-lost",
        "commitAsync, and one commit is lost",
        "Nobody sends it again; the next one covers it, unless the process dies before.",
        Lab(Strategy.ASYNC, (6,), batch_records=2),
        Failure(_CRASH, 4 + _POLL + 1, frozenset({0})),
    ),
    Story(
        "async-retry",
        "commitAsync that sends a failed commit again",
        "The old commit arrives behind a newer one and sets the group back.",
        Lab(Strategy.ASYNC_RETRY, (6,), batch_records=2),
        Failure(_CRASH, 4 + 4 + 1, frozenset({0})),
    ),
    Story(
        "poll-interval",
        "Too slow for max.poll.interval.ms",
        "The group goes on without the slow consumer while that goes on itself: two process at once.",
        Lab(Strategy.SYNC, (10,)),
        Failure(FailureKind.KICKED, _POLL + 2),
    ),
    Story(
        "external-store",
        "Results and offset in one transaction",
        "Exactly once, wherever it dies: the store holds both or neither.",
        Lab(Strategy.EXTERNAL, (8,), batch_records=4),
        Failure(_CRASH, _POLL + 3),
    ),
    Story(
        "fenced-store",
        "One transaction, and a consumer that is too slow",
        "The store knows a newer owner and refuses the late transactions.",
        Lab(Strategy.EXTERNAL, (4,)),
        Failure(FailureKind.KICKED, _POLL + 2),
    ),
    Story(
        "eager",
        "A planned rebalance, eager",
        "Auto-commit covers everything before the partitions are given up: nothing comes twice.",
        Lab(Strategy.AUTO, (10,)),
        Failure(FailureKind.EAGER, _POLL + 2),
    ),
    Story(
        "cooperative",
        "A planned rebalance, cooperative",
        "Poll returns records while it joins; giving up the partitions commits nothing, so they come again.",
        Lab(Strategy.AUTO, (10,)),
        Failure(FailureKind.COOPERATIVE, _POLL + 2),
    ),
    Story(
        "commit-on-revoke",
        "Cooperative, with a commit in onPartitionsRevoked",
        "The fix for the previous story.",
        Lab(Strategy.AUTO, (10,), commits_on_revoke=True),
        Failure(FailureKind.COOPERATIVE, _POLL + 2),
    ),
    Story(
        "ttl",
        "An interceptor drops expired records",
        "Where the last record is dropped, the offsets that the application knows of end before it.",
        Lab(Strategy.PER_PARTITION, (5,), interceptor=Interceptor.DROPS, expired=_TTL),
    ),
    Story(
        "interceptor-throws",
        "An interceptor throws",
        "Kafka logs it and goes on without it: what is expired gets processed.",
        Lab(Strategy.SYNC, (5,), interceptor=Interceptor.THROWS, expired=_TTL),
    ),
    Story(
        "poison",
        "A record that cannot be deserialized",
        "Every poll throws at the same record; a restart does not help.",
        Lab(Strategy.SYNC, (5,), poison=Record(0, 2)),
        Failure(_CRASH, _POLL + 2 + 1 + 1),
    ),
    Story(
        "poison-skipped",
        "Seek past the record that cannot be deserialized",
        "That one record is left out, the others go on.",
        Lab(Strategy.SYNC, (5,), poison=Record(0, 2), on_poison=OnPoison.SKIP),
    ),
    Story(
        "consumer-per-thread",
        "A thread and a consumer for each partition: one of them",
        "Each thread does this with its own partition: order is kept, and a crash repeats at most one batch of each.",
        Lab(Strategy.SYNC, (7,), batch_records=3),
        Failure(_CRASH, _POLL + 3 + 1 + _POLL + 2),
    ),
    Story(
        "shared-pool",
        "Auto-commit, and workers on one shared queue",
        "What waits in the queue is committed already: a crash loses it, and the order is lost in any case.",
        Lab(Strategy.WORKERS_SHARED, (6,), batch_records=3),
        Failure(_CRASH, _POLL + 2 + 1 + _POLL),
    ),
    Story(
        "worker-queues",
        "Workers with a queue per partition",
        "Order is kept, and only what is finished is committed.",
        Lab(Strategy.WORKERS_QUEUES, (3, 4), batch_records=3),
        Failure(_CRASH, _POLL + 1),
    ),
    Story(
        "standalone-refused",
        "A standalone consumer with the same group.id commits",
        "While the group has members, its commit is refused.",
        Lab(Strategy.SYNC, (5,)),
        Failure(FailureKind.OUTSIDER_REFUSED, _POLL + 1, outsider=(4,)),
    ),
    Story(
        "standalone-rewinds",
        "A standalone consumer commits an old offset",
        "An empty group takes any commit: this one sets it back.",
        Lab(Strategy.SYNC, (6,), batch_records=3),
        Failure(FailureKind.OUTSIDER_ACCEPTED, _POLL + 3 + 1, outsider=(1,)),
    ),
    Story(
        "standalone-skips",
        "A standalone consumer commits ahead",
        "An empty group takes any commit: what lies between is lost.",
        Lab(Strategy.SYNC, (6,), batch_records=3),
        Failure(FailureKind.OUTSIDER_ACCEPTED, _POLL + 3 + 1, outsider=(5,)),
    ),
)
"""The first is the database example of the checklist."""
