"""Records about one group, from rows of `group_events`: the input for its health and owners.

Source: the record kinds of Kafka 4.3.1 (`record_types`). A classic group has one record for everything;
KIP-848, share and streams groups have separate records for epoch, members, target and current assignments.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby
from typing import Any

from lag.model import GroupType


class Role(Enum):
    """What a record describes."""

    CLASSIC = auto()
    EPOCH = auto()
    MEMBER = auto()
    TARGET = auto()
    CURRENT = auto()


ROLES: Mapping[int, Role] = {
    2: Role.CLASSIC,
    **dict.fromkeys((3, 11, 17), Role.EPOCH),
    **dict.fromkeys((5, 10, 19), Role.MEMBER),
    **dict.fromkeys((6, 12, 20), Role.TARGET),
    **dict.fromkeys((8, 14, 22), Role.CURRENT),
}
"""By `record_type`; other records are not needed here."""

STABLE = 0
"""A member that has reached its target (MemberState)."""

Partition = tuple[str | None, bytes | None, int]
"""Topic, topic id (one of them is None), number."""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """One record. `number` is the generation or epoch; `members` what each member of a classic group owns.

    `owned`: what the member of a CURRENT record owns. `bootstrap`: it is older than the recording.
    """

    at_us: int
    role: Role
    type: GroupType
    tombstone: bool
    bootstrap: bool
    number: int | None = None
    member_id: str | None = None
    stable: bool = False
    members: Mapping[str, tuple[Partition, ...]] | None = None
    owned: tuple[Partition, ...] = ()


def type_of(record_type: int) -> GroupType:
    """The type of the group that a record of this kind is about."""
    if record_type == 2:
        return GroupType.CLASSIC
    if record_type < 10 or record_type == 16:
        return GroupType.CONSUMER
    return GroupType.SHARE if record_type < 16 else GroupType.STREAMS


def records(rows: Iterable[Mapping[str, Any]]) -> Iterator[GroupRecord]:
    """The records of one group from its rows, ordered by `src_offset`; the rows of a classic record become one record.

    A row has `at_us` (microseconds since 1970), `src_offset` and columns of `group_events`.
    """
    for _, same in groupby(rows, key=lambda row: row["src_offset"]):
        rest = list(same)
        role = ROLES.get(rest[0]["record_type"])
        if role is not None:
            yield _record(role, rest)


def _record(role: Role, rows: list[Mapping[str, Any]]) -> GroupRecord:
    first = rows[0]
    number = "assignment_epoch" if role is Role.TARGET else "generation_or_epoch"
    classic = role is Role.CLASSIC and not first["tombstone"]
    named = [row for row in rows if row["member_id"] is not None]
    return GroupRecord(
        at_us=first["at_us"],
        role=role,
        type=type_of(first["record_type"]),
        tombstone=first["tombstone"],
        bootstrap=first["bootstrap"],
        number=first[number],
        member_id=first["member_id"],
        stable=first["state"] == STABLE,
        members={row["member_id"]: _partitions(row) for row in named} if classic else None,
        owned=_partitions(first) if role is Role.CURRENT else (),
    )


def _partitions(row: Mapping[str, Any]) -> tuple[Partition, ...]:
    given = row["assignment"] or ()
    return tuple((one["topic"], one["topic_id"], number) for one in given for number in one["partitions"])
