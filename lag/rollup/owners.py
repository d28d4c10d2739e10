"""Records about a group -> who owned which partition since when."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lag.records.record_types import Role
from lag.rollup.group_events import GroupRecord, Partition


@dataclass(frozen=True, slots=True)
class Change:
    """From `at_us` on the member owns the partition; None: no member."""

    at_us: int
    partition: Partition
    member_id: str | None


def changes(records: Iterable[GroupRecord]) -> Iterator[Change]:
    """Every change of owner, in the order of the records of one group.

    A classic record has the whole assignment. In other groups each member has a record of its current assignment
    (KIP-848: type 8); partitions of a target that it has not reached are not owned.
    """
    owner: dict[Partition, str] = {}
    for record in records:
        before = dict(owner)
        _follow(owner, record)
        for partition in before.keys() | owner.keys():
            if before.get(partition) != owner.get(partition):
                yield Change(record.at_us, partition, owner.get(partition))


def _follow(owner: dict[Partition, str], record: GroupRecord) -> None:
    if record.role is Role.GROUP:
        owner.clear()
        owner |= {each: member for member, owned in (record.members or {}).items() for each in owned}
    elif record.role is Role.CURRENT and record.member_id is not None:
        for partition in [each for each, member in owner.items() if member == record.member_id]:
            del owner[partition]
        owner |= dict.fromkeys(record.owned, record.member_id)
    elif record.role is Role.EPOCH and record.tombstone:
        owner.clear()
