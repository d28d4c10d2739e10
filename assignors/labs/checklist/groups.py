"""Section 1a of the checklist: groups, subscriptions and the consumer's API."""

from assignors.labs.checklist.model import Row, calls, delivery, protocol, whatif

ROWS: tuple[Row, ...] = (
    Row(
        "1a.1",
        "A partition is read by one member of a group; members beyond the number of partitions idle. One group is a "
        "queue, several groups are publish and subscribe.",
        "So it is.",
        (*calls("queue-and-broadcast"), *whatif("more-members-than-partitions", generation=0)),
    ),
    Row(
        "1a.2",
        "subscribe() replaces the subscription; topics, pattern and assigned partitions exclude each other; it counts "
        "from the next poll on; there are three ways to unsubscribe.",
        "So it is.",
        calls("subscribe-replaces", "subscription-modes", "unsubscribe"),
    ),
    Row(
        "1a.3",
        "A subscription by pattern needs a rebalance listener.",
        "No longer: the listener may be left out.",
        (*calls("pattern"), *protocol("pattern")),
    ),
    Row(
        "1a.4",
        "assign() takes no part in rebalances and nobody takes over; the group.id is for commits alone; not to be "
        "mixed with subscribe().",
        "So it is.",
        (*calls("assign", "no-group-id", "subscription-modes"), *delivery("standalone-refused")),
    ),
    Row(
        "1a.5",
        "A consumer is for one thread, wakeup() apart, which the next poll sees; pause() and resume() cause no "
        "rebalance; close() takes up to 30 s and commits; seek() needs an assignment.",
        "So it is.",
        calls("one-thread", "wakeup", "pause", "close", "seek"),
    ),
    Row(
        "1a.6",
        "poll() returns with data or after its timeout; the application's thread polls, another one sends heartbeats.",
        "poll(long) was removed in 4.0. Under KIP-848 the background thread does all the network's work.",
        (*calls("poll"), *protocol("slow")),
    ),
    Row(
        "1a.7",
        "A consumer per thread keeps the order, for as many threads as partitions; a fetcher with a pool of workers "
        "endangers order and commits, unless each partition has its own queue.",
        "So it is.",
        (
            *delivery("consumer-per-thread", "shared-pool", "worker-queues"),
            *whatif("more-members-than-partitions", generation=0),
        ),
    ),
    Row(
        "1a.8",
        "Interceptors: onConsume before poll returns, onCommit after the commit; what they throw is logged, and the "
        "chain goes on with what the last one has left. Dropping records that are 10 s old may drop the newest offset.",
        "So it is.",
        (*calls("interceptors"), *delivery("ttl", "interceptor-throws")),
    ),
    Row(
        "1a.9",
        "Deserializers of your own; records by partition or by topic; seek back after a failure; rewind a group by 100 "
        "when it gets partitions; keep offsets in your own store; make one topic wait for another.",
        "So it is; a deserializer that throws stops the consumer at its record until somebody seeks past it.",
        (
            *calls("by-partition", "seek-back", "rewind", "store", "flow-control"),
            *delivery("poison", "poison-skipped", "external-store", "per-partition"),
        ),
    ),
    Row(
        "1a.10",
        "A consumer asks any broker for its coordinator, connects to that and to the leader of each partition; "
        "connections idle for 9 minutes are closed, with -1 never.",
        "So it is (connections.max.idle.ms); the first connection falls idle once metadata comes from others.",
        calls("connections", "connections-stay"),
    ),
    Row(
        "1a.11",
        "The old consumer keeps offsets in ZooKeeper and commits every 60 s.",
        "Removed with that consumer in 2.0: offsets stand in __consumer_offsets, auto-commit comes every 5 s.",
        removed=True,
    ),
    Row(
        "1a.12",
        "The first broker that creates a node in ZooKeeper is the controller.",
        "Removed with ZooKeeper in 4.0: a quorum of controllers elects one of them by Raft (KRaft).",
        removed=True,
    ),
)
