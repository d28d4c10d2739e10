"""Assignors that go wrong, each in its own way."""

import os
import re
import time
from pathlib import Path

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
    """Thinks until the file that DAWDLES_UNTIL names is there, and throws then."""

    name = "dawdles"

    def assign(self, group: Group) -> Assignment:
        until = Path(os.environ["DAWDLES_UNTIL"])
        while not until.exists():
            time.sleep(0.05)
        return super().assign(group)


class Sticks(Raises):
    """Makes the file that STICKS_FROM names, and is then in C code that no other thread can interrupt."""

    name = "sticks"

    def assign(self, group: Group) -> Assignment:
        Path(os.environ["STICKS_FROM"]).touch()
        re.match("(a+)+$", "a" * 60 + "b")
        return super().assign(group)
