"""The case that each group of the demo shows, and its expected verdict."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from lag.embedded.workload import plan
from lag.verdict.status import Status


@dataclass(frozen=True, slots=True)
class Case:
    """One group, the verdict on the whole group, and what it shows."""

    group_id: str
    status: Status
    title: str
    shown: str


def describe(deleted: Collection[str] = ()) -> tuple[Case, ...]:
    """Every case of the demo, healthy ones first; `deleted`: the topics that the panel has deleted."""
    topics = {group.group_id: group.topics for group in plan.GROUPS}
    return tuple(
        _without(case, topics[case.group_id]) if _is_all(topics[case.group_id], deleted) else case for case in _CASES
    )


def _is_all(topics: Iterable[str], deleted: Collection[str]) -> bool:
    return all(topic in deleted for topic in topics)


def _without(case: Case, topics: Sequence[str]) -> Case:
    gone = f"topic {topics[0]} was" if len(topics) == 1 else f"topics {' and '.join(topics)} were"
    return replace(case, status=Status.NO_PARTITIONS, shown=f"Its {gone} deleted: nothing is left to read.")


_CASES = (
    Case(
        "order-fulfilment",
        Status.OK,
        "Classic group, range",
        "Three members share six partitions, two each. Every rebalance stops all of them (eager).",
    ),
    Case(
        "payment-settlement",
        Status.OK,
        "Cooperative-sticky, static members",
        "Three members with a group.instance.id. One that is killed and started again within its session timeout "
        "gets its partitions back without a rebalance.",
    ),
    Case(
        "clickstream-sessions",
        Status.OK,
        "Consumer group (KIP-848)",
        "The broker assigns eight partitions to three members; each has a member epoch.",
    ),
    Case(
        "email-dispatch",
        Status.OK,
        "Share group (KIP-932)",
        "Two members acquire individual records from all partitions; no member owns a partition.",
    ),
    Case(
        "fraud-scoring",
        Status.OK,
        "One member on two topics",
        "Reads alongside order-fulfilment and payment-settlement, with its own commits.",
    ),
    Case(
        "search-indexer",
        Status.OK,
        "Classic group, roundrobin",
        "Round robin over two topics with seven partitions: one of two members has four, the other three.",
    ),
    Case(
        "invoice-rendering",
        Status.OK,
        "More members than partitions",
        "Four members, two partitions: two members have nothing to do.",
    ),
    Case(
        "ledger-export",
        Status.OK,
        "Simple consumer",
        "Assigns its own partitions and commits: the committed offsets move, but the group never has a member.",
    ),
    Case(
        "settlement-reporting",
        Status.OK,
        "Only the transaction marker is left",
        "Everything is read: the commit marker is the last entry of each partition, so the lag stays at 1.",
    ),
    Case(
        "receipt-archive",
        Status.CATCHING_UP,
        "Catching up",
        "Reads 30 records a second where 2 arrive. When little lag is left, more records are produced.",
    ),
    Case(
        "warehouse-loader",
        Status.FALLING_BEHIND,
        "Falling behind",
        "Reads 3 records a second where 6 arrive: the lag grows steadily, and it will never drain.",
    ),
    Case(
        "loyalty-points",
        Status.STOPPED,
        "Stopped",
        "Its member is in the group and sends heartbeats, but commits nothing, while records arrive.",
    ),
    Case(
        "shipment-tracking",
        Status.STALLED,
        "Stalled on one partition",
        "Partition 2 stays at offset 10, while the other three are read as records arrive.",
    ),
    Case(
        "ad-attribution",
        Status.REWOUND,
        "Rewinds",
        "A member that has read its partition seeks back 200 records, commits that offset and reads them again for "
        "40 s.",
    ),
    Case(
        "recommendation-training",
        Status.NEVER_COMMITTED,
        "Polls, never commits",
        "Its member reads all it is given and commits nothing: its progress is unknown.",
    ),
    Case(
        "price-sync",
        Status.NEVER_COMMITTED,
        "One partition never committed",
        "Began at the latest offset; nothing has arrived in partition 2 since, so it has no commit there. The 25 "
        "records in it are unread.",
    ),
    Case(
        "nightly-reconciliation",
        Status.NO_MEMBERS,
        "Empty, with commits",
        "The group has no members; 40 records wait in partition 0 and 20 in partition 2.",
    ),
    Case(
        "transfer-posting",
        Status.HELD,
        "Held by an open transaction",
        "Reads committed records only and has read up to the last stable offset; a transaction that stays open "
        "holds the records behind it.",
    ),
    Case(
        "legacy-crm-sync",
        Status.TOPIC_DELETED,
        "Commits of a deleted topic",
        "The topic is gone, but its committed offsets 40 and 60 are still there.",
    ),
    Case(
        "coupon-redemption",
        Status.BEYOND_END,
        "Commits beyond the end",
        "The topic was deleted and created again: 30 records in each partition, but the commits say 80.",
    ),
    Case(
        "audit-archive",
        Status.LOST,
        "Commits below the log start",
        "Records were deleted before they were read: 200 of partition 0 and 50 of partition 1 are lost; 450 are "
        "still there to be read.",
    ),
)
