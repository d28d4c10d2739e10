"""A worked example: members get partitions in proportion to what they can process.

groupscope assign group.yaml --plugin docs.plugins.weighted:Weighted
"""

import re
from collections.abc import Iterator, Sequence
from heapq import heapify, heapreplace

from assignors.model import Assignment, Group, Member, Topic, TopicPartition

_CAPACITY = re.compile(r"-x([1-9][0-9]{0,3})$")


def capacity(member: Member) -> int:
    """4 for a client id, or a member id, that ends in `-x4`; 1 for all others. Put your own rule here."""
    found = _CAPACITY.search(member.client_id) or _CAPACITY.search(member.member_id)
    return int(found[1]) if found else 1


class Weighted:
    """A member of capacity 4 gets four times the partitions of a member of capacity 1.

    Topic by topic, each member first keeps what it owns, up to its share. The rest goes, one by one, to whoever then
    has the least for its capacity, counted over all topics.
    """

    name = "weighted"

    def assign(self, group: Group) -> Assignment:
        """Plan the group."""
        plan: dict[str, list[TopicPartition]] = {member.member_id: [] for member in group.members}
        for name in sorted(group.topics):
            members = [member for member in group.members if name in member.topics]
            if members:
                _deal(group.topics[name], members, plan)
        return Assignment(None, plan)


def _deal(topic: Topic, members: Sequence[Member], plan: dict[str, list[TopicPartition]]) -> None:
    free = {TopicPartition(topic.name, number): None for number in range(topic.partitions)}  # a set that keeps order
    for member in members:
        plan[member.member_id] += _kept(member, _share(topic, member, members), free)
    heap = [((len(plan[m.member_id]) + 1) / capacity(m), at) for at, m in enumerate(members)]
    heapify(heap)
    for partition in free:
        at = heap[0][1]
        mine = plan[members[at].member_id]
        mine.append(partition)
        heapreplace(heap, ((len(mine) + 1) / capacity(members[at]), at))


def _share(topic: Topic, member: Member, members: Sequence[Member]) -> int:
    return topic.partitions * capacity(member) // sum(map(capacity, members))


def _kept(member: Member, share: int, free: dict[TopicPartition, None]) -> Iterator[TopicPartition]:
    """Of what the member owns, so many that nobody else has kept before."""
    for partition in member.owned:
        if share and partition in free:
            del free[partition]
            share -= 1
            yield partition
