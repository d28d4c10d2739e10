"""Groups and assignments as arrays, which the assignors work on.

Members are numbered in the order in which they joined, topics in the order of their names, partitions by the codes of
`assignors.layout.Layout`. The partitions of all members are concatenated in one array of codes, with a start and an
end for each member.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assignors.javahash import string_order
from assignors.layout import Codes, Layout, PartitionList, id_order
from assignors.model import Assignment, AssignorError, Group, Member, Topic, TopicPartition

ABSENT = -1
MOST_PARTITIONS = 100_000_000

Numbers = NDArray[np.int64]
RacksOfTopic = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Claims:
    """The partitions that members claim to own.

    `codes`: int32[n_claims], only of topics in the layout; `codes[starts[i]:starts[i + 1]]` are those of member i, in
    its order. A code from the layout's length on is a partition that does not exist: `strays[code - len(layout)]`, a
    pair of the topic's position and the number. `starts`: int64[n_members + 1]. `generations`: int64[n_members], the
    generation of each member's claims as the assignor reads it; `fields`: as the subscription has it; -1 = unknown.
    """

    codes: Codes
    starts: Numbers
    generations: Numbers
    fields: Numbers
    strays: tuple[tuple[int, int], ...] = ()

    def owners(self) -> NDArray[np.int32]:
        """The member of each claim: int32[n_claims]."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))


@dataclass(frozen=True, slots=True)
class GroupArrays:
    """A group as arrays.

    `layout` has the topics with subscribers and partitions. `lists` are the distinct subscriptions; `list_of`,
    int32[n_members], has the position of each member's subscription in it. `racks` are the members' ("" or None: none);
    `partition_racks` has, by topic, the racks of each partition's replicas.
    """

    layout: Layout
    members: tuple[str, ...]
    lists: tuple[tuple[str, ...], ...]
    list_of: NDArray[np.int32]
    instances: tuple[str | None, ...] | None = None
    racks: tuple[str | None, ...] | None = None
    partition_racks: Mapping[str, RacksOfTopic] = field(default_factory=dict)
    claims: Claims | None = None

    def map_order(self) -> tuple[int, ...]:
        """Members as the coordinator's HashMap iterates over them."""
        return string_order(self.members)

    def owner_order(self) -> list[int]:
        """Members in the order of a HashMap that is filled in the order of the coordinator's HashMap."""
        first = self.map_order()
        return [first[at] for at in string_order(tuple(self.members[at] for at in first))]

    def member_order(self) -> list[int]:
        """Members with an instance id first, by it, then the others by member id (Kafka's `MemberInfo`)."""
        if self.instances is None or not any(name is not None for name in self.instances):
            return id_order(self.members)
        static = [at for at in self.map_order() if self.instances[at] is not None]
        others = [at for at, name in enumerate(self.instances) if name is None]
        by_instance = id_order([self.instances[at] or "" for at in static])
        by_id = id_order([self.members[at] for at in others])
        return [static[at] for at in by_instance] + [others[at] for at in by_id]

    def subscriptions(self) -> NDArray[np.bool_]:
        """Whether each subscription has each topic: bool[n_lists, n_topics]."""
        table = np.zeros((len(self.lists), len(self.layout.names)), dtype=np.bool_)
        for row, topics in enumerate(self.lists):
            table[row, self.positions(topics)] = True
        return table

    def positions(self, topics: Sequence[str]) -> list[int]:
        """The positions in the layout of those topics that it has; duplicates stay."""
        found = map(self.layout.position.get, topics)
        return [position for position in found if position is not None]


@dataclass(frozen=True, slots=True)
class Plan:
    """An assignment: member i gets `codes[starts[i]:ends[i]]`, in Kafka's order.

    `codes: int32[n_codes]`; `starts` and `ends`: int64[n_members].
    """

    codes: Codes
    starts: Numbers
    ends: Numbers


def group_arrays(group: Group) -> GroupArrays:
    """A group as arrays, without claims. Raises AssignorError on duplicate member ids and invalid topics."""
    ids = tuple(member.member_id for member in group.members)
    _check_ids(ids)
    lists, list_of = _lists(group.members)
    topics = _known_topics(group.topics, lists)
    layout = Layout({topic.name: topic.partitions for topic in topics})
    return GroupArrays(
        layout,
        ids,
        lists,
        list_of,
        tuple(member.instance_id for member in group.members),
        tuple(member.rack for member in group.members),
        {topic.name: topic.racks for topic in topics if topic.racks is not None},
    )


def _check_ids(ids: Sequence[str]) -> None:
    if len(set(ids)) < len(ids):
        twice = next(member_id for member_id in ids if ids.count(member_id) > 1)
        raise AssignorError(f"Member id {twice!r} appears twice. Give every member its own id.")


def _lists(members: Sequence[Member]) -> tuple[tuple[tuple[str, ...], ...], NDArray[np.int32]]:
    numbers: dict[tuple[str, ...], int] = {}
    addresses = [id(member.topics) for member in members]
    # By address first: most members share one tuple, and hashing a long one is slow.
    distinct = dict(zip(addresses, (member.topics for member in members), strict=True))
    row_of = {address: numbers.setdefault(topics, len(numbers)) for address, topics in distinct.items()}
    list_of = np.fromiter(map(row_of.__getitem__, addresses), dtype=np.int32, count=len(members))
    return tuple(numbers), list_of


def _known_topics(topics: Mapping[str, Topic], lists: Sequence[Sequence[str]]) -> list[Topic]:
    names = dict.fromkeys(chain.from_iterable(lists))
    known = [topic for name in names if (topic := topics.get(name)) is not None and topic.partitions != 0]
    for topic in known:
        _check_topic(topic)
    total = sum(topic.partitions for topic in known)
    if total > MOST_PARTITIONS:
        raise AssignorError(f"{total} partitions are more than the {MOST_PARTITIONS} that can be planned at once.")
    return known


def _check_topic(topic: Topic) -> None:
    if topic.partitions < 0:
        raise AssignorError(f"Topic {topic.name!r} has {topic.partitions} partitions. Give it 0 or more.")
    if topic.racks is not None and len(topic.racks) != topic.partitions:
        lists = f"{len(topic.racks)} lists of racks for {topic.partitions} partitions"
        raise AssignorError(f"Topic {topic.name!r} has {lists}. Give one list for each partition, or none at all.")


def to_assignment(arrays: GroupArrays, plan: Plan) -> Assignment:
    """The assignment by member id; its lists create `TopicPartition` objects only when they are read."""
    bounds = zip(plan.starts.tolist(), plan.ends.tolist(), strict=True)
    lists: list[Sequence[TopicPartition]] = [PartitionList(arrays.layout, plan.codes[a:b]) for a, b in bounds]
    if arrays.claims is not None and arrays.claims.strays:
        lists = [_with_strays(arrays, part.codes) for part in lists if isinstance(part, PartitionList)]
    return Assignment(None, dict(zip(arrays.members, lists, strict=True)))


def _with_strays(arrays: GroupArrays, codes: Codes) -> list[TopicPartition]:
    strays = arrays.claims.strays if arrays.claims is not None else ()
    known = len(arrays.layout)
    real = iter(arrays.layout.decode(codes[codes < known]))
    names = arrays.layout.names
    pairs = [strays[code - known] if code >= known else None for code in codes.tolist()]
    return [next(real) if pair is None else TopicPartition(names[pair[0]], pair[1]) for pair in pairs]


def collected(codes: Codes, owners: NDArray[np.integer], members: int) -> Plan:
    """The assignment that gives each of `codes: int32[n_codes]` to its owner in `owners: int[n_codes]`.

    Each member's partitions keep the order of `codes`.
    """
    narrow = owners.astype(np.uint16) if members <= 1 << 16 else owners  # 16 bits sort by radix
    ends = np.cumsum(np.bincount(owners, minlength=members))
    starts = np.concatenate(([0], ends[:-1])) if members else ends
    return Plan(codes[np.argsort(narrow, kind="stable")], starts, ends)


def assigned_in_turn(layout: Layout, order: Sequence[int]) -> Plan:
    """Partition k goes to member `order[k % len(order)]`.

    That is Kafka's plan when no member owns anything and all subscriptions are equal.
    """
    total, members = len(layout), len(order)
    each, extra = divmod(total, members)
    codes = np.empty(total, dtype=np.int32)
    split = extra * (each + 1)
    _deal(codes[:split].reshape(extra, each + 1), 0, members)
    _deal(codes[split:].reshape(members - extra, each), extra, members)
    counts = np.full(members, each, dtype=np.int64)
    counts[:extra] += 1
    return in_rows(codes, counts, order)


def _deal(rows: NDArray[np.int32], first: int, step: int) -> None:
    height, width = rows.shape
    firsts = np.arange(first, first + height, dtype=np.int32)[:, None]
    np.add(firsts, np.arange(0, width * step, step, dtype=np.int32), out=rows)


def in_rows(codes: Codes, counts: Numbers, order: Sequence[int]) -> Plan:
    """The assignment of `codes: int32[n_codes]`, which has the members' partitions in the order `order` of members.

    `counts: int64[n_members]`: the number of partitions of each member, in the same order.
    """
    starts = np.empty(len(order), dtype=np.int64)
    ends = np.empty(len(order), dtype=np.int64)
    stops = np.cumsum(counts)
    ends[list(order)] = stops
    starts[list(order)] = stops - counts
    return Plan(codes, starts, ends)
