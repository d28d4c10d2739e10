"""Old assignments as the broker reads them from its records: in the iteration order of a HashMap of HashSets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import ServerGroup
from assignors.broker.spec_arrays import BrokerList, Numbers, UncleanError, expand, topic_hashes
from assignors.javahash import CrowdedError
from assignors.javahash.hashes import DEFAULT_CAPACITY, Hashes, threshold
from assignors.javahash.maps import CROWDED
from assignors.javahash.orders import grown_capacities, segment_orders, spread_all
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Topic, TopicPartition


@dataclass(frozen=True, slots=True)
class Old:
    """What members own of topics they subscribe to, in Java's order; by member, of how many other topics it owns some.

    `crowded`: by member, the topics (positions in the layout) whose sets have a crowded bucket: every copy of such a
    set may iterate in another order.
    """

    lists: list[BrokerList]
    gone: Mapping[int, int]
    crowded: Mapping[int, frozenset[int]]


class Reader:
    """Reads what the members of one group own, all at once.

    `subscribes`: whether member (row) subscribes to topic (column); None: all members to all topics of the layout.
    """

    def __init__(self, group: ServerGroup, layout: Layout, subscribes: NDArray[np.bool_] | None = None) -> None:
        self._group = group
        self._layout = layout
        self._subscribes = subscribes

    def read(self) -> Old:
        """Each member's list; those that are known to be in order already, as they are.

        UncleanError on a partition that does not exist; CrowdedError where topic ids crowd a bucket.
        """
        owned = [member.owned for member in self._group.members]
        nothing = BrokerList(self._layout, np.zeros(0, dtype=np.int32), self._group.jdk)
        lists: list[BrokerList | None] = [self._if_known(part) if part else nothing for part in owned]
        for at in self._resubscribed(lists):
            lists[at] = None
        missing = [at for at, part in enumerate(lists) if part is None]
        gone: Mapping[int, int] = {}
        crowded: Mapping[int, frozenset[int]] = {}
        if missing:
            found, gone, crowded = self._read([owned[at] for at in missing], missing)
            for at, codes in zip(missing, found, strict=True):
                jdk = None if at in gone or at in crowded else self._group.jdk
                lists[at] = made = BrokerList(self._layout, codes, jdk)
                if isinstance(part := owned[at], BrokerList):
                    part.recorded = made
        return Old([part for part in lists if part is not None], gone, crowded)

    def _if_known(self, part: Sequence[TopicPartition]) -> BrokerList | None:
        if not isinstance(part, BrokerList):
            return None
        known = part.recorded or part
        return known if known.recorded_jdk == self._group.jdk and known.layout is self._layout else None

    def _resubscribed(self, lists: Sequence[BrokerList | None]) -> list[int]:
        """The members among these that own something of a topic to which they do not subscribe."""
        if self._subscribes is None or not any(part is not None for part in lists):
            return []
        known = [at for at, part in enumerate(lists) if part is not None]
        codes = [part.codes for part in lists if part is not None]
        members = np.repeat(known, list(map(len, codes)))
        topics = self._layout.topic_table().take(np.concatenate(codes))
        is_gone = ~self._subscribes.ravel().take(members * self._subscribes.shape[1] + topics)
        found: list[int] = np.unique(members[is_gone]).tolist()
        return found

    def _read(
        self, owned: Sequence[Sequence[TopicPartition]], members: Sequence[int]
    ) -> tuple[list[Codes], Mapping[int, int], Mapping[int, frozenset[int]]]:
        """What these members own: codes in order; and as in `Old`, `gone` and `crowded`."""
        layout = self._with_gone(owned)
        codes = _encoded(layout, owned)
        sizes = np.fromiter(map(len, owned), dtype=np.int64, count=len(owned))
        if not len(codes):
            return [codes] * len(owned), {}, {}
        codes, runs = _ordered(codes, sizes, layout, self._hashes(layout), self._group.jdk)
        topics = np.array([self._layout.position.get(name, -1) for name in layout.names])[runs.topics]
        owners = np.array(members)[runs.members]
        is_kept = topics >= 0
        if self._subscribes is not None:
            is_kept &= self._subscribes[owners, topics]
        shifts = self._layout.offsets[topics] - layout.offsets[runs.topics]
        codes = (codes + shifts.repeat(runs.sizes))[is_kept.repeat(runs.sizes)].astype(np.int32)
        kept = np.bincount(runs.members[is_kept], runs.sizes[is_kept], minlength=len(owned)).astype(np.int64)
        bounds = pairwise([0, *np.cumsum(kept).tolist()])
        is_hard = runs.crowded & is_kept
        crowded = _sets(owners[is_hard].tolist(), topics[is_hard].tolist())
        return [codes[begin:end] for begin, end in bounds], Counter(owners[~is_kept].tolist()), crowded

    def _hashes(self, layout: Layout) -> Hashes:
        topics = self._group.topics
        return topic_hashes([topics.get(name) or Topic(name, 0) for name in layout.names])

    def _with_gone(self, owned: Sequence[Sequence[TopicPartition]]) -> Layout:
        """The layout, and the topics beside it of which somebody owns something."""
        counts: dict[str, int] = {}
        layouts = {id(part.layout): part.layout for part in owned if isinstance(part, PartitionList)}
        for other in layouts.values():
            counts.update(zip(other.names, other.counts.tolist(), strict=True))
        for part in owned:
            for tp in () if isinstance(part, PartitionList) else part:
                counts[tp.topic] = max(counts.get(tp.topic, 0), tp.partition + 1)
        ours = dict(zip(self._layout.names, self._layout.counts.tolist(), strict=True))
        return self._layout if counts.keys() <= ours.keys() else Layout({**counts, **ours})


def _sets(members: Sequence[int], topics: Sequence[int]) -> dict[int, frozenset[int]]:
    """The topics of each member."""
    found: dict[int, set[int]] = {}
    for member, topic in zip(members, topics, strict=True):
        found.setdefault(member, set()).add(topic)
    return {member: frozenset(them) for member, them in found.items()}


def _encoded(layout: Layout, owned: Sequence[Sequence[TopicPartition]]) -> Codes:
    """The codes of all lists behind one another. UncleanError on a number that its topic does not have."""
    parts = []
    for part in _joined(owned):
        if isinstance(part, PartitionList) and part.layout.is_like(layout):
            parts.append(part.codes)
            continue
        topics, numbers = layout.locate(part)
        if (numbers < 0).any() or (numbers >= layout.counts[topics]).any():
            raise UncleanError
        parts.append((layout.offsets[topics] + numbers).astype(np.int32))
    return np.concatenate(parts)


def _joined(owned: Sequence[Sequence[TopicPartition]]) -> list[Sequence[TopicPartition]]:
    """Lists of the same kind behind one another as one."""
    made: list[Sequence[TopicPartition]] = []
    for layout, parts in groupby(owned, key=lambda part: part.layout if isinstance(part, PartitionList) else None):
        if layout is None:
            made.append(list(chain.from_iterable(parts)))
        else:
            codes = [part.codes for part in parts if isinstance(part, PartitionList)]
            made.append(PartitionList(layout, np.concatenate(codes)))
    return made


def _ordered(codes: Codes, sizes: Numbers, layout: Layout, hashes: Hashes, jdk: int) -> tuple[Codes, "Runs"]:
    """The codes as maps of sets list them, and the runs in which they then stand."""
    codes, runs = _grouped(codes, sizes, layout)
    numbers = codes - layout.offsets[runs.topics].astype(np.int32).repeat(runs.sizes)
    found = segment_orders(numbers, runs.starts, jdk)
    codes = codes if found.positions is None else codes[found.positions]
    runs.crowded[list(found.crowded)] = True
    moved = runs.map_order(hashes, len(sizes))
    if moved is None:
        return codes, runs
    return codes[expand(runs.starts[moved], runs.sizes[moved])], runs.moved(moved)


def _grouped(codes: Codes, sizes: Numbers, layout: Layout) -> tuple[Codes, "Runs"]:
    """The codes with each member's topics in one stretch each, as they first appear."""
    topics = layout.topic_table().take(codes)
    runs = Runs(topics, sizes)
    first = _first_of_equals(runs.members * len(layout.names) + runs.topics)
    if first is None:
        return codes, runs
    order = np.argsort(np.repeat(first, runs.sizes), kind="stable")
    return codes[order], Runs(topics[order], sizes)


def _first_of_equals(keys: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """For each key where an equal one first stands; None when all differ."""
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return None if len(distinct) == len(keys) else first[inverse]


class Runs:
    """Stretches of one topic in one member's list; `crowded`: those known to crowd a bucket of their set."""

    def __init__(self, topics: NDArray[np.int32], lengths: Numbers) -> None:
        """The topics of all lists behind one another, and how long each list is."""
        ends = lengths.cumsum()
        is_first = np.ones(len(topics), dtype=np.bool_)
        np.not_equal(topics[1:], topics[:-1], out=is_first[1:])
        is_first[(ends - lengths)[lengths > 0]] = True
        self.starts = np.flatnonzero(is_first)
        self.sizes = np.append(self.starts[1:], len(topics))[: len(self.starts)] - self.starts
        self.topics = topics[self.starts]
        counts = np.append(0, self.starts.searchsorted(ends))
        self.members = np.arange(len(lengths)).repeat(counts[1:] - counts[:-1])
        self.crowded = np.zeros(len(self.starts), dtype=np.bool_)

    def moved(self, order: NDArray[np.intp]) -> "Runs":
        """The runs in that order, behind one another."""
        made = copy(self)
        made.sizes, made.topics, made.members = self.sizes[order], self.topics[order], self.members[order]
        made.crowded = self.crowded[order]
        made.starts = np.cumsum(made.sizes) - made.sizes
        return made

    def map_order(self, hashes: NDArray[np.int32], members: int) -> NDArray[np.intp] | None:
        """Runs in the order in which a map filled with them lists the topics; None when they stand so already."""
        counts = np.bincount(self.members, minlength=members)
        spreads = spread_all(hashes)[self.topics].astype(np.int64)
        capacities = grown_capacities(counts)
        if int(counts.max()) > CROWDED:
            self._refuse_crowds(spreads, counts, capacities)
        offsets = np.cumsum(capacities) - capacities
        keys = (spreads & (capacities - 1)[self.members]) + offsets[self.members]
        return None if (keys[1:] >= keys[:-1]).all() else np.argsort(keys, kind="stable")

    def _refuse_crowds(self, spreads: Numbers, counts: Numbers, capacities: Numbers) -> None:
        places = np.arange(len(self.members)) - (np.cumsum(counts) - counts)[self.members]
        capacity = DEFAULT_CAPACITY
        while capacity <= int(capacities.max()):
            is_there = (places <= threshold(capacity)) & (capacities[self.members] >= capacity)
            buckets = self.members[is_there] * capacity + (spreads[is_there] & (capacity - 1))
            if int(np.bincount(buckets).max()) > CROWDED:
                raise CrowdedError
            capacity *= 2
