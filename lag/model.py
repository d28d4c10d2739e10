"""What a cluster says at one moment: brokers, groups, members, offsets, and what could not be read.

Everything here is immutable. Unknown is None, and a reason stands beside it; it is never 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from assignors.model import TopicPartition
from lag.offsets import OffsetTable, PartitionLag

INTERNAL_GROUP_PREFIX = "groupscope-internal-"
"""Prefix of the group ids of our own readers; such groups are marked, and hidden from lists by default."""


def is_internal_group(group_id: str) -> bool:
    """Whether groupscope itself made that group."""
    return group_id.startswith(INTERNAL_GROUP_PREFIX)


class Remainder(StrEnum):
    """What a read_committed consumer can still read between a committed offset and the log end.

    MARKERS_ONLY: nothing; only transaction markers and aborted records are left.
    """

    RECORDS = "records"
    MARKERS_ONLY = "markers_only"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class UnreadRange:
    """The offsets of a partition from `first` to below `end`, which a group has not committed."""

    tp: TopicPartition
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Unread:
    """What a check of the log found in an `UnreadRange`: nothing that a read_committed consumer reads below `passed`.

    `has_records`: the batch after it has a record for such a consumer; `record_ms` is the timestamp of the first one,
    None if it has none. `reason`: why the log could not be read on.
    """

    passed: int
    has_records: bool = False
    reason: str | None = None
    record_ms: int | None = None


class GroupType(StrEnum):
    """Kafka's group types (`org.apache.kafka.common.GroupType`), in lower case."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"
    UNKNOWN = "unknown"


class Scope(StrEnum):
    """What a problem is about."""

    CLUSTER = "cluster"
    BROKER = "broker"
    GROUP = "group"
    TOPIC = "topic"
    PARTITION = "partition"


UNAUTHORIZED = "unauthorized"
"""The kind of a problem: the ACL on the resource that the problem names is missing."""

TOPICS_UNAUTHORIZED = "topics_unauthorized"
"""The kind of a group's problem: the ACL on one of its topics is missing, and the broker does not say on which."""

UNDECODED = "undecoded"
"""The kind of a group's problem: the subscription or assignment of a member cannot be decoded."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that could not be read: `kind` is a short stable word, `subject` names the broker, group or topic.

    In a snapshot, groups and topics with the same cause are one problem: `subject` names the first few of them.
    `cause` and `hint` are sentences for people. `affected` counts what is unknown because of it, if that is known.
    """

    kind: str
    scope: Scope
    subject: str
    cause: str
    hint: str = ""
    affected: int | None = None

    @property
    def is_refusal(self) -> bool:
        """Whether an ACL is missing."""
        return self.kind in (UNAUTHORIZED, TOPICS_UNAUTHORIZED)

    def __str__(self) -> str:
        subject = f"{self.scope} {self.subject}"
        named = "" if self.cause.startswith(subject) else f"{subject}: "
        return f"{named}{self.cause}. {self.hint}".rstrip()


MOST_NAMED = 3
"""Members that a problem names; of the others it has the number."""


def undecoded(group_id: str, members: Sequence[str]) -> Problem:
    """The group's problem that its members wrote what cannot be decoded; `members`: which, which part of it and why."""
    rest = len(members) - MOST_NAMED
    named = [*members[:MOST_NAMED], *([f"and {rest:,} more"] if rest > 0 else [])]
    hint = "Their client library writes it differently than Kafka's consumers: look at its version"
    return Problem(UNDECODED, Scope.GROUP, group_id, "; ".join(named), hint)


UNLISTED = "groups_unlisted"
"""The kind of a problem: groups are missing, since their coordinator does not list them yet, or has just changed."""


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as the cluster metadata names it, and how it answered: `error` is None if it did."""

    node_id: int
    host: str
    port: int
    rack: str | None = None
    error: str | None = None
    requests: int = 0
    busy_s: float = 0.0
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a live group.

    `epoch` is the KIP-848 member epoch; None for classic members, whose generation no request returns.
    `owned`, as of `generation`, are the partitions that a classic member reported in its last JoinGroup (None: not
    reported); `user_data` and `subscription_version` are those of the same subscription.
    `assigned` is the current assignment, sorted; `target` the target assignment (KIP-848 only, else None) in the order
    of the coordinator's maps, which decides what a member revokes first if topic ids share a bucket.
    `problem` is set when its subscription or assignment bytes could not be decoded.
    """

    member_id: str
    client_id: str = ""
    host: str = ""
    instance_id: str | None = None
    rack: str | None = None
    epoch: int | None = None
    topics: tuple[str, ...] = ()
    topic_regex: str | None = None
    assigned: tuple[TopicPartition, ...] = ()
    target: tuple[TopicPartition, ...] | None = None
    owned: tuple[TopicPartition, ...] | None = None
    generation: int | None = None
    user_data: bytes | None = None
    subscription_version: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class LagTotal:
    """A sum that says what it covers.

    `records` is None when `known` is 0 of more than 0 partitions, and of a group without partitions that could not be
    read or has members. So is `lost_records`, which also needs the log start.
    """

    records: int | None
    known: int
    partitions: int
    lost_records: int | None = None


def _only_undecoded(problems: Sequence[Problem]) -> bool:
    return bool(problems) and all(problem.kind == UNDECODED for problem in problems)


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """One group at one moment.

    `state` is as the broker reports it. `epoch` is the group epoch (KIP-848, share, streams; None for classic),
    `assignment_epoch` that of the target assignment. `partitions` holds one entry per partition that is
    committed, assigned or, for a subscribed group, part of a subscribed topic; sorted by (topic, partition).
    `complete` is False when anything of the group could not be read; `problems` says what.
    `internal` marks groups of groupscope's own readers. `protocol_type` is as the broker reports it, like "consumer" or
    "connect". `missing_topics`, sorted, are those that members subscribe to or are assigned, and that do not exist.
    """

    cluster: str
    group_id: str
    type: GroupType
    state: str
    coordinator: int | None
    assignor: str | None
    epoch: int | None
    members: tuple[Member, ...]
    partitions: Sequence[PartitionLag]
    at_ms: int
    complete: bool = True
    assignment_epoch: int | None = None
    problems: tuple[Problem, ...] = ()
    internal: bool = False
    protocol_type: str = ""
    missing_topics: tuple[str, ...] = ()

    @property
    def has_all_offsets(self) -> bool:
        """Whether a partition without a commit has none: only that could not be read which members wrote."""
        return self.complete or _only_undecoded(self.problems)

    @property
    def has_no_members(self) -> bool:
        """Whether the broker says so: a group that could not be described only seems to have none."""
        return not self.members and self.state.lower() in ("empty", "dead")


def is_internal(group: GroupSnapshot) -> bool:
    """Whether the group is groupscope's own or Kafka's (`__…`, `_confluent…`)."""
    return group.internal or group.group_id.startswith(("__", "_confluent"))


def is_described(group: GroupSnapshot, at_ms: int) -> bool:
    """Whether its state and members are those of the poll at that time, not of an earlier one, and could be read."""
    return group.at_ms == at_ms and (group.complete or bool(group.members) or group.has_no_members)


FOREVER = -1
"""The `retention.ms` of a topic whose records are not deleted by age."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the live cluster; `leaderless` lists partitions that have no leader.

    `retention_ms` is FOREVER when nothing is deleted by age, None while not known. `racks[p]` are the racks of
    partition p's replicas, None where no broker has a rack. `replicas[p]` and `in_sync[p]` are the node ids of its
    replicas, the preferred leader first, and of those in sync. These and `cleanup_policy` are None while not known.
    """

    name: str
    topic_id: str | None
    partitions: int
    internal: bool = False
    leaderless: tuple[int, ...] = ()
    retention_ms: int | None = None
    racks: tuple[tuple[str, ...], ...] | None = None
    problem: str | None = None
    replicas: tuple[tuple[int, ...], ...] | None = None
    in_sync: tuple[tuple[int, ...], ...] | None = None
    cleanup_policy: str | None = None


def is_created_again(known_id: str | None, topic_id: str | None) -> bool:
    """Whether a topic was deleted and created again between two answers; ids that are unknown do not show it."""
    return None not in (known_id, topic_id) and known_id != topic_id


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """All that one poll read. `groups` is sorted by id; `offsets` holds every partition's numbers as columns.

    `complete` is False when any broker, group or partition failed; `problems` says which and why. `offsets_leaders` are
    the leaders of the partitions of `__consumer_offsets` (None: no leader); empty if the topic is not visible.
    """

    cluster: str
    cluster_id: str | None
    number: int
    at_ms: int
    took_s: float
    complete: bool
    brokers: tuple[Broker, ...]
    controller: int | None
    groups: tuple[GroupSnapshot, ...]
    topics: Mapping[str, Topic]
    offsets: OffsetTable
    problems: tuple[Problem, ...] = ()
    offsets_leaders: tuple[int | None, ...] = ()
    by_group: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index = {g.group_id: i for i, g in enumerate(self.groups)}
        object.__setattr__(self, "by_group", MappingProxyType(index))

    @property
    def lists_every_group(self) -> bool:
        """Whether a group that is not here does not exist: only that could not be read which members wrote."""
        return self.complete or _only_undecoded(self.problems)

    def group(self, group_id: str) -> GroupSnapshot | None:
        """The group of that id, or None."""
        at = self.by_group.get(group_id)
        return None if at is None else self.groups[at]
