"""What the members of a group own, as the broker reads it from its records: in Java's order."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import joined
from assignors.broker.group_spec import ServerGroup
from assignors.broker.spec_arrays import BrokerList, UncleanError, as_read, lengths, remembered
from assignors.broker.uniform.containers import Containers, Old
from assignors.layout import Codes, Layout
from assignors.model import TopicPartition


def read_owned(group: ServerGroup, containers: Containers, subscribes: NDArray[np.bool_] | None = None) -> Old:
    """Each member's list; those that are known to be in order already, as they are.

    `subscribes: bool[n_members, n_topics]`; None: all members to all topics of the layout. UncleanError on a partition
    that does not exist.
    """
    layout = containers.layout
    owned = [member.owned for member in group.members]
    lists: dict[int, BrokerList] = {}
    for row, part in enumerate(owned):
        known = as_read(part, layout, group.jdk) if part else BrokerList(layout, np.zeros(0, np.int32), group.jdk)
        if known is not None:
            lists[row] = known
    unread = [row for row in range(len(owned)) if row not in lists]
    codes, has_others = _encoded(layout, [owned[row] for row in unread])
    found, crowded = containers.read(codes)
    lists |= {row: BrokerList(layout, part, group.jdk) for row, part in zip(unread, found, strict=True)}
    gone = {unread[at] for at in has_others} | _with_unsubscribed(lists, layout, subscribes)
    exact = gone | {unread[at] for at in crowded}
    lists |= {row: BrokerList(layout, containers.exact_owned(row)) for row in exact}
    for row in set(unread) - exact:
        lists[row] = remembered(owned[row], lists[row])
    return Old([lists[row] for row in range(len(owned))], frozenset(gone), frozenset(exact))


def _encoded(layout: Layout, owned: Sequence[Sequence[TopicPartition]]) -> tuple[list[Codes], list[int]]:
    """Each list's codes, int32[n], of the layout's topics; and the rows that have other topics too.

    UncleanError on a number that its topic does not have.
    """
    located = [layout.locate(part) for part in joined(owned)]
    topics = np.concatenate([np.zeros(0, np.int32), *(topics for topics, _ in located)])
    numbers = np.concatenate([np.zeros(0, np.int64), *(numbers for _, numbers in located)])
    rows = np.arange(len(owned)).repeat([len(part) for part in owned])
    is_ours = topics >= 0
    has_others: list[int] = np.unique(rows[~is_ours]).tolist()
    if has_others:
        topics, numbers, rows = topics[is_ours], numbers[is_ours], rows[is_ours]
    if (numbers < 0).any() or (numbers >= layout.counts[topics]).any():
        raise UncleanError
    codes = (layout.offsets[topics] + numbers).astype(np.int32)
    bounds = rows.searchsorted(np.arange(len(owned) + 1)).tolist()
    return [codes[begin:end] for begin, end in pairwise(bounds)], has_others


def _with_unsubscribed(lists: dict[int, BrokerList], layout: Layout, subscribes: NDArray[np.bool_] | None) -> set[int]:
    """The members that own something of a topic to which they do not subscribe."""
    if subscribes is None:
        return set()
    parts = [part.codes for part in lists.values()]
    rows = np.array(list(lists)).repeat(lengths(parts))
    topics = layout.topic_table().take(np.concatenate(parts))
    return set(rows[~subscribes.ravel().take(rows * subscribes.shape[1] + topics)].tolist())
