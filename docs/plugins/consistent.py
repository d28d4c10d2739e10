"""A worked example: rendezvous hashing. Who leaves gives up what it had, who joins takes its own; nothing else moves.

    groupscope assign group.yaml --plugin docs.plugins.consistent:Consistent

Thaler and Ravishankar, "Using name-based mappings to increase hit rates", 1998. The price of never looking at who owns
what: the members' counts differ as dice do.
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from assignors.model import Assignment, Group, Member, TopicPartition

Keys = NDArray[np.uint64]


class Consistent:
    """Each partition goes to the subscriber with the highest hash of both."""

    name = "consistent"

    def assign(self, group: Group) -> Assignment:
        """Plan the group."""
        plan: dict[str, list[TopicPartition]] = {member.member_id: [] for member in group.members}
        for name in sorted(group.topics):
            members = [member for member in group.members if name in member.topics]
            if members:
                for number, owner in enumerate(_owners(name, group.topics[name].partitions, members)):
                    plan[members[owner].member_id].append(TopicPartition(name, number))
        return Assignment(None, plan)


def _owners(topic: str, partitions: int, members: list[Member]) -> list[int]:
    """By partition: the position of its owner. Row by row of (partitions x members) would be too slow in Python."""
    numbers = _mixed(np.arange(partitions, dtype=np.uint64) ^ _key(topic))
    best = np.zeros(partitions, dtype=np.uint64)
    owners = np.zeros(partitions, dtype=np.int64)
    for position, member in enumerate(members):
        score = _mixed(numbers ^ _key(_identity(member)))
        higher = score > best
        best[higher], owners[higher] = score[higher], position
    found: list[int] = owners.tolist()
    return found


def _identity(member: Member) -> str:
    """A static member stays itself when it comes back under a new member id (KIP-345)."""
    return f"static {member.instance_id}" if member.instance_id is not None else f"dynamic {member.member_id}"


def _key(text: str) -> np.uint64:
    return np.uint64(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))


def _mixed(keys: Keys) -> Keys:
    """Every bit depends on every bit (the finaliser of SplitMix64; Steele, Lea and Flood, 2014)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
