"""`uniform` for members with equal subscriptions, on arrays: the plan of `homogeneous`, faster.

For clean groups only: every partition owned exists and has one owner. A member that keeps just what it has keeps the
very same list.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from assignors.broker.group_spec import ServerGroup
from assignors.broker.spec_arrays import (
    BrokerList,
    Numbers,
    UncleanError,
    expand,
    layout_of,
    lengths,
    topic_hashes,
    topic_rank,
)
from assignors.broker.uniform.containers import Change, Containers, Old, Sets
from assignors.broker.uniform.homogeneous import quotas
from assignors.broker.uniform.owned import free_codes, read_owned
from assignors.javahash import hash_set_capacity, put_order, string_order
from assignors.javahash.orders import grown_capacities
from assignors.layout import Codes, Layout
from assignors.model import Assignment, Topic

_MOST_PARTITIONS = 1 << 16  # beyond, Java mixes the high half of a number into its bucket


def fast_plan(group: ServerGroup) -> Assignment:
    """The plan. UncleanError where only exact maps will do."""
    topics = group.subscribed(group.members[0])
    if not topics or group.ghosts:
        raise UncleanError
    layout = layout_of(topics)
    order = _topic_order(group, topics, layout)
    lists = _fresh_lists(group, layout, order) or _changed_lists(group, layout, order)
    ids = tuple(member.member_id for member in group.members)
    return Assignment(None, {ids[at]: lists[at] for at in string_order(ids)})


def _topic_order(group: ServerGroup, topics: Sequence[Topic], layout: Layout) -> Numbers:
    """Positions of the topics in the order of the assignor's set of ids, int64[n_topics]."""
    capacity = hash_set_capacity(len(set(group.members[0].topics)), group.jdk)
    order = put_order(topic_hashes(topics), capacity, lambda at: topic_rank(topics[at]))
    return np.array([layout.position[topic.name] for topic in topics], dtype=np.int64)[order]


def _changed_lists(group: ServerGroup, layout: Layout, order: Numbers) -> list[BrokerList]:
    containers = Containers(group, layout)
    old = read_owned(group, containers)
    changes = _changes(layout, order, old)
    cut = containers.keeping_order(old, [row for row, [(_, comes)] in changes.items() if not comes])
    lists = containers.changed(old, {row: some for row, some in changes.items() if row not in cut})
    for row in cut:  # what goes are the last of a list
        lists[row] = BrokerList(layout, old.lists[row].codes[: -len(changes[row][0][0])])
    return lists


def _changes(layout: Layout, order: Numbers, old: Old) -> dict[int, list[Change]]:
    """By member, the codes that come or go. UncleanError where only exact maps will do."""
    owned = [part.codes for part in old.lists]
    sizes = lengths(owned)
    room = quotas(len(layout), sizes) - sizes
    full, open_ = np.flatnonzero(room < 0).tolist(), np.flatnonzero(room > 0)
    if not old.gone.isdisjoint(full):
        raise UncleanError  # Kafka removes topics that are gone and partitions in turn
    changes = {row: [(owned[row][room[row] :], False)] for row in full}
    free = np.concatenate([_free(layout, order, owned), *(codes for [(codes, _)] in changes.values())])
    ends = room[open_].cumsum()
    comes = zip(open_.tolist(), pairwise([0, *ends.tolist()]), strict=True)
    return changes | {row: [(free[begin:end], True)] for row, (begin, end) in comes}


def _free(layout: Layout, order: Numbers, owned: Sequence[Codes]) -> Codes:
    """What nobody owns, topic by topic. UncleanError when a partition is owned twice."""
    free = free_codes(layout, owned)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return free[np.argsort(rank[layout.topics_of(free)], kind="stable")]


def _fresh_lists(group: ServerGroup, layout: Layout, order: Numbers) -> list[BrokerList] | None:
    """The lists of members that own nothing yet: all partitions in one row, topics in `order`, cut at quotas.

    What a member gets of a topic are consecutive numbers. Their set iterates from the first multiple of its capacity
    on, then from its beginning. None where a member owns something, or where that order does not hold.
    """
    if any(member.owned for member in group.members) or not 0 < int(layout.counts.max()) <= _MOST_PARTITIONS:
        return None
    quota, extras = divmod(len(layout), len(group.members))
    ends = np.cumsum(quota + (np.arange(len(group.members)) >= len(group.members) - extras))
    topic_ends = np.cumsum(layout.counts[order])
    cuts = np.union1d(np.append(ends, topic_ends), 0)
    begins, sizes = cuts[:-1], np.diff(cuts)
    at = np.searchsorted(topic_ends, begins, side="right")
    numbers = begins - (topic_ends - layout.counts[order])[at]
    rows = np.searchsorted(ends, begins, side="right")
    ends_with_new = sizes[np.searchsorted(begins, ends) - 1] == 1
    is_new, came = np.ones(len(sizes), dtype=np.bool_), sizes.astype(np.int32)
    topics = order[at].astype(np.int32)
    sets = Sets(rows.astype(np.int32), topics, came, np.zeros_like(came), is_new, ends_with_new, came)
    by_map, crowded = Containers(group, layout).map_order(sets, is_copy=True)
    if crowded:
        return None
    capacities = grown_capacities(sizes)
    heads = np.minimum(-numbers % capacities, sizes)  # they stand at the end of the table
    firsts = layout.offsets[order[at]] + numbers
    starts = np.array((firsts + heads, firsts)).T[by_map]
    codes = expand(starts.ravel(), np.array((sizes - heads, heads)).T[by_map].ravel())
    return [BrokerList(layout, codes[begin:end]) for begin, end in pairwise([0, *ends.tolist()])]
