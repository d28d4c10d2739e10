"""Random groups for the broker's assignors: chains of changes, each planned from the plan before, some of it spoilt."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, product
from uuid import UUID

from assignors.model import Assignment, Group, Member, Topic, TopicPartition
from tests.oracle.tally import generator

LARGE_COUNTS = (700, 1000, 2048, 3000)


def chains(seed: int, patterns: float = 0.0) -> Iterator["Chain"]:
    """Endless groups, each to be planned and changed a few times."""
    return (Chain(generator(seed, number), patterns=patterns) for number in count())


class Chain:
    """A group in the course of its life."""

    def __init__(self, r: random.Random, large: float = 0.0, patterns: float = 0.0) -> None:
        """How likely there are few topics with thousands of partitions (`large`), and subscriptions by pattern."""
        self._r = r
        self._ids = iter(member_ids(r))
        self._by_pattern = r.choice((0.3, 0.9, 1.0)) if r.random() < patterns else 0.0
        self._is_mixed = r.random() < 0.45
        self._is_large = r.random() < large
        ids = topic_ids(r)[: 3 if self._is_large else None]
        counts = [r.choice(LARGE_COUNTS) if self._is_large else partitions(r, len(ids)) for _ in ids]
        topics = [Topic(f"t{n}", size, topic_id=uuid) for n, (size, uuid) in enumerate(zip(counts, ids, strict=True))]
        self._names = [topic.name for topic in topics] + ["unknown"] * (r.random() < 0.1)
        self._common = self._subscription()
        members = [self._new_member() for _ in range(r.choice((1, 2, 3, 3, 5, 5, 8, 8, 13, 13, 21, 32, 50)))]
        self.group = Group("group", tuple(members), {topic.name: topic for topic in topics})
        self.steps = r.randrange(1, 5)

    def _subscription(self) -> tuple[str, ...]:
        count = self._r.randrange(len(self._names) + 1) if self._r.random() < 0.8 else len(self._names)
        return tuple(self._r.sample(self._names, count))

    def _new_member(self) -> Member:
        instance = f"i{self._r.randrange(100)}" if self._r.random() < 0.2 else None
        topics = self._subscription() if self._is_mixed and self._r.random() < 0.7 else self._common
        if self._r.random() < 0.05:
            topics += topics[:1]
        return self._subscribing(Member(next(self._ids), instance), topics)

    def _subscribing(self, member: Member, topics: tuple[str, ...]) -> Member:
        """By name, or by one of two patterns that match the same."""
        if self._r.random() >= self._by_pattern:
            return replace(member, topics=topics, pattern=None)
        spare = ["absent"] * (self._r.random() < 0.1)
        return replace(member, topics=tuple(sorted(set(topics))), pattern="|".join(sorted({*topics, *spare})))

    def go_on(self, made: Assignment) -> set[str]:
        """Take the plan for the members' own, as it is or as plain tuples, then change the group.

        Returns the members that still own what the plan gave them; not those that own a topic which is gone, whose id
        nobody knows here any more.
        """
        plan = made.by_member
        if self._r.random() < 0.3:
            plan = {member: tuple(owned) for member, owned in plan.items()}
        members = [
            replace(
                member,
                owned=plan.get(member.member_id, ()),
                owned_topics=made.topics_by_member.get(member.member_id, ()),
            )
            for member in self.group.members
        ]
        self.group = replace(self.group, members=tuple(members))
        for change in self._r.sample(
            (self._leave, self._join, self._grow, self._resubscribe, self._delete, self._spoil), 2
        ):
            change()
        return {member.member_id for member in self.group.members if self._is_unspoiled(member, plan)}

    def _is_unspoiled(self, member: Member, plan: Mapping[str, Sequence[TopicPartition]]) -> bool:
        topics = {*member.owned_topics, *(tp.topic for tp in member.owned)}
        return member.owned is plan.get(member.member_id) and topics <= self.group.topics.keys()

    def _leave(self) -> None:
        count = self._r.randrange(1, 3)
        stay = list(self.group.members)
        for _ in range(min(count, len(stay) - 1)):
            stay.pop(self._r.randrange(len(stay)))
        self.group = replace(self.group, members=tuple(stay))

    def _join(self) -> None:
        members = [*self.group.members, *(self._new_member() for _ in range(self._r.randrange(1, 4)))]
        self.group = replace(self.group, members=tuple(members))

    def _grow(self) -> None:
        topic = self._r.choice(list(self.group.topics.values()))
        grown = replace(topic, partitions=topic.partitions + self._r.randrange(1, 400 if self._is_large else 20))
        self.group = replace(self.group, topics={**self.group.topics, topic.name: grown})

    def _resubscribe(self) -> None:
        if self._is_mixed or self._r.random() < 0.3:
            self._change_member(lambda member: self._subscribing(member, self._subscription()))
        else:
            self._common = self._subscription()
            members = tuple(self._subscribing(member, self._common) for member in self.group.members)
            self.group = replace(self.group, members=members)

    def _delete(self) -> None:
        if len(self.group.topics) > 1 and self._r.random() < 0.3:
            gone = self._r.choice(list(self.group.topics))
            kept = {name: topic for name, topic in self.group.topics.items() if name != gone}
            self.group = replace(self.group, topics=kept)

    def _spoil(self) -> None:
        """Claims that no plan gives: of others' partitions, of partitions and topics that do not exist."""
        if self._r.random() < 0.5:
            self._change_member(lambda member: replace(member, owned=self._claims(member)))

    def _claims(self, member: Member) -> tuple[TopicPartition, ...]:
        more = [self._claim() for _ in range(self._r.choice((1, 3, 30)))]
        claimed = list(dict.fromkeys([*member.owned, *more]))
        self._r.shuffle(claimed)
        return tuple(claimed)

    def _claim(self) -> TopicPartition:
        topic = self._r.choice(list(self.group.topics.values()))
        beyond = 2 if self._r.random() < 0.02 else 0
        return TopicPartition(topic.name, self._r.randrange(max(topic.partitions, 1) + beyond))

    def _change_member(self, change: Callable[[Member], Member]) -> None:
        members = list(self.group.members)
        at = self._r.randrange(len(members))
        members[at] = change(members[at])
        self.group = replace(self.group, members=tuple(members))


def partitions(r: random.Random, topics: int) -> int:
    """How many partitions one of so many topics has."""
    many = () if topics > 3 else (17, 40, r.randrange(1, 60), r.randrange(1, 60), r.randrange(1, 200))
    return int(r.choice((1, 2, 3, 5, 7, 11, 16, *many)))


def topic_ids(r: random.Random) -> list[str]:
    """Ids of a few topics; some share a bucket of any map that is small."""
    count = r.choice((1, 1, 1, 2, 2, 3, 5, 8, 13, 30))
    shift = r.choice((0, 0, 0, 8, 32))
    return [str(UUID(int=(r.getrandbits(128) >> shift) << shift)) for _ in range(count)]


def member_ids(r: random.Random) -> list[str]:
    """Distinct ids, more than a chain needs; some kinds collide."""
    kind = r.randrange(4)
    if kind == 0:
        ids = [f"m{n}" for n in range(200)]
    elif kind == 1:
        ids = [str(UUID(int=r.getrandbits(128))) for _ in range(200)]
    elif kind == 2:
        ids = ["".join(parts) for parts in product(("Aa", "BB"), repeat=8)]
    else:
        ids = [f"consumer-{n % 7}-{n:03}" for n in range(200)]
    r.shuffle(ids)
    return ids
