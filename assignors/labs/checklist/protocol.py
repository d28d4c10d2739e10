"""Section 1c of the checklist: rebalances, coordinators, errors and timeouts."""

from assignors.labs.checklist.model import Row, calls, delivery, protocol, whatif

ROWS: tuple[Row, ...] = (
    Row(
        "1c.1",
        "A group rebalances when its members, its topics or their partitions change; partitions only ever grow.",
        "So it is; and when the leader joins again, a subscription changes or a rack does.",
        (
            *protocol("join", "leave", "new-topic", "pattern", "partitions"),
            *calls("generation-fencing"),
            *whatif("topic-growth", "rack-aware", "checkout-scales-out"),
        ),
    ),
    Row(
        "1c.2",
        "A group is Empty, PreparingRebalance, CompletingRebalance, Stable or Dead.",
        "So it is; Empty is reached through PreparingRebalance, with a generation more.",
        calls("states"),
    ),
    Row(
        "1c.3",
        "JoinGroup, SyncGroup, Heartbeat, LeaveGroup: the first to join leads, only the leader's SyncGroup carries a "
        "plan, and a heartbeat's answer tells of the rebalance.",
        "So it is; the answer is REBALANCE_IN_PROGRESS (27).",
        calls("join-and-sync", "commit-in-rebalance"),
    ),
    Row(
        "1c.4",
        "What the broker does when a member joins, leaves, crashes, or commits during a rebalance.",
        "So it is: PreparingRebalance still takes commits of the old generation.",
        (*protocol("join", "leave", "crash"), *calls("commit-in-rebalance")),
    ),
    Row(
        "1c.5",
        "The coordinator leads the partition of __consumer_offsets that the group id's hash names.",
        "abs(hash) mod 50, where Kafka takes 0 for the one hash that has no positive counterpart.",
        calls("finder"),
    ),
    Row(
        "1c.6",
        "The consumer is down, discovers, is part of the group, rediscovers or has stopped; the coordinator is down, "
        "catches up, is ready, prepares, rebalances or is steady.",
        "Names of a design of 2014. Catching up is loading, ready and steady are Stable, rebalancing is "
        "CompletingRebalance.",
        (*protocol("failover"), *calls("states", "failover-stable")),
    ),
    Row(
        "1c.7",
        "Errors: IllegalGeneration on a heartbeat, CoordinatorStartupNotComplete, NotCoordinatorForGroup, "
        "UnknownConsumer, InconsistentPartitioningStrategy, UnknownPartitioningStrategy; ConsumerMetadataRequest.",
        "REBALANCE_IN_PROGRESS (27), COORDINATOR_LOAD_IN_PROGRESS (14), NOT_COORDINATOR (16), UNKNOWN_MEMBER_ID (25), "
        "INCONSISTENT_GROUP_PROTOCOL (23), under KIP-848 UNSUPPORTED_ASSIGNOR (112); FindCoordinator.",
        calls("errors", "failover-stable", "failover-joining", "broker-errors"),
    ),
    Row(
        "1c.8",
        "JoinGroup gives a member its id; who joins again without it costs the group a session timeout.",
        "Since KIP-394 the first JoinGroup is answered MEMBER_ID_REQUIRED (79) with an id, and the second one enters; "
        "an id that is never used holds up the next join phase only.",
        calls("member-id", "id-never-used"),
    ),
    Row(
        "1c.9",
        "A member is alive while its heartbeats come; how often is the session timeout over a frequency, and only poll "
        "sends them.",
        "heartbeat.interval.ms says how often; a thread of its own sends them since 0.10.1.",
        (*calls("failure-detection"), *protocol("crash", "zombie", "split")),
    ),
    Row(
        "1c.10",
        "Every rebalance raises the generation, even with the same members; commits of an older one are refused; no "
        "session ends while a JoinGroup waits for its answer.",
        "So it is; but a newcomer's wait ends after 5 minutes.",
        (*calls("generation-fencing", "parked-join", "parked-newcomer"), *protocol("zombie")),
    ),
    Row(
        "1c.11",
        "A coordinator can fail at five moments: before anything, when some have been told, in the join phase, before "
        "the new generation is written, and after.",
        "Written are the group with its plan, and offsets: what was not written is forgotten, and its number is given "
        "once more.",
        (
            *calls("failover-stable", "failover-told", "failover-joining", "failover-not-written", "failover-written"),
            *protocol("failover"),
        ),
    ),
    Row(
        "1c.12",
        "A consumer that processes for too long loses its place, in seven steps.",
        "Its client leaves after max.poll.interval.ms; in a rebalance that goes on already, the coordinator drops it "
        "at the rebalance timeout, and it comes back with the next generation.",
        (*protocol("slow"), *calls("slow-consumer"), *delivery("poll-interval")),
    ),
    Row(
        "1c.13",
        "To avoid rebalances: a session of 6 s with heartbeats every 2 s, at least three in a session; a longer "
        "max.poll.interval.ms; short pauses of the garbage collector.",
        "6 s is the least that brokers take today; the defaults are 45 s and 3 s. Static members help as well.",
        (*protocol("short-session", "session-covers-a-pause", "static"), *calls("static-member")),
    ),
    Row(
        "1c.14",
        "session.timeout.ms is 10 s; a crash is found within it, be it 5 minutes; a job of 2 minutes needs a "
        "max.poll.interval.ms just above; heartbeats are more frequent than the session.",
        "45 s since 3.0; the rest holds.",
        protocol("crash", "long-session", "long-job"),
    ),
    Row(
        "1c.15",
        "CommitFailedException has two causes: max.poll.interval.ms is over, or a standalone consumer has the same "
        "group.id.",
        "Both still hold.",
        (
            *delivery("poll-interval", "standalone-refused", "standalone-rewinds", "standalone-skips"),
            *calls("standalone-commit"),
        ),
    ),
    Row(
        "1c.16",
        "A rebalance is dear: all stop, all is dealt anew, and it takes long.",
        "True of the eager protocol only; the cooperative one and KIP-848 stop what moves.",
        (*protocol("stop-the-world", "rolling"), *delivery("eager", "cooperative", "commit-on-revoke")),
    ),
)
