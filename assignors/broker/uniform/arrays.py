"""`uniform` for members with equal subscriptions, on arrays: the plan of `homogeneous`, faster.

For clean groups only: everything owned exists and has one owner, and no topic ids collide so much that hash buckets get
crowded. A member that keeps just what it has keeps the very same list.
"""

from collections.abc import Sequence

import numpy as np

from assignors.broker.group_spec import ServerGroup
from assignors.broker.spec_arrays import Numbers, UncleanError, layout_of, topic_hashes
from assignors.broker.uniform.fill import NONE, Filler
from assignors.broker.uniform.flat import Fills, filled_lists
from assignors.broker.uniform.fresh import fresh_lists
from assignors.broker.uniform.homogeneous import quotas
from assignors.broker.uniform.recorded import Old, Reader
from assignors.javahash import hash_set_capacity, plain_order, string_order
from assignors.layout import Codes, Layout
from assignors.model import Assignment, Topic, TopicPartition

Lists = Sequence[Sequence[TopicPartition]]


def fast_plan(group: ServerGroup) -> Assignment:
    """The plan. UncleanError or CrowdedError where only exact maps will do."""
    topics = group.subscribed(group.members[0])
    if not topics or group.ghosts:
        raise UncleanError
    layout = layout_of(tuple((topic.name, topic.partitions) for topic in topics))
    order = _topic_order(group, topics, layout)
    if any(member.owned for member in group.members):
        lists = _changed(group, layout, order)
    else:
        lists = fresh_lists(_filler(group, layout), order, len(group.members))
    ids = tuple(member.member_id for member in group.members)
    return Assignment(None, {ids[at]: lists[at] for at in string_order(ids)})


def _topic_order(group: ServerGroup, topics: Sequence[Topic], layout: Layout) -> Numbers:
    """Positions of the topics in the order of the assignor's set of ids."""
    names = len(set(group.members[0].topics))
    order = plain_order(topic_hashes(topics), hash_set_capacity(names, group.jdk))
    return np.array([layout.position[topic.name] for topic in topics], dtype=np.int64)[order]


def _filler(group: ServerGroup, layout: Layout) -> Filler:
    return Filler(layout, topic_hashes([group.topics[name] for name in layout.names]), group.jdk)


def _changed(group: ServerGroup, layout: Layout, order: Numbers) -> Lists:
    filler = _filler(group, layout)
    old = Reader(group, layout).read()
    free = _free(layout, order, [part.codes for part in old.lists])
    sizes = [len(part.codes) for part in old.lists]
    allowed = quotas(len(layout), sizes)
    for at, (size, quota) in enumerate(zip(sizes, allowed, strict=True)):
        if size > quota:
            free.append(old.lists[at].codes[quota:])
            old.lists[at] = filler.cut(old.lists[at].codes, quota, old.gone.get(at, 0), old.crowded.get(at, NONE))
    room = [quota - size for quota, size in zip(allowed, sizes, strict=True)]
    return _filled(filler, old, room, np.concatenate(free))


def _free(layout: Layout, order: Numbers, owned: Sequence[Codes]) -> list[Codes]:
    """What nobody owns, topic by topic. UncleanError when a partition is owned twice."""
    taken = np.concatenate(owned, dtype=np.intp)  # as int32, indices take twice the time
    is_free = np.ones(len(layout), dtype=np.bool_)
    is_free[taken] = False
    free = np.flatnonzero(is_free).astype(np.int32)
    if len(free) != len(layout) - len(taken):
        raise UncleanError
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return [free[np.argsort(rank[layout.topics_of(free)], kind="stable")]]


def _filled(filler: Filler, old: Old, room: Sequence[int], free: Codes) -> Lists:
    begin, fills, filled = 0, Fills(), []
    for at, places in enumerate(room):
        if places > 0 or (places == 0 and at in old.gone):
            new = free[begin : begin + places]
            fills.add(old.lists[at].codes, new, old.gone.get(at, 0), old.crowded.get(at, NONE))
            filled.append(at)
            begin += places
    for at, made in zip(filled, filled_lists(filler, fills), strict=True):
        old.lists[at] = made
    return old.lists
