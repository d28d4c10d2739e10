"""Assignments as arrays: which partition is with which member, as codes of one layout."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import MOST_PARTITIONS
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Assignment, AssignorError, TopicPartition

Members = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Holdings:
    """Pairs of a partition's code and the position of the member that has it, in the order of the assignment."""

    codes: Codes
    owners: Members


def joined(lists: Iterable[Sequence[TopicPartition]]) -> Iterator[Sequence[TopicPartition]]:
    """The lists, concatenated as far as possible: neighbours of one layout become one array-backed list."""
    for layout, run in groupby((part for part in lists if len(part)), key=_layout_of):
        if layout is None:
            yield list(chain.from_iterable(run))
        else:
            yield PartitionList(layout, np.concatenate([part.codes for part in run if isinstance(part, PartitionList)]))


def _layout_of(part: Sequence[TopicPartition]) -> Layout | None:
    return part.layout if isinstance(part, PartitionList) else None


def packed(partitions: Sequence[TopicPartition]) -> PartitionList:
    """The same partitions, array-backed; a plain list gets a layout that reaches to the highest number of each topic.

    Raises AssignorError on a number below 0, and on one too large for any layout.
    """
    if isinstance(partitions, PartitionList):
        return partitions
    names = Layout(dict.fromkeys(set(map(itemgetter(0), partitions)), 0))
    topics, numbers = names.locate(partitions)
    sizes = np.zeros(len(names.names), dtype=np.int64)
    np.maximum.at(sizes, topics, numbers + 1)
    if numbers.min(initial=0) < 0 or sizes.sum() > MOST_PARTITIONS:
        worst = partitions[int(numbers.argmin() if numbers.min() < 0 else numbers.argmax())]
        raise AssignorError(f"There can be no partition {worst.partition} of topic {worst.topic!r}.")
    layout = Layout(dict(zip(names.names, sizes.tolist(), strict=True)))
    return PartitionList(layout, (layout.offsets[topics] + numbers).astype(np.int32))


def covering(parts: Iterable[PartitionList], layout: Layout | None) -> Layout:
    """The layout, grown where a list holds more than it has; None: as large as the lists' own layouts together."""
    parts = list(parts)
    if layout is None:
        return widened(part.layout for part in parts)
    beyond = [part for part in parts if not part.layout.is_like(layout)]
    return widened([layout, *map(_held, beyond)]) if beyond else layout


def widened(layouts: Iterable[Layout]) -> Layout:
    """One layout with all topics of those, each with the most partitions that it has in any."""
    distinct = {id(layout): layout for layout in layouts}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    sizes: dict[str, int] = {}
    for layout in distinct.values():
        for name, size in zip(layout.names, layout.counts.tolist(), strict=True):
            sizes[name] = max(size, sizes.get(name, 0))
    return Layout(sizes)


def _held(part: PartitionList) -> Layout:
    """The layout that reaches to the highest number held of each topic."""
    topics = part.layout.topics_of(part.codes)
    sizes = np.zeros(len(part.layout.names), dtype=np.int64)
    np.maximum.at(sizes, topics, part.codes - part.layout.offsets[topics] + 1)
    return Layout({part.layout.names[at]: int(sizes[at]) for at in np.flatnonzero(sizes).tolist()})


def codes_in(layout: Layout, part: PartitionList) -> Codes:
    """Codes of the list in another layout, which must have all of it."""
    if part.layout.is_like(layout):
        return part.codes
    topics, numbers = layout.locate(part)
    return (layout.offsets[topics] + numbers).astype(np.int32)


def pieces(assignment: Assignment) -> list[PartitionList]:
    """The partitions of all members, concatenated. Raises AssignorError as `packed` does."""
    return [packed(run) for run in joined(assignment.by_member.values())]


def holdings(
    assignment: Assignment, parts: Iterable[PartitionList], layout: Layout, position: Mapping[str, int]
) -> Holdings:
    """The assignment, of which `parts` are the pieces, in a layout that covers it; members by their positions."""
    codes = np.concatenate([np.zeros(0, np.int32), *(codes_in(layout, part) for part in parts)])
    members = np.array([position[member] for member in assignment.by_member], dtype=np.int32)
    return Holdings(codes, np.repeat(members, [len(part) for part in assignment.by_member.values()]))


def translated(codes: Codes, source: Layout, target: Layout) -> Codes:
    """The codes in another layout; -1 for partitions that it does not have."""
    if source.is_like(target):
        return codes
    topics, numbers = target.locate(PartitionList(source, codes))
    inside = (topics >= 0) & (numbers < target.counts[topics]) if len(target.names) else topics >= 0
    found = np.full(len(codes), -1, dtype=np.int32)
    found[inside] = target.offsets[topics[inside]] + numbers[inside]
    return found
