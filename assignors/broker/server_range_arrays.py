"""`server-range` on arrays: the same plan as `assignors.broker.server_range.ranges`, for groups of any size."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup, sized
from assignors.broker.spec_arrays import expand, layout_of, topic_hashes
from assignors.javahash import plain_order, string_order, table_size_for
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Assignment, Member

Numbers = NDArray[np.signedinteger[Any]]

_BLOCK = 1 << 14


def fast_ranges(group: ServerGroup, members: Sequence[Member]) -> Assignment:
    """The plan for members in the assignor's order; CrowdedError where ids collide too much."""
    topics = group.all_subscribed()
    layout = layout_of(topics)
    rows = _same_rows(group, members, layout) if group.homogeneous else _rows(group, members, layout)
    order = string_order(tuple(member.member_id for member in members), table_size_for(sized(len(members))))
    return Assignment(None, {members[at].member_id: PartitionList(layout, rows[at]) for at in order})


def _same_rows(group: ServerGroup, members: Sequence[Member], layout: Layout) -> list[Codes]:
    """Each member's codes where all subscribe to the same topics."""
    order = _order(group, members[0].topics, layout, len(layout.names))
    kinds = np.zeros(len(order), dtype=np.intp)
    return _of_list(layout, order, kinds, np.arange(len(members))[:, None], np.array([len(members)]))


def _rows(group: ServerGroup, members: Sequence[Member], layout: Layout) -> list[Codes]:
    """Each member's codes where subscriptions differ. Topics of the same kind have the same subscribers."""
    list_of = group.list_of(members)
    orders = [_order(group, names, layout, len(set(names))) for names in group.lists]
    has = np.zeros((len(layout.names), len(orders)), dtype=np.bool_)
    for at, order in enumerate(orders):
        has[order, at] = True
    known: dict[bytes, int] = {}
    kinds = np.array([known.setdefault(row.tobytes(), len(known)) for row in has], dtype=np.intp)
    lists = np.frombuffer(b"".join(known), dtype=np.bool_).reshape(len(known), len(orders))
    counts = lists.T[list_of].cumsum(axis=0, dtype=np.int32)
    rows: dict[int, Codes] = {}
    for at, order in enumerate(orders):
        mine = np.flatnonzero(list_of == at)
        made = _of_list(layout, order, kinds[order], counts[mine] - 1, counts[-1])
        rows.update(zip(mine.tolist(), made, strict=True))
    return [rows[row] for row in range(len(members))]


def _order(group: ServerGroup, names: tuple[str, ...], layout: Layout, expected: int) -> NDArray[np.intp]:
    """int[n_topics]: the topics' positions in the layout, in the order of a HashMap made for `expected` keys."""
    topics = group.existing(names)
    order = plain_order(topic_hashes(topics), table_size_for(sized(expected)))
    positions = np.array([layout.position[topic.name] for topic in topics], dtype=np.intp)
    return positions[order]


def _of_list(
    layout: Layout, order: NDArray[np.intp], kinds: NDArray[np.intp], numbers: Numbers, subscribers: Numbers
) -> list[Codes]:
    """The codes of each member, where all members subscribe to the same topics.

    `order` and `kinds`: int[n_topics], each topic's position in the layout and its kind (topics of one kind have the
    same subscribers). `numbers`: int[n_members, n_kinds], the member's position among the subscribers of a kind, from
    0. `subscribers`: int[n_kinds], how many subscribers a kind has.
    """
    counts, offsets = layout.counts[order], layout.offsets[order]
    if len(order) and (counts == counts[0]).all() and (kinds == kinds[0]).all():
        return _equal_topics(offsets, *divmod(int(counts[0]), int(subscribers[kinds[0]])), numbers[:, kinds[0]])
    step = max(_BLOCK // max(len(order), 1), 1)
    blocks = (numbers[begin : begin + step, kinds] for begin in range(0, len(numbers), step))  # for the sake of memory
    return [codes for block in blocks for codes in _cut(counts, offsets, subscribers[kinds], block)]


def _equal_topics(offsets: Numbers, quota: int, extras: int, numbers: Numbers) -> list[Codes]:
    """The same where all topics have the same size and subscribers. `numbers`: int[n_members].

    All codes of a member differ from those of another member by the same number.
    """
    begins = (numbers * quota + np.minimum(numbers, extras)).astype(np.int32)
    codes: list[Codes] = []
    for width, some in ((quota + 1, begins[numbers < extras]), (quota, begins[numbers >= extras])):
        first = (offsets[:, None] + np.arange(width)).astype(np.int32).ravel()
        codes += list(first + some[:, None])
    return codes


def _cut(counts: Numbers, offsets: Numbers, subscribers: Numbers, numbers: Numbers) -> list[Codes]:
    """The codes of each member. `counts`, `offsets` and `subscribers`: int[n_topics].

    `numbers`: int[n_members, n_topics], the member's position among the subscribers of a topic, from 0.
    """
    quotas, extras = np.divmod(counts, subscribers)
    lengths = quotas + (numbers < extras)
    starts = offsets + numbers * quotas + np.minimum(numbers, extras)
    codes = expand(starts.ravel(), lengths.ravel())
    ends = np.cumsum(lengths.sum(axis=1)).tolist()
    return [codes[begin:end] for begin, end in pairwise([0, *ends])]
