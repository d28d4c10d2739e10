"""The contract of assignors: every partition has one owner, who subscribes to its topic."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import group_arrays
from assignors.assignment_arrays import Members, joined
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Assignment, Group, TopicPartition

SHOWN = 3
MOST_NUMBER = 2**63 - 1  # what an int64 array takes

Mask = NDArray[np.bool_]


def check(group: Group, assignment: Assignment, *, shared: bool = False, withholds: bool = False) -> list[str]:
    """What breaks the contract, one sentence each; empty if nothing does.

    The assignment has every member of the group and no others; every partition of a subscribed topic has an owner, who
    subscribes to its topic; every assigned partition exists. `shared`: a partition may have several owners (share
    groups, KIP-932). `withholds`: owned partitions may have no new owner yet (cooperative, KIP-429). Raises
    AssignorError when the group itself cannot be planned.
    """
    if wrong := _wrong_form(assignment):
        return wrong
    plan = _Plan.of(group, assignment.by_member)
    broken = [*_wrong_members(group, assignment.by_member), *plan.unknown_partitions(), *plan.not_subscribed()]
    return [*broken, *plan.owned_twice(shared=shared), *plan.without_owner(group, withholds=withholds)]


def _wrong_form(assignment: object) -> list[str]:
    """Wrong types, which prevent all other checks."""
    if not isinstance(assignment, Assignment):
        return [f"The plan is a {type(assignment).__name__}. Return an Assignment."]
    lists: object = assignment.by_member
    if not isinstance(lists, Mapping):
        return [f"by_member is a {type(lists).__name__}. Give a list of partitions for each member id."]
    found = ((member, _strange(part)) for member, part in lists.items())
    return [f"Member {member!r} gets {strange}. List TopicPartitions." for member, strange in found if strange]


def _strange(part: object) -> str | None:
    """The type that is not a list of partitions, or the first item that is not a partition; None if all are."""
    if isinstance(part, PartitionList):
        outside = part.codes[(part.codes < 0) | (part.codes >= len(part.layout))]
        return f"code {outside[0]} of a layout of {len(part.layout)} partitions" if len(outside) else None
    if isinstance(part, str) or not isinstance(part, Sequence):
        return f"a {type(part).__name__}"
    if set(map(type, part)) <= {TopicPartition} and _have_types(part):
        return None
    return next(repr(item) for item in part if type(item) is not TopicPartition or not _have_types([item]))


def _have_types(part: Sequence[TopicPartition]) -> bool:
    numbers = list(map(itemgetter(1), part))
    if not (set(map(type, map(itemgetter(0), part))) <= {str} and set(map(type, numbers)) <= {int}):
        return False
    return min(numbers, default=0) >= -MOST_NUMBER and max(numbers, default=0) <= MOST_NUMBER


def _wrong_members(group: Group, plan: Mapping[str, object]) -> Iterator[str]:
    ids = {member.member_id for member in group.members}
    yield from (f"Member {member.member_id!r} is missing." for member in group.members if member.member_id not in plan)
    yield from (f"There is no member {member!r} in the group." for member in plan if member not in ids)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What members get, pair by pair: topics by position in the layout of all topics (-1: none such), numbers, members.

    `subscribed` has a row for each list of topics, a column for each topic; `list_of` says which is whose.
    """

    layout: Layout
    members: tuple[str, ...]
    topics: NDArray[np.int32]
    numbers: NDArray[np.int64]
    owners: Members
    subscribed: Mask
    list_of: NDArray[np.int32]
    pieces: tuple[Sequence[TopicPartition], ...]

    @classmethod
    def of(cls, group: Group, by_member: Mapping[str, Sequence[TopicPartition]]) -> "_Plan":
        arrays = group_arrays(group)
        layout = Layout({topic.name: max(topic.partitions, 0) for topic in group.topics.values()})
        lists = [by_member.get(member, ()) for member in arrays.members]
        pieces = tuple(joined(lists))
        found = [layout.locate(piece) for piece in pieces]
        topics = np.concatenate([np.zeros(0, np.int32), *(topics for topics, _ in found)])
        numbers = np.concatenate([np.zeros(0, np.int64), *(numbers for _, numbers in found)])
        owners = np.repeat(np.arange(len(lists), dtype=np.int32), [len(part) for part in lists])
        subscribed = np.zeros((len(arrays.lists), len(layout.names)), dtype=np.bool_)
        for row, names in enumerate(arrays.lists):
            subscribed[row, [layout.position[name] for name in names if name in layout.position]] = True
        return cls(layout, arrays.members, topics, numbers, owners, subscribed, arrays.list_of, pieces)

    def exists(self) -> Mask:
        if not self.layout.names:
            return np.zeros(len(self.topics), dtype=np.bool_)
        return (self.topics >= 0) & (self.numbers >= 0) & (self.numbers < self.layout.counts[self.topics])

    def codes(self) -> Codes:
        """The codes of the pairs that exist."""
        known = self.exists()
        return (self.layout.offsets[self.topics[known]] + self.numbers[known]).astype(np.int32)

    def unknown_partitions(self) -> Iterator[str]:
        yield from self._by_member(~self.exists(), "gets {}, which does not exist.")

    def not_subscribed(self) -> Iterator[str]:
        known = self.exists()
        wrong = np.zeros(len(known), dtype=np.bool_)
        wrong[known] = ~self.subscribed[self.list_of[self.owners[known]], self.topics[known]]
        yield from self._by_member(wrong, "gets {} without subscribing to it.")

    def owned_twice(self, *, shared: bool) -> Iterator[str]:
        codes, owners = self.codes(), self.owners[self.exists()]
        pairs = codes.astype(np.int64) * max(len(self.members), 1) + owners
        order = np.argsort(pairs, kind="stable")
        codes, owners, pairs = codes[order], owners[order], pairs[order]
        again = (pairs if shared else codes)[1:] == (pairs if shared else codes)[:-1]
        at = np.flatnonzero(again)
        for row, tp in zip(at[:SHOWN].tolist(), self.layout.decode(codes[at[:SHOWN]]), strict=True):
            first, second = self.members[owners[row]], self.members[owners[row + 1]]
            yield (
                f"{tp} goes to {first!r} twice." if first == second else f"{tp} goes to both {first!r} and {second!r}."
            )
        if len(at) > SHOWN:
            yield f"{len(at) - SHOWN} more partitions are given twice."

    def without_owner(self, group: Group, *, withholds: bool) -> Iterator[str]:
        wanted = np.repeat(self.subscribed.any(axis=0), self.layout.counts)
        wanted[self.codes()] = False
        if withholds and wanted.any():
            wanted[self._owned_before(group)] = False
        if missing := int(np.count_nonzero(wanted)):
            first = self.layout.decode(np.flatnonzero(wanted)[:SHOWN].astype(np.int32))
            yield f"{_some(first, missing)} {'has' if missing == 1 else 'have'} no owner."

    def _owned_before(self, group: Group) -> NDArray[np.int64]:
        found = [self.layout.locate(piece) for piece in joined(member.owned for member in group.members)]
        inside = [(t >= 0) & (n >= 0) & (n < self.layout.counts[t]) for t, n in found]
        codes = [self.layout.offsets[t[rows]] + n[rows] for (t, n), rows in zip(found, inside, strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *codes])

    def _by_member(self, wrong: Mask, text: str) -> Iterator[str]:
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return
        given = list(chain.from_iterable(self.pieces))
        owners, starts, counts = np.unique(self.owners[rows], return_index=True, return_counts=True)
        for owner, start, count in zip(owners.tolist(), starts.tolist(), counts.tolist(), strict=True):
            first = [given[row] for row in rows[start : start + min(count, SHOWN)].tolist()]
            yield f"Member {self.members[owner]!r} {text.format(_some(first, count))}"


def _some(first: Iterable[TopicPartition], count: int) -> str:
    named = ", ".join(map(str, first))
    return named if count <= SHOWN else f"{named} and {count - SHOWN} more"
