"""`server-range` on arrays: the same plan as `assignors.server_range.ranges`, for groups of any size."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.javahash import plain_order, string_order, table_size_for
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Assignment, Member
from assignors.server_arrays import expand, layout_of, topic_hashes
from assignors.server_group import ServerGroup, sized

Numbers = NDArray[np.int64]

_BLOCK = 1 << 16


def fast_ranges(group: ServerGroup, members: Sequence[Member]) -> Assignment:
    """The plan for members in the assignor's order; CrowdedError where ids collide too much."""
    topics = group.all_subscribed()
    layout = layout_of(tuple((topic.name, topic.partitions) for topic in topics))
    rows = _same_rows(group, members, layout) if group.homogeneous else _rows(group, members, layout)
    order = string_order(tuple(member.member_id for member in members), table_size_for(sized(len(members))))
    return Assignment(None, {members[at].member_id: PartitionList(layout, rows[at]) for at in order})


def _same_rows(group: ServerGroup, members: Sequence[Member], layout: Layout) -> list[Codes]:
    """Each member's codes where all subscribe to the same topics."""
    topics = group.subscribed(members[0])
    order = plain_order(topic_hashes(topics), table_size_for(sized(len(topics))))
    positions = np.array([layout.position[topic.name] for topic in topics], dtype=np.int64)[order]
    counts, offsets = layout.counts[positions], layout.offsets[positions]
    if len(counts) and (counts == counts[0]).all():
        return list(_equal_topics(offsets, *divmod(int(counts[0]), len(members)), len(members)))
    numbers = np.broadcast_to(np.arange(len(members))[:, None], (len(members), len(counts)))
    return _cut(counts, offsets, np.full(len(counts), len(members)), numbers)


def _equal_topics(offsets: Numbers, quota: int, extras: int, members: int) -> Iterator[Codes]:
    """All topics have the same size: a member's codes differ from the first one's by one number throughout."""
    begin = 0
    for width, height in ((quota + 1, extras), (quota, members - extras)):
        first = (offsets[:, None] + np.arange(begin, begin + width)).astype(np.int32).ravel()
        yield from first + (np.arange(height, dtype=np.int32) * np.int32(width))[:, None]
        begin += height * width


def _cut(counts: Numbers, offsets: Numbers, subscribers: Numbers, numbers: NDArray[np.integer[Any]]) -> list[Codes]:
    """Each member's codes (row) of some topics (column), whose subscriber number so many it is."""
    quotas, extras = np.divmod(counts, subscribers)
    lengths = quotas + (numbers < extras)
    starts = offsets + numbers * quotas + np.minimum(numbers, extras)
    codes = expand(starts.ravel(), lengths.ravel())
    ends = np.cumsum(lengths.sum(axis=1)).tolist()
    return [codes[begin:end] for begin, end in pairwise([0, *ends])]


def _rows(group: ServerGroup, members: Sequence[Member], layout: Layout) -> list[Codes]:
    """Each member's codes where subscriptions differ."""
    at = {names: number for number, names in enumerate(group.lists)}
    list_of = np.fromiter((at[member.topics] for member in members), dtype=np.int32, count=len(members))
    orders = [_order(group, names, layout) for names in group.lists]
    subscribes = np.zeros((len(group.lists), len(layout.names)), dtype=np.int32)
    for row, order in enumerate(orders):
        subscribes[row, order] = 1
    numbers = _counted(subscribes, list_of)
    rows: dict[int, Codes] = {}
    for number, order in enumerate(orders):
        mine = np.flatnonzero(list_of == number)
        for block in np.array_split(mine, len(mine) * len(order) // _BLOCK + 1):  # for the sake of memory
            ranks = numbers[np.ix_(block, order)] - 1
            cut = _cut(layout.counts[order], layout.offsets[order], numbers[-1, order], ranks)
            rows.update(zip(block.tolist(), cut, strict=True))
    return [rows[row] for row in range(len(members))]


def _counted(subscribes: NDArray[np.int32], list_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """How many subscribers each topic (column) has among the first members (row). NumPy's cumsum takes much longer."""
    numbers = np.empty((len(list_of), subscribes.shape[1]), dtype=np.int32)
    so_far = np.zeros(subscribes.shape[1], dtype=np.int32)
    for row, at in zip(numbers, list_of.tolist(), strict=True):
        so_far = np.add(so_far, subscribes[at], out=row)
    return numbers


def _order(group: ServerGroup, names: tuple[str, ...], layout: Layout) -> NDArray[np.intp]:
    """Positions in the layout of a member's topics, in the order in which its map lists them."""
    topics = group.existing(names)
    order = plain_order(topic_hashes(topics), table_size_for(sized(len(set(names)))))
    positions = np.array([layout.position[topic.name] for topic in topics], dtype=np.intp)
    return positions[order]
