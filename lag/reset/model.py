"""A plan to change a group, and what it is made from. Unknown is None, with a reason beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assignors.model import TopicPartition
from lag.model import GroupType, Member, Problem
from lag.offsets import PartitionLag

EMPTY = "Empty"
"""The state of a group with committed offsets and without members."""

DEAD = "Dead"
"""The state of a group that does not exist, as `kafka-consumer-groups` reports it."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A committed offset with its metadata (Kafka: `OffsetAndMetadata`); Kafka Streams keeps its time in the latter."""

    offset: int
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A group's position in one partition. `compacted` is None while the topic's `cleanup.policy` is not known."""

    lag: PartitionLag
    metadata: str = ""
    topic_id: str | None = None
    compacted: bool | None = None

    @property
    def commit(self) -> Commit | None:
        """What the group has committed; None: nothing."""
        return None if self.lag.committed is None else Commit(self.lag.committed, self.metadata)


@dataclass(frozen=True, slots=True)
class GroupReading:
    """A group as it was read at `at_ms`; `type` is None and the state DEAD if it does not exist.

    `positions` has every committed partition, and every partition of the topics that were asked for.
    """

    cluster_id: str | None
    group_id: str
    at_ms: int
    type: GroupType | None
    state: str
    epoch: int | None
    members: tuple[Member, ...]
    positions: Mapping[TopicPartition, Position]
    problems: tuple[Problem, ...] = ()
    coordinator: int | None = None

    @property
    def is_active(self) -> bool:
        """Whether it has members, or is in a state in which Kafka refuses to change its offsets."""
        return bool(self.members) or self.state not in (EMPTY, DEAD)


@dataclass(frozen=True, slots=True)
class RecordHead:
    """A record without its value, which is only there if it was asked for. `value_bytes` is None for a tombstone.

    A marker of a transaction has no key and no value: `is_marker`.
    """

    offset: int
    timestamp_ms: int
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    value_bytes: int | None = None
    value: bytes | None = None
    is_marker: bool = False


class Kind(StrEnum):
    """What a plan changes."""

    OFFSETS = "offsets"
    DELETE_GROUP = "delete_group"
    REMOVE_MEMBER = "remove_member"


class Action(StrEnum):
    """What is done with the committed offset of a partition. NONE: it cannot be planned, `reason` says why."""

    SET = "set"
    DELETE = "delete"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """The change in one partition: offset `from_offset` (None: no commit) becomes `to_offset` (None: no commit).

    `topic_is_gone`: its topic does not exist, and nothing can be committed for it. `asked_offset` is the offset that
    was asked for where the log does not reach that far. `from_ms` and `to_ms` are the times of the first record at or
    after each offset. `read_again`, `skipped` and `deleted` (before they were read) count offsets; `gaps` counts those
    of the first two that have no record (compaction, markers of transactions). `reason` says why the action is NONE;
    `notes` why a value is None.
    """

    tp: TopicPartition
    action: Action
    from_offset: int | None = None
    to_offset: int | None = None
    from_metadata: str = ""
    to_metadata: str = ""
    topic_id: str | None = None
    topic_is_gone: bool = False
    asked_offset: int | None = None
    log_start: int | None = None
    log_end: int | None = None
    last_stable: int | None = None
    from_ms: int | None = None
    to_ms: int | None = None
    read_again: int | None = None
    skipped: int | None = None
    deleted: int = 0
    gaps: int | None = None
    lag_before: int | None = None
    lag_after: int | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    records: tuple[RecordHead, ...] = ()

    @property
    def is_change(self) -> bool:
        """Whether something is to be written: an offset that stays is not."""
        return self.action is Action.DELETE or (self.action is Action.SET and self.from_offset != self.to_offset)

    @property
    def held_records(self) -> int:
        """Offsets between the last stable offset and the log end: records of open transactions."""
        if self.last_stable is None or self.log_end is None:
            return 0
        return max(0, self.log_end - self.last_stable)


@dataclass(frozen=True, slots=True)
class PlannedMember:
    """A member of the group when the plan was made."""

    member_id: str
    client_id: str = ""
    host: str = ""
    instance_id: str | None = None

    @property
    def text(self) -> str:
        """Its client id, host and, for a static member, instance id."""
        static = f", static member {self.instance_id}" if self.instance_id else ""
        return f"{self.client_id or self.member_id} at {self.host or 'an unknown host'}{static}"


def planned_member(member: Member) -> PlannedMember:
    """What a plan keeps of a member."""
    return PlannedMember(member.member_id, member.client_id, member.host, member.instance_id)


@dataclass(frozen=True, slots=True)
class Plan:
    """A change of one group of one cluster, with the state that it was made from.

    `specification` is what was asked for, in words. `command` is the equivalent `kafka-consumer-groups` command.
    `instance_id` names the static member to remove. `undoes` is the specification that an undo plan takes back.
    """

    kind: Kind
    cluster_id: str | None
    group_id: str
    group_type: GroupType | None
    made_at_ms: int
    state: str
    epoch: int | None
    members: tuple[PlannedMember, ...] = ()
    specification: str = ""
    partitions: tuple[PartitionPlan, ...] = ()
    command: str = ""
    instance_id: str | None = None
    undoes: str | None = None

    @property
    def removed_members(self) -> frozenset[str]:
        """The id of the member that is to be removed. A process that joins again gets another one."""
        wanted = self.instance_id
        return frozenset(m.member_id for m in self.members if wanted is not None and m.instance_id == wanted)

    @property
    def changes(self) -> tuple[PartitionPlan, ...]:
        """The partitions whose committed offset is to be written or deleted."""
        return tuple(each for each in self.partitions if each.is_change)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of a plan. `unknown` counts partitions to change for which it is not known what is read again or skipped."""

    partitions: int = 0
    changed: int = 0
    unplanned: int = 0
    read_again: int = 0
    skipped: int = 0
    deleted: int = 0
    unknown: int = 0
