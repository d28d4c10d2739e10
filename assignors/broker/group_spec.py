"""A group as the broker's group coordinator hands it to an assignor.

Source: `TargetAssignmentBuilder`, `GroupSpecImpl`, `TopicIds` and `Assignment.fromRecord` of Kafka 4.3.1. The order of
`Group.members` is the order in which the coordinator puts them into its map of members. What a regular expression
matches is resolved before: a member has its topics, and its expression says only that it does not name them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import MOST_PARTITIONS
from assignors.javahash import (
    INTEGERS,
    NEWEST_RULE_JDK,
    STRINGS,
    UUIDS,
    JavaHashMap,
    JavaHashSet,
    hash_set_capacity,
    string_order,
)
from assignors.model import Assignment, AssignorError, Group, Member, Topic, TopicPartition
from assignors.topic_ids import topic_uuid

OwnedSets = JavaHashMap[UUID, JavaHashSet[int]]


@dataclass(frozen=True, slots=True)
class ServerGroup:
    """A group in the order of the coordinator.

    `lists`: the distinct subscriptions. `homogeneous`: whether Kafka considers all subscriptions equal. `ghosts`:
    partitions that the coordinator's map of owners has although no member owns them. They occur when a dynamic member
    returns as a static one: it takes over the target assignment of the previous holder of its instance id, and the
    partitions of its own former target assignment stay in the map.
    """

    members: tuple[Member, ...]
    topics: Mapping[str, Topic]
    lists: tuple[tuple[str, ...], ...]
    homogeneous: bool
    jdk: int
    ghosts: frozenset[tuple[UUID, int]] = frozenset()

    def subscribed(self, member: Member) -> list[Topic]:
        """The topics that exist among those the member names, in the order of the coordinator's set of names."""
        return self.existing(member.topics)

    def existing(self, names: tuple[str, ...]) -> list[Topic]:
        """The topics that exist among the names, in the order of the coordinator's set of names."""
        topics = self.topics
        return [topics[name] for name in name_set(names, self.jdk) if name in topics]

    def all_subscribed(self) -> list[Topic]:
        """The topics that exist and that some member names."""
        names = dict.fromkeys(chain.from_iterable(self.lists))
        return [self.topics[name] for name in names if name in self.topics]

    def list_of(self, members: Sequence[Member]) -> NDArray[np.int32]:
        """The position in `lists` of each member's subscription: int32[n_members]."""
        at = {names: number for number, names in enumerate(self.lists)}
        by_address = {address: at[names] for address, names in _by_address(members).items()}
        return np.fromiter((by_address[id(member.topics)] for member in members), dtype=np.int32, count=len(members))

    def id_set(self, member: Member) -> JavaHashSet[UUID]:
        """`new HashSet(TopicIds)`. Its capacity also counts names of topics that do not exist."""
        made = JavaHashSet(UUIDS, hash_set_capacity(len(set(member.topics)), self.jdk))
        for topic in self.subscribed(member):
            made.add(topic_uuid(topic))
        return made

    def by_id(self) -> dict[UUID, Topic]:
        """The topics that exist, by their ids."""
        return {topic_uuid(topic): topic for topic in self.topics.values()}

    def owned(self, member: Member) -> OwnedSets:
        """The old assignment in the containers that `Assignment.fromRecord` creates."""
        lists: dict[str, list[int]] = {name: [] for name in member.owned_topics}
        for tp in member.owned:
            lists.setdefault(tp.topic, []).append(tp.partition)
        made: OwnedSets = JavaHashMap(UUIDS)
        for name, numbers in lists.items():
            made[self.uuid_of(name)] = JavaHashSet.copy_of(INTEGERS, numbers, self.jdk)
        return made

    def uuid_of(self, name: str) -> UUID:
        """The id of a topic; a topic that no longer exists gets the id that is derived from its name."""
        return topic_uuid(self.topics.get(name) or Topic(name, 0))

    def deep_copy(self, sets: OwnedSets) -> OwnedSets:
        """`AssignorHelpers.deepCopyAssignment`: a new map sized by the number of topics, and new sets."""
        made: OwnedSets = JavaHashMap(UUIDS, len(sets))
        for uuid, numbers in sets.items():
            made[uuid] = JavaHashSet.copy_of(INTEGERS, numbers, self.jdk)
        return made


def server_group(group: Group, jdk: int = NEWEST_RULE_JDK, homogeneous: bool | None = None) -> ServerGroup:
    """The group with its members in the coordinator's order. AssignorError when members or topics are not valid.

    `homogeneous`: the subscription type that the coordinator has computed; None: it is computed here.
    """
    ids = tuple(member.member_id for member in group.members)
    if len(set(ids)) < len(ids):
        raise AssignorError(f"Member id {_first_double(ids)!r} appears twice. Give every member its own id.")
    _check_topics(group.topics.values())
    members = tuple(group.members[position] for position in string_order(ids))
    lists = _distinct(members)
    same = _is_homogeneous(members, lists) if homogeneous is None else homogeneous
    return ServerGroup(members, group.topics, lists, same, jdk)


def _is_homogeneous(members: Sequence[Member], lists: Sequence[tuple[str, ...]]) -> bool:
    """`ConsumerGroup.subscriptionType`: all name the same topics, or all have the same regular expression.

    Members that read the same topics, some by name and some by an expression or by another one, are heterogeneous.
    """
    return len({member.pattern for member in members}) <= 1 and len(set(map(frozenset, lists))) <= 1


def _check_topics(topics: Collection[Topic]) -> None:
    known = [topic.topic_id for topic in topics if topic.topic_id is not None]
    if len(set(known)) < len(known):
        raise AssignorError(f"Topic id {_first_double(known)!r} appears twice. Give every topic its own id.")
    counts = [topic.partitions for topic in topics]
    if min(counts, default=0) < 0:
        wrong = next(topic for topic in topics if topic.partitions < 0)
        raise AssignorError(f"Topic {wrong.name!r} has {wrong.partitions} partitions. Give it 0 or more.")
    if sum(counts) > MOST_PARTITIONS:
        raise AssignorError(
            f"{sum(counts)} partitions are more than the {MOST_PARTITIONS} that can be planned at once."
        )


def _first_double(ids: Sequence[str]) -> str:
    return next(name for position, name in enumerate(ids) if name in ids[:position])


def _distinct(members: Sequence[Member]) -> tuple[tuple[str, ...], ...]:
    """The distinct subscriptions. Most are equal to the first, and comparing takes less time than hashing."""
    if not members:
        return ()
    first = members[0].topics
    others = _by_address([member for member in members if member.topics is not first])
    return first, *{names for names in others.values() if names != first}


def _by_address(members: Sequence[Member]) -> dict[int, tuple[str, ...]]:
    """The subscriptions by `id`: most members share one tuple, and hashing a long tuple is slow."""
    return {id(member.topics): member.topics for member in members}


@lru_cache(maxsize=4096)
def name_set(names: tuple[str, ...], jdk: int) -> tuple[str, ...]:
    """The order of `new HashSet(names)`, in which the coordinator keeps a member's topics."""
    return tuple(JavaHashSet.copy_of(STRINGS, names, jdk))


@lru_cache(maxsize=4096)
def sized(count: int) -> int:
    """The capacity argument of `new HashMap` for `count` expected entries: `(int) (count / 0.75f + 1)`."""
    return int(np.float32(count) / np.float32(0.75) + np.float32(1))


def numbered(sets: Mapping[UUID, Iterable[int]], names: Mapping[UUID, str]) -> Iterator[TopicPartition]:
    """The partitions of a map of sets, in its order."""
    for uuid, numbers in sets.items():
        name = names[uuid]
        for number in numbers:
            yield TopicPartition(name, number)


def assignment(
    group: ServerGroup, plans: Mapping[str, Mapping[UUID, Iterable[int]]], initial: int | None = None
) -> Assignment:
    """The plan in the iteration order of Kafka's map of members.

    `plans`: in the order in which Kafka puts them into that map. `initial`: the capacity argument of the map; None:
    the default capacity. Members that are not in `plans` come last, without partitions.
    """
    names = {group.uuid_of(name): name for name in _all_names(group)}
    order: JavaHashMap[str, bool] = JavaHashMap(STRINGS, initial)
    for member_id in plans:
        order[member_id] = True
    by_member = {member_id: tuple(numbered(plans[member_id], names)) for member_id in order}
    for member in group.members:
        by_member.setdefault(member.member_id, ())
    topics = {member_id: tuple(names[uuid] for uuid in plans[member_id]) for member_id in order}
    is_emptied = {member_id: not all(plans[member_id].values()) for member_id in order}
    return Assignment(None, by_member, {member_id: topics[member_id] for member_id in order if is_emptied[member_id]})


def _all_names(group: ServerGroup) -> set[str]:
    gone = {tp.topic for member in group.members for tp in member.owned}
    return gone.union(group.topics, *(member.owned_topics for member in group.members))
