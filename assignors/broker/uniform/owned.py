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
    layout, members = containers.layout, group.members
    known = [as_read(member.owned, layout, (group.jdk, member.topics)) for member in members]
    nothing = BrokerList(layout, np.zeros(0, dtype=np.int32))
    lists = [nothing if part is None else part for part in known]
    unread = [row for row, part in enumerate(known) if part is None and members[row].owned]
    if not unread:
        return Old(lists, frozenset(), frozenset())
    codes, has_others = _encoded(layout, [members[row].owned for row in unread])
    found, crowded = containers.read(codes)
    gone = {unread[at] for at in has_others}
    if subscribes is not None:
        gone |= _with_unsubscribed(dict(zip(unread, codes, strict=True)), layout, subscribes)
    exact = gone | {unread[at] for at in crowded}
    for row, part in zip(unread, found, strict=True):
        if row in exact:
            lists[row] = BrokerList(layout, containers.exact_owned(row))
        else:
            lists[row] = remembered(members[row].owned, BrokerList(layout, part, (group.jdk, members[row].topics)))
    return Old(lists, frozenset(gone), frozenset(exact))


def free_codes(layout: Layout, owned: Sequence[Codes]) -> Codes:
    """What nobody owns: int32[n], ascending. UncleanError when a partition is owned twice."""
    taken = np.concatenate(owned, dtype=np.intp)  # as int32, indices take twice the time
    if not len(taken):
        return np.arange(len(layout), dtype=np.int32)
    is_free = np.ones(len(layout), dtype=np.bool_)
    is_free[taken] = False
    free = np.flatnonzero(is_free).astype(np.int32)
    if len(free) != len(layout) - len(taken):
        raise UncleanError
    return free


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


def _with_unsubscribed(lists: dict[int, Codes], layout: Layout, subscribes: NDArray[np.bool_]) -> set[int]:
    """The members that own something of a topic to which they do not subscribe."""
    rows = np.array(list(lists)).repeat(lengths(list(lists.values())))
    topics = layout.topic_table().take(np.concatenate(list(lists.values())))
    return set(rows[~subscribes.ravel().take(rows * subscribes.shape[1] + topics)].tolist())
