"""The case that each group of the demo shows, and its expected state and verdict."""

from dataclasses import dataclass

from lag.model import GroupType
from lag.offsets import PartitionProblem
from lag.verdict.status import Status


@dataclass(frozen=True, slots=True)
class Case:
    """One group and its expected appearance.

    `state`: the group's state once it is stable; `status`: the verdict on the whole group; `problem`: the problem of
    some or all of its partitions.
    """

    group_id: str
    topics: tuple[str, ...]
    title: str
    shown: str
    type: GroupType
    state: str
    status: Status
    problem: PartitionProblem | None = None


def describe() -> tuple[Case, ...]:
    """Every case of the demo, healthy ones first."""
    return _CASES


_CASES = (
    Case(
        "order-fulfilment",
        ("orders",),
        "Classic group, range",
        "Three members share six partitions, two each. Every rebalance stops all of them (eager).",
        GroupType.CLASSIC,
        "Stable",
        Status.OK,
    ),
    Case(
        "payment-settlement",
        ("payments",),
        "Cooperative-sticky, static members",
        "Three members with a group.instance.id. One that is killed and started again within its session timeout "
        "gets its partitions back without a rebalance.",
        GroupType.CLASSIC,
        "Stable",
        Status.OK,
    ),
    Case(
        "clickstream-sessions",
        ("clickstream",),
        "Consumer group (KIP-848)",
        "The broker assigns eight partitions to three members; each has a member epoch.",
        GroupType.CONSUMER,
        "Stable",
        Status.OK,
    ),
    Case(
        "email-dispatch",
        ("notifications",),
        "Share group (KIP-932)",
        "Two members take records one by one from all partitions; no member owns a partition.",
        GroupType.SHARE,
        "Stable",
        Status.OK,
    ),
    Case(
        "fraud-scoring",
        ("orders", "payments"),
        "One member on two topics",
        "Reads beside order-fulfilment and payment-settlement, with its own commits.",
        GroupType.CONSUMER,
        "Stable",
        Status.OK,
    ),
    Case(
        "search-indexer",
        ("inventory", "product-updates"),
        "Classic group, roundrobin",
        "Round robin over two topics with seven partitions: one of two members has four, the other three.",
        GroupType.CLASSIC,
        "Stable",
        Status.OK,
    ),
    Case(
        "invoice-rendering",
        ("invoices",),
        "More members than partitions",
        "Four members, two partitions: two members have nothing to do.",
        GroupType.CLASSIC,
        "Stable",
        Status.OK,
    ),
    Case(
        "ledger-export",
        ("ledger-entries",),
        "Simple consumer",
        "Names its partitions itself and commits: the group has commits that move, but never a member.",
        GroupType.CLASSIC,
        "Empty",
        Status.OK,
    ),
    Case(
        "settlement-reporting",
        ("settlement-batches",),
        "Only the transaction marker is left",
        "Everything is read: the commit marker is the last entry of each partition, so the lag stays at 1.",
        GroupType.CONSUMER,
        "Stable",
        Status.OK,
    ),
    Case(
        "receipt-archive",
        ("receipts",),
        "Catching up",
        "Reads 30 records a second where 2 arrive. When little is left, more is put before it.",
        GroupType.CLASSIC,
        "Stable",
        Status.CATCHING_UP,
    ),
    Case(
        "warehouse-loader",
        ("page-views",),
        "Falling behind",
        "Reads 3 records a second where 6 arrive: the lag grows steadily, and it will never drain.",
        GroupType.CLASSIC,
        "Stable",
        Status.FALLING_BEHIND,
    ),
    Case(
        "loyalty-points",
        ("loyalty-events",),
        "Stopped",
        "Its member is in the group and sends heartbeats, but commits nothing, while records arrive.",
        GroupType.CLASSIC,
        "Stable",
        Status.STOPPED,
    ),
    Case(
        "shipment-tracking",
        ("shipments",),
        "Stalled on one partition",
        "Partition 2 stays at offset 10, while the other three are read as records arrive.",
        GroupType.CONSUMER,
        "Stable",
        Status.STALLED,
    ),
    Case(
        "ad-attribution",
        ("ad-clicks",),
        "Rewinds",
        "A member that has read its partition seeks back 200 records, commits that, and reads them again for 40 s.",
        GroupType.CLASSIC,
        "Stable",
        Status.REWOUND,
    ),
    Case(
        "recommendation-training",
        ("product-views",),
        "Polls, never commits",
        "Its member reads all it is given and commits nothing: how far it is cannot be known.",
        GroupType.CLASSIC,
        "Stable",
        Status.NEVER_COMMITTED,
        PartitionProblem.NO_COMMIT,
    ),
    Case(
        "price-sync",
        ("price-changes",),
        "One partition never committed",
        "Began at the latest offset; nothing has arrived in partition 2 since, so it has no commit there. "
        "The 25 records in it are unread.",
        GroupType.CLASSIC,
        "Stable",
        Status.NEVER_COMMITTED,
        PartitionProblem.NO_COMMIT,
    ),
    Case(
        "nightly-reconciliation",
        ("bank-statements",),
        "Empty, with commits",
        "The group has no members; 40 records wait in partition 0 and 20 in partition 2.",
        GroupType.CLASSIC,
        "Empty",
        Status.NO_MEMBERS,
    ),
    Case(
        "transfer-posting",
        ("card-transfers",),
        "Held by an open transaction",
        "Reads committed records only and has read up to the last stable offset; a transaction that stays open "
        "holds the records behind it.",
        GroupType.CLASSIC,
        "Stable",
        Status.HELD,
    ),
    Case(
        "legacy-crm-sync",
        ("crm-contacts",),
        "Commits of a deleted topic",
        "The topic is gone, its commits 40 and 60 are still there.",
        GroupType.CLASSIC,
        "Empty",
        Status.TOPIC_DELETED,
        PartitionProblem.TOPIC_DELETED,
    ),
    Case(
        "coupon-redemption",
        ("coupons",),
        "Commits beyond the end",
        "The topic was deleted and created again: 30 records in each partition, but the commits say 80.",
        GroupType.CLASSIC,
        "Empty",
        Status.BEYOND_END,
        PartitionProblem.BEYOND_END,
    ),
    Case(
        "audit-archive",
        ("audit-log",),
        "Commits below the log start",
        "Records were deleted before they were read: 200 of partition 0 and 50 of partition 1 are lost; "
        "450 are still there to be read.",
        GroupType.CLASSIC,
        "Empty",
        Status.LOST,
        PartitionProblem.BELOW_LOG_START,
    ),
)
