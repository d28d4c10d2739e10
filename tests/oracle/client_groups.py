"""A classic group whose members are Kafka's own assignors: between rebalances they keep what real clients keep."""

import struct
from collections.abc import Mapping
from dataclasses import replace

from assignors.client.sticky.user_data import encode
from assignors.model import Group, Member, Topic, TopicPartition
from tests.oracle.client_assignors import JavaAssignors, Lists


class JavaGroup:
    """Members join and leave; each change is one rebalance, or two when a cooperative member gives something up.

    Under an eager protocol a member owns nothing when it joins. `sticky` remembers in its user data;
    `cooperative-sticky` says what it owns, and the generation in its user data, too. `plans` has every generation's.
    """

    def __init__(
        self, java: JavaAssignors, name: str, topics: Mapping[str, Topic], members: tuple[Member, ...]
    ) -> None:
        self._java = java
        self._name = name
        self._topics = dict(topics)
        self._members = list(members)
        self.plans: list[Lists] = []
        self._rebalance()

    def join(self, member: Member) -> None:
        self._members.append(member)
        self._rebalance()

    def leave(self, member_id: str) -> None:
        self._members = [member for member in self._members if member.member_id != member_id]
        self._rebalance()

    def grow(self, topic: str, partitions: int) -> None:
        self._topics[topic] = Topic(topic, partitions)
        self._rebalance()

    def subscribe(self, member_id: str, topics: tuple[str, ...]) -> None:
        """Before it joins again, a cooperative member gives up what it does not subscribe to any more."""
        self._members = [
            replace(member, topics=topics, owned=tuple(tp for tp in member.owned if tp.topic in topics))
            if member.member_id == member_id
            else member
            for member in self._members
        ]
        self._rebalance()

    def _rebalance(self) -> None:
        plan = self._java.assign(self._name, Group("g", tuple(self._members), self._topics))
        assert isinstance(plan, dict), plan
        self.plans.append(plan)
        must_rejoin = any(set(member.owned) - set(plan[member.member_id]) for member in self._members)
        self._members = [self._reported(member, plan[member.member_id]) for member in self._members]
        if must_rejoin:
            self._rebalance()

    def _reported(self, member: Member, owned: list[TopicPartition]) -> Member:
        generation = len(self.plans)
        if self._name == "sticky":
            return replace(member, user_data=encode(owned, generation), generation=generation)
        if self._name == "cooperative-sticky":
            return replace(member, owned=tuple(owned), generation=generation, user_data=struct.pack(">i", generation))
        return replace(member, generation=generation)
