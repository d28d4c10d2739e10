"""Records about one group, from rows of `group_events`: the input for its health and owners.

Source: the record kinds of Kafka 4.3.1 (`record_types`). A classic group has one record for everything;
KIP-848, share and streams groups have separate records for epoch, members, target and current assignments.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lag.model import GroupType
from lag.records.record_types import RECORD_TYPES, RecordType, Role

_NOT_NEEDED = (Role.TARGET, Role.REGEX, Role.OTHER)

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


def records(rows: Iterable[Mapping[str, Any]]) -> Iterator[GroupRecord]:
    """The records of one group from its rows, ordered by `src_offset`; the rows of a classic record become one record.

    A row has `at_us` (microseconds since 1970), `src_offset` and columns of `group_events`.
    """
    for _, same in groupby(rows, key=lambda row: row["src_offset"]):
        rest = list(same)
        kind = RECORD_TYPES.get(rest[0]["record_type"])
        if kind is not None and kind.role not in _NOT_NEEDED:
            yield _record(kind, rest)


def _record(kind: RecordType, rows: list[Mapping[str, Any]]) -> GroupRecord:
    first, role = rows[0], kind.role
    number = "assignment_epoch" if role is Role.TARGET_EPOCH else "generation_or_epoch"
    classic = role is Role.GROUP and not first["tombstone"]
    named = [row for row in rows if row["member_id"] is not None]
    return GroupRecord(
        at_us=first["at_us"],
        role=role,
        type=kind.group_type,
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
