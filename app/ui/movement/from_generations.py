"""From generations, folded, recorded or simulated, to `Steps`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.ui.movement.steps import NOBODY, Owners, Steps
from assignors.layout import Layout
from assignors.model import TopicPartition
from assignors.whatif.generations import Generation
from assignors.whatif.ownership_history import ownership_history


def steps_of(generations: Sequence[Generation]) -> Steps:
    """The generations of a fold, a recording or a simulation as arrays. ValueError when there are none."""
    if not generations:
        raise ValueError("there is no generation to draw")
    table = ownership_history(generations)
    position = {member: at for at, member in enumerate(table.members)}
    present = np.zeros((len(generations), len(position)), dtype=np.bool_)
    for row, generation in enumerate(generations):
        present[row, [position[member.member_id] for member in generation.members]] = True
    return Steps(
        names=frame_names([generation.number for generation in generations]),
        events=tuple(generation.event for generation in generations),
        members=table.members,
        topics=table.layout.names,
        start=_start(generations[0].before.by_member, table.layout, position),
        owners=table.owners,
        present=present,
        **columns(table.layout),
    )


def columns(layout: Layout) -> dict[str, Any]:
    """Topic and number of each partition of a layout, as `Steps` keeps them."""
    topic_of = layout.topic_table()
    return {
        "topic_of": topic_of,
        "numbers": (np.arange(len(layout)) - layout.offsets[topic_of]).astype(np.int32),
    }


def frame_names(numbers: Sequence[int]) -> tuple[str, ...]:
    """Generation numbers as names; one that comes again, as after the group was deleted, says which time it is."""
    seen: dict[int, int] = {}
    names = []
    for number in numbers:
        seen[number] = seen.get(number, 0) + 1
        names.append(str(number) if seen[number] == 1 else f"{number} ({seen[number]})")
    return tuple(names)


def _start(before: Mapping[str, Sequence[TopicPartition]], layout: Layout, position: dict[str, int]) -> Owners:
    start = np.full(len(layout), NOBODY, dtype=np.int32)
    for member, partitions in before.items():
        topics, numbers = layout.locate(partitions)
        known = (topics >= 0) & (numbers < layout.counts[topics]) & (member in position)
        start[layout.offsets[topics[known]] + numbers[known]] = position.get(member, NOBODY)
    return start
