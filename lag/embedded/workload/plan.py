"""The topics and groups of the demo, and how each group behaves.

Plain data; the expected verdicts are in `expected_verdicts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

HOUR_S = 3600


class Protocol(StrEnum):
    """How the members of a group share its partitions."""

    RANGE = "range"
    ROUNDROBIN = "roundrobin"
    COOPERATIVE = "cooperative-sticky"
    CONSUMER = "consumer"  # KIP-848
    SHARE = "share"  # KIP-932
    ASSIGN = "assign"  # no membership: the client assigns its own partitions


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic: `seed` records per partition before anything starts, then `rate_per_s` records a second in all.

    The steady records go to the partitions `fed` (None: to all). `keeps_s` is the retention; None keeps everything,
    in topics whose case depends on every record.
    """

    name: str
    partitions: int
    seed: int = 0
    rate_per_s: float = 0.0
    fed: tuple[int, ...] | None = None
    keeps_s: int | None = None


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A group and the behaviour of its members.

    `own_process`: each member runs in its own process, which the panel may kill or freeze; else members are threads.
    `committed` holds offsets per topic and partition that are committed before the first member joins.
    `pace_per_s` bounds the records that a member reads in a second. Partitions in `paused` are never read.
    A member with `commits_records` commits the offset after the last record itself; other clients' commits also pass
    transaction markers. A member that has read everything goes back by `rewinds_by` records. When fewer than
    `refill_below` records of a partition are left, `refill` more are produced to it.
    """

    group_id: str
    topics: tuple[str, ...]
    protocol: Protocol
    members: int = 1
    own_process: bool = False
    static: bool = False
    from_latest: bool = False
    commits: bool = True
    commits_records: bool = False
    committed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    pace_per_s: int | None = None
    paused: tuple[int, ...] = ()
    rewinds_by: int = 0
    refill: int = 0
    refill_below: int = 0


BROKER_PROPERTIES: Mapping[str, str] = {
    "group.consumer.heartbeat.interval.ms": "1500",
    "group.consumer.min.heartbeat.interval.ms": "1500",
    "group.consumer.session.timeout.ms": "12000",
    "group.consumer.min.session.timeout.ms": "12000",
    "group.share.heartbeat.interval.ms": "1500",
    "group.share.min.heartbeat.interval.ms": "1500",
    "group.share.session.timeout.ms": "12000",
    "group.share.min.session.timeout.ms": "12000",
    "offsets.retention.minutes": "525600",
}
"""Broker properties that suit the demo: new groups become stable, and killed members are removed, within seconds
instead of a minute; commits of groups without members stay for a year. Without them, the workload is only slower."""

OFFSETS_TOPIC = "__consumer_offsets"
DELETED_TOPIC = TopicPlan("crm-contacts", 2, seed=80)
RECREATED_TOPIC = TopicPlan("coupons", 2, seed=80)
RECREATED_RECORDS = 30
TRUNCATED_TOPIC = "audit-log"
TRUNCATED_BEFORE = (300, 250)
HELD_TOPIC = "card-transfers"
MARKER_TOPIC = "settlement-batches"
TRIMMED = {"warehouse-loader": "page-views", "shipment-tracking": "shipments", "price-sync": "price-changes"}
"""Groups with unread records that must stay, and their topics: what is read is deleted, to keep the disk small."""
BATCH_RECORDS = 50

TOPICS: tuple[TopicPlan, ...] = (
    TopicPlan("orders", 6, seed=50, rate_per_s=12, keeps_s=HOUR_S),
    TopicPlan("payments", 6, seed=50, rate_per_s=8, keeps_s=HOUR_S),
    TopicPlan("clickstream", 8, seed=50, rate_per_s=16, keeps_s=HOUR_S),
    TopicPlan("notifications", 4, seed=20, rate_per_s=4, keeps_s=HOUR_S),
    TopicPlan("product-updates", 4, seed=20, rate_per_s=3, keeps_s=HOUR_S),
    TopicPlan("inventory", 3, seed=20, rate_per_s=3, keeps_s=HOUR_S),
    TopicPlan("invoices", 2, seed=20, rate_per_s=2, keeps_s=HOUR_S),
    TopicPlan("ledger-entries", 2, seed=20, rate_per_s=2, keeps_s=HOUR_S),
    TopicPlan("product-views", 3, seed=40, rate_per_s=3, keeps_s=HOUR_S),
    TopicPlan("loyalty-events", 3, seed=60, rate_per_s=1.5),
    TopicPlan("shipments", 4, seed=40, rate_per_s=2),
    TopicPlan("ad-clicks", 2, seed=1000, rate_per_s=0.5, keeps_s=HOUR_S),
    TopicPlan("price-changes", 3, seed=25, rate_per_s=2, fed=(0, 1)),
    TopicPlan("page-views", 3, seed=200, rate_per_s=6),
    TopicPlan("receipts", 3, seed=6000, rate_per_s=2, keeps_s=2 * HOUR_S),
    TopicPlan("bank-statements", 3, seed=100),
    TopicPlan(TRUNCATED_TOPIC, 2, seed=500),
    TopicPlan(HELD_TOPIC, 1, seed=100),
    TopicPlan(MARKER_TOPIC, 2),
    DELETED_TOPIC,
    RECREATED_TOPIC,
)

GROUPS: tuple[GroupPlan, ...] = (
    GroupPlan("order-fulfilment", ("orders",), Protocol.RANGE, members=3, own_process=True),
    GroupPlan("payment-settlement", ("payments",), Protocol.COOPERATIVE, members=3, own_process=True, static=True),
    GroupPlan("clickstream-sessions", ("clickstream",), Protocol.CONSUMER, members=3, own_process=True),
    GroupPlan("email-dispatch", ("notifications",), Protocol.SHARE, members=2, own_process=True),
    GroupPlan("fraud-scoring", ("orders", "payments"), Protocol.CONSUMER),
    GroupPlan("search-indexer", ("inventory", "product-updates"), Protocol.ROUNDROBIN, members=2),
    GroupPlan("invoice-rendering", ("invoices",), Protocol.RANGE, members=4),
    GroupPlan("ledger-export", ("ledger-entries",), Protocol.ASSIGN),
    GroupPlan("recommendation-training", ("product-views",), Protocol.RANGE, commits=False),
    GroupPlan(
        "loyalty-points",
        ("loyalty-events",),
        Protocol.COOPERATIVE,
        commits=False,
        committed={"loyalty-events": (50, 50, 50)},
        paused=(0, 1, 2),
    ),
    GroupPlan(
        "shipment-tracking",
        ("shipments",),
        Protocol.CONSUMER,
        committed={"shipments": (40, 40, 10, 40)},
        paused=(2,),
    ),
    GroupPlan(
        "ad-attribution",
        ("ad-clicks",),
        Protocol.RANGE,
        members=2,
        committed={"ad-clicks": (1000, 1000)},
        pace_per_s=5,
        commits_records=True,
        rewinds_by=200,
    ),
    GroupPlan("price-sync", ("price-changes",), Protocol.RANGE, from_latest=True),
    GroupPlan(
        "warehouse-loader",
        ("page-views",),
        Protocol.COOPERATIVE,
        members=3,
        committed={"page-views": (20, 20, 20)},
        pace_per_s=1,
    ),
    GroupPlan(
        "receipt-archive",
        ("receipts",),
        Protocol.RANGE,
        members=3,
        committed={"receipts": (0, 0, 0)},
        pace_per_s=10,
        refill=12_000,
        refill_below=300,
    ),
    GroupPlan("transfer-posting", (HELD_TOPIC,), Protocol.RANGE),
    GroupPlan("settlement-reporting", (MARKER_TOPIC,), Protocol.CONSUMER, commits_records=True),
    GroupPlan(
        "nightly-reconciliation",
        ("bank-statements",),
        Protocol.RANGE,
        members=0,
        committed={"bank-statements": (60, 100, 80)},
    ),
    GroupPlan(
        "legacy-crm-sync", (DELETED_TOPIC.name,), Protocol.RANGE, members=0, committed={DELETED_TOPIC.name: (40, 60)}
    ),
    GroupPlan(
        "coupon-redemption",
        (RECREATED_TOPIC.name,),
        Protocol.RANGE,
        members=0,
        committed={RECREATED_TOPIC.name: (80, 80)},
    ),
    GroupPlan("audit-archive", (TRUNCATED_TOPIC,), Protocol.RANGE, members=0, committed={TRUNCATED_TOPIC: (100, 200)}),
)

PLAYABLE_TOPICS = frozenset({"orders", "payments", "clickstream", "notifications", "inventory", "product-updates"})
"""Topics that the panel may burst, grow or delete: no permanent case depends on them."""


def playable_groups() -> tuple[GroupPlan, ...]:
    """The groups whose members the panel may add, kill, freeze and stop."""
    return tuple(group for group in GROUPS if group.own_process)


def partitions_of(topic: str) -> int:
    """The number of partitions that the topic is created with."""
    return next(planned.partitions for planned in TOPICS if planned.name == topic)
