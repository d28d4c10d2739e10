"""Assignors that go wrong, each in its own way."""

import time

from assignors.model import Assignment, Group, TopicPartition


class Raises:
    """Throws."""

    name = "raises"

    def assign(self, group: Group) -> Assignment:
        raise ZeroDivisionError(group.group_id)


class Forgets:
    """Gives nothing to anybody."""

    name = "forgets"

    def assign(self, group: Group) -> Assignment:
        return Assignment(None, {member.member_id: () for member in group.members})


class Doubles:
    """Gives everything to everybody."""

    name = "doubles"

    def assign(self, group: Group) -> Assignment:
        all_of_it = [TopicPartition(t.name, number) for t in group.topics.values() for number in range(t.partitions)]
        return Assignment(None, {member.member_id: all_of_it for member in group.members})


class Dawdles(Raises):
    """Thinks for a while before it throws."""

    name = "dawdles"

    def assign(self, group: Group) -> Assignment:
        time.sleep(12)
        return super().assign(group)
