"""Kafka's `UniformHomogeneousAssignmentBuilder`, container by container: for every input, dirty ones included.

`assignors.broker.uniform.equal` gives the same plan faster where the input is clean.
"""

from collections.abc import Iterator
from uuid import UUID

import numpy as np

from assignors.broker.group_spec import OwnedSets, ServerGroup, assignment
from assignors.broker.spec_arrays import Numbers
from assignors.javahash import INTEGERS, JavaHashSet
from assignors.model import Assignment, AssignorError

UNASSIGNED_LEFT = (
    "Partitions were left unassigned (Kafka: PartitionAssignorException): members own partitions that do not exist, or "
    "one partition has two owners. Correct what they own."
)


class Homogeneous:
    """One computation; call `plan` once."""

    def __init__(self, group: ServerGroup) -> None:
        self._group = group
        first = group.members[0]
        self._topics = group.id_set(first)
        self._counts = {uuid: topic.partitions for uuid, topic in group.by_id().items()}
        self._old = {member.member_id: group.owned(member) for member in group.members}
        self._new: dict[str, OwnedSets] = {}
        self._unassigned: list[tuple[UUID, int]] = list(self._free())
        self._unfilled: list[tuple[str, int]] = []

    def plan(self) -> Assignment:
        """The assignment. AssignorError where Kafka throws."""
        if not self._topics:
            return assignment(self._group, {})
        total = sum(self._counts[uuid] for uuid in self._topics)
        for member, quota in zip(self._group.members, quotas(total, self._sizes()).tolist(), strict=True):
            left = self._keep(member.member_id, quota)
            if left > 0:
                self._unfilled.append((member.member_id, left))
        self._fill()
        return assignment(self._group, {**self._old, **self._new})

    def _free(self) -> Iterator[tuple[UUID, int]]:
        taken = {(uuid, number) for old in self._old.values() for uuid, numbers in old.items() for number in numbers}
        taken |= self._group.ghosts
        for uuid in self._topics:
            for number in range(self._counts[uuid]):
                if (uuid, number) not in taken:
                    yield uuid, number

    def _sizes(self) -> Numbers:
        olds = self._old.values()
        sizes = [sum(len(numbers) for uuid, numbers in old.items() if uuid in self._topics) for old in olds]
        return np.array(sizes, dtype=np.int64)

    def _keep(self, member_id: str, quota: int) -> int:
        """Drop what is not subscribed or beyond the quota; what is left of the quota."""
        old = self._old[member_id]
        for uuid, numbers in old.items():
            if uuid not in self._topics:
                del self._copy(member_id)[uuid]
            elif len(numbers) <= quota:
                quota -= len(numbers)
            else:
                self._drop(member_id, uuid, list(numbers)[quota:])
                quota = 0
        return quota

    def _drop(self, member_id: str, uuid: UUID, numbers: list[int]) -> None:
        copy = self._copy(member_id)
        for number in numbers:
            copy[uuid].remove(number)
            self._unassigned.append((uuid, number))
        if not copy[uuid]:
            del copy[uuid]

    def _copy(self, member_id: str) -> OwnedSets:
        if member_id not in self._new:
            self._new[member_id] = self._group.deep_copy(self._old[member_id])
        return self._new[member_id]

    def _fill(self) -> None:
        partitions = iter(self._unassigned)
        for member_id, room in self._unfilled:
            copy = self._copy(member_id)
            for _, (uuid, number) in zip(range(room), partitions, strict=False):
                copy.compute_if_absent(uuid, lambda: JavaHashSet(INTEGERS)).add(number)
        if next(partitions, None) is not None:
            raise AssignorError(UNASSIGNED_LEFT)


def quotas(total: int, sizes: Numbers) -> Numbers:
    """How many of `total` partitions each member may have in the end, int64[n_members] (KAFKA-18688).

    Some members may have one more than the others: first those that own more already, then the last ones. `sizes:
    int64[n_members]`: how many subscribed partitions each member owns.
    """
    quota, extras = divmod(total, len(sizes))
    is_large = sizes > quota
    extras_left = extras - (is_large.cumsum() - is_large)
    takes_extra = is_large & (extras_left > 0)
    takes_extra |= np.logical_or.accumulate(np.arange(len(sizes), 0, -1) <= extras_left)  # the last ones
    return quota + takes_extra
