"""The owners of all partitions in all generations, for charts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import holdings, pieces, widened
from assignors.layout import Layout
from assignors.whatif.generations import Generation
from assignors.whatif.moves import NOBODY

MISSING = -2
"""The partition does not exist."""


@dataclass(frozen=True, slots=True)
class OwnershipHistory:
    """Owners by generation and partition.

    `members` are in the order in which they first appear. `owners`: int32[n_generations, n_partitions], positions in
    `members`; -1 = none, -2 = the partition does not exist; of several owners (share groups) the first. `counts`:
    int32[n_generations, n_members], the partitions of each member.
    """

    layout: Layout
    members: tuple[str, ...]
    owners: NDArray[np.int32]
    counts: NDArray[np.int32]


def ownership_history(generations: Sequence[Generation]) -> OwnershipHistory:
    """The history with every partition that has a subscriber in any generation."""
    layout = widened(made.moves.layout for made in generations)
    members = tuple(dict.fromkeys(member.member_id for made in generations for member in made.members))
    position = {member: at for at, member in enumerate(members)}
    owners = np.full((len(generations), len(layout)), MISSING, dtype=np.int32)
    counts = np.zeros((len(generations), len(members)), dtype=np.int32)
    for row, made in enumerate(generations):
        held = holdings(made.after, pieces(made.after), layout, position)
        owners[row, _existing(layout, made)] = NOBODY
        owners[row, held.codes[::-1]] = held.owners[::-1]
        counts[row] = np.bincount(held.owners, minlength=len(members))
    return OwnershipHistory(layout, members, owners, counts)


def _existing(layout: Layout, generation: Generation) -> NDArray[np.bool_]:
    topics = generation.topics
    sizes = np.array([topics[name].partitions if name in topics else 0 for name in layout.names], dtype=np.int64)
    numbers = np.arange(len(layout)) - np.repeat(layout.offsets[:-1], layout.counts)
    return numbers < np.repeat(sizes, layout.counts)
