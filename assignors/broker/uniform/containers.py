"""The maps of sets of many members at once, on arrays: what each lists after its record is read and after changes.

Kafka keeps a member's assignment as a HashMap of topic ids to HashSets of partition numbers. As long as no bucket of a
table gets crowded, a table iterates in the order of a stable sort of its keys by bucket. Members with a crowded bucket
go through exact maps, one by one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.broker.group_spec import OwnedSets, ServerGroup
from assignors.broker.spec_arrays import BrokerList, Numbers, begins, expand, lengths, stable_order, topic_hashes
from assignors.javahash import INTEGERS, JavaHashSet
from assignors.javahash.hashes import DEFAULT_CAPACITY, threshold
from assignors.javahash.orders import grown_capacities, set_capacities, spread_all
from assignors.layout import Codes, Layout
from assignors.model import Topic

Change = tuple[Codes, bool]  # codes, and whether they come (True) or go
MOST_PUT = 8
"""Keys that `put` brings into one bucket; one more makes it a tree, or doubles the table."""
MOST_COMPUTED = MOST_PUT - 1
"""The same of `computeIfAbsent`."""
_SMALLEST_BLOCK = 1 << 14  # partitions planned at once: fewer take more time, as each block has a fixed cost
_LARGEST_BLOCK = 1 << 17  # more take more memory and no less time
_NOTHING: Codes = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Old:
    """What members own of topics to which they subscribe.

    `lists`: one per member, in the order of its containers. `gone`: members that own something of other topics too.
    `exact`: members that only exact maps can follow, those in `gone` included.
    """

    lists: list[BrokerList]
    gone: frozenset[int]
    exact: frozenset[int]


class Containers:
    """Everybody's maps of sets. Members are rows, topics are positions in the layout.

    `new_capacities: int32[n_topics]`, of a new set for partitions of the topic. `spreads: int32[n_topics]`:
    hash codes of topic ids as HashMap spreads them.
    """

    def __init__(self, group: ServerGroup, layout: Layout, new_capacities: Sequence[int] | None = None) -> None:
        self.layout = layout
        self._group = group
        topics = [group.topics.get(name) or Topic(name, 0) for name in layout.names]
        self.spreads = spread_all(topic_hashes(topics)).view(np.int32)
        self._offsets = layout.offsets.astype(np.int32)
        self._new_capacities = np.array(new_capacities or [DEFAULT_CAPACITY] * len(layout.names), dtype=np.int32)

    @property
    def _table(self) -> NDArray[np.int32]:
        return self.layout.topic_table()

    def new_capacity(self, topic: int) -> int:
        """The capacity of a new set for partitions of the topic."""
        return int(self._new_capacities[topic])

    def read(self, lists: Sequence[Codes]) -> tuple[list[Codes], set[int]]:
        """Each list in the order of `new HashMap()` with `new HashSet(list)` for each topic, as records are read.

        The rows where a bucket gets crowded come second; their order is not right.
        """
        return self._in_blocks([part for old in lists for part in (old, old[:0])], is_copy=False)

    def changed(self, old: Old, changes: Mapping[int, Sequence[Change]]) -> list[BrokerList]:
        """Each member's list after its changes, in turn, to a deep copy of its map; without changes the very list."""
        exact = old.gone | (old.exact & changes.keys())
        exact |= {row for row, some in changes.items() if len(some) > 1 and len({comes for _, comes in some}) > 1}
        codes = {row: old.lists[row].codes for row in changes if row not in exact}
        kept = self.keeping_order(old, [row for row in codes if not changes[row][0][1]])
        rows = [row for row in codes if row not in kept]
        parts = [part for row in rows for part in (codes[row], _coming(changes[row]))]
        found, crowded = self._in_blocks(parts, is_copy=True)
        codes |= zip(rows, found, strict=True)
        codes |= self._without(codes, changes)
        codes |= {row: self._replayed(row, changes.get(row, ())) for row in exact.union(rows[at] for at in crowded)}
        lists = list(old.lists)
        for row, found_codes in codes.items():
            lists[row] = BrokerList(self.layout, found_codes)
        return lists

    def keeping_order(self, old: Old, rows: Sequence[int]) -> set[int]:
        """The members among `rows` whose map surely lists the same in the same order when it is copied.

        `deep_copy` puts the topics into `new HashMap(size)`, which ends at the capacity of the map that was read if it
        has more than eight topics.
        """
        rows = [row for row in rows if row not in old.exact]
        if not rows:
            return set()
        counts = self._topic_counts([old.lists[row].codes for row in rows])
        capacities = grown_capacities(counts, 1)
        keeps = (counts > capacities // 2) & (capacities >= DEFAULT_CAPACITY)  # as large from the start
        for capacity in np.unique(capacities[~keeps]).tolist():
            if capacity > DEFAULT_CAPACITY and self._is_calm(capacity // 2):
                keeps |= capacities == capacity
        keeps |= counts == 1
        return {row for row, keep in zip(rows, keeps.tolist(), strict=True) if keep}

    def _topic_counts(self, lists: Sequence[Codes]) -> Numbers:
        """How many topics each list has that is not empty: int64[n_lists]."""
        counts = np.ones(len(lists), dtype=np.int64)
        table = self._table
        several = [at for at, codes in enumerate(lists) if table[codes[0]] != table[codes[-1]]]
        _, runs = self.runs([lists[at] for at in several])
        counts[several] = np.bincount(runs.parts, minlength=len(several))
        return counts

    def _is_calm(self, capacity: int) -> bool:
        """Whether no bucket of a table of that capacity gets crowded, even with all topics."""
        return int(np.bincount(self.spreads & (capacity - 1)).max()) <= MOST_COMPUTED

    def _without(self, lists: Mapping[int, Codes], changes: Mapping[int, Sequence[Change]]) -> dict[int, Codes]:
        """By row, the lists from which codes go, after they are gone."""
        shrunk = [row for row in lists if not changes[row][0][1]]
        stays = np.ones(len(self.layout), dtype=np.bool_)
        stays[_joined([codes for row in shrunk for codes, _ in changes[row]])] = False
        old = [lists[row] for row in shrunk]
        codes = _joined(old)
        left = np.flatnonzero(stays.take(codes))
        return dict(zip(shrunk, _cut(codes.take(left), left.searchsorted(lengths(old).cumsum())), strict=True))

    def _in_blocks(self, parts: Sequence[Codes], is_copy: bool) -> tuple[list[Codes], set[int]]:
        """The lists of all rows, and the crowded rows; `parts`: for each row what it has, then what comes."""
        lists: list[Codes] = []
        crowded: set[int] = set()
        for rows in self._blocks(lengths(parts).reshape(-1, 2).sum(axis=1)):
            found, some = self._block(parts[rows.start * 2 : rows.stop * 2], is_copy)
            lists += found
            crowded.update(rows.start + row for row in some)
        return lists, crowded

    def _blocks(self, sizes: Numbers) -> Iterator[slice]:
        """Rows of `sizes: int64[n_rows]`, cut into blocks that keep memory small."""
        block = min(max(len(self.layout) // 4 + 1, _SMALLEST_BLOCK), _LARGEST_BLOCK)
        number = (sizes + len(self.layout.names) // 16).cumsum() // block
        cuts = np.flatnonzero(number[1:] != number[:-1]) + 1
        return starmap(slice, pairwise([0, *cuts.tolist(), len(sizes)])) if len(sizes) else iter(())

    def _block(self, parts: Sequence[Codes], is_copy: bool) -> tuple[list[Codes], set[int]]:
        codes, runs = self.runs(parts)
        set_of, sets = _sets(runs, len(parts) // 2, len(self.layout.names))
        order, crowded = self.map_order(sets, is_copy)
        run_order = _run_order(order, set_of)
        codes = codes.take(expand(runs.starts[run_order], runs.sizes[run_order]))
        codes, more = self._in_set_order(codes, sets.take(order), is_copy)
        return _cut(codes, lengths(parts).reshape(-1, 2).sum(axis=1).cumsum()), crowded | more

    def _in_set_order(self, codes: Codes, sets: "Sets", is_copy: bool) -> tuple[Codes, set[int]]:
        """`set_order` of the sets that may need it: a copy has its original's order as long as nothing joins it."""
        unsorted = sets.sizes > (np.maximum(sets.before, 1) if is_copy else 1)
        places = np.flatnonzero(unsorted.repeat(sets.sizes))
        codes[places], crowded = self.set_order(codes.take(places), sets.take(np.flatnonzero(unsorted)))
        return codes, crowded

    def runs(self, parts: Sequence[Codes]) -> tuple[Codes, "Runs"]:
        """All parts one after another, and their runs."""
        codes = _joined(parts)
        return codes, Runs(self._table.take(codes), lengths(parts))

    def map_order(self, sets: "Sets", is_copy: bool) -> tuple[NDArray[np.intp], set[int]]:
        """The sets, row by row, as the maps list their topics; and the rows where a bucket of the map gets crowded."""
        n, is_new = len(sets.rows), sets.is_new
        counts = np.bincount(sets.rows, minlength=sets.n_rows)
        kept = np.bincount(sets.rows[~is_new], minlength=sets.n_rows)
        # An overfull map doubles at the next call only, and after a last topic of one partition there is none.
        put = np.maximum(kept, counts - sets.ends_with_new)
        capacities = grown_capacities(put, 1 if is_copy else DEFAULT_CAPACITY)
        spreads = self.spreads[sets.topics]
        places = np.arange(n, dtype=np.int32) - begins(counts)[sets.rows]
        crowded = crowded_growth(sets.rows, places, spreads, np.ones_like(counts), capacities, MOST_COMPUTED)
        keys = spreads & (capacities - 1)[sets.rows]
        keys += begins(capacities)[sets.rows]
        del places, spreads
        # `computeIfAbsent` puts a new topic to the front of its bucket, `put` to the end.
        if is_new.all():
            order = n - 1 - stable_order(keys[::-1])
        else:
            order = np.concatenate((np.flatnonzero(is_new)[::-1], np.flatnonzero(~is_new)))
            order = order[stable_order(keys[order])]
        full = order[crowded_places(keys[order], MOST_COMPUTED)]
        return order, crowded.union(sets.rows[full].tolist())

    def set_order(self, codes: Codes, sets: "Sets", stays: NDArray[np.bool_] | None = None) -> tuple[Codes, set[int]]:
        """The codes, set after set, as their sets list them; and the rows of crowded sets.

        `stays: bool[n_codes]`: False for codes that leave their set before the first new one comes.
        """
        topics, left = sets.topics, sets.left
        begun = np.where(sets.is_new, self._new_capacities[topics], set_capacities(sets.before, self._group.jdk))
        set_of = np.arange(len(left), dtype=np.int32).repeat(sets.sizes)
        capacities = np.maximum(grown_capacities(left, 1), begun)
        keys = spread_all(codes - self._offsets.take(topics).take(set_of)).view(np.int32)
        crowded: set[int] = set()
        if (begun < capacities).any():
            arrivals = np.arange(len(codes), dtype=np.int32) if stays is None else stays.cumsum(dtype=np.int32) - 1
            places = arrivals - begins(left).take(set_of)
            crowded = crowded_growth(set_of, places, keys, begun, capacities, MOST_PUT)
        keys &= (capacities - 1).take(set_of)
        keys += begins(capacities).take(set_of)
        if not (keys[1:] >= keys[:-1]).all():
            by_bucket = stable_order(keys)
            codes, keys = codes.take(by_bucket), keys.take(by_bucket)
            stays = None if stays is None else stays.take(by_bucket)
        crowded.update(set_of[crowded_places(keys, MOST_PUT)].tolist())
        codes = codes if stays is None else codes[stays]
        return codes, set(sets.rows[list(crowded)].tolist())

    def exact_owned(self, row: int) -> Codes:
        """What a member owns of topics to which it subscribes, by exact maps."""
        member = self._group.members[row]
        return self._listed(row, self._group.owned(member))

    def _listed(self, row: int, sets: OwnedSets) -> Codes:
        """The codes of a map of sets, int32[n], without topics to which the member does not subscribe."""
        positions = self._positions(row)
        codes = [
            self.layout.offsets[positions[uuid]] + np.fromiter(numbers, np.int64, len(numbers))
            for uuid, numbers in sets.items()
            if uuid in positions
        ]
        return np.concatenate([np.zeros(0, np.int64), *codes]).astype(np.int32)

    def _positions(self, row: int) -> Mapping[Any, int]:
        subscribed = self._group.subscribed(self._group.members[row])
        return {self._group.uuid_of(topic.name): self.layout.position[topic.name] for topic in subscribed}

    def _replayed(self, row: int, changes: Sequence[Change]) -> Codes:
        """What a member lists after the changes, by exact maps."""
        group, positions = self._group, self._positions(row)
        sets = group.deep_copy(group.owned(group.members[row]))
        for uuid in [uuid for uuid in sets if uuid not in positions]:
            del sets[uuid]
        uuids = {topic: uuid for uuid, topic in positions.items()}
        for code, comes in ((int(code), comes) for codes, comes in changes for code in codes):
            topic = int(self._table[code])
            number = code - int(self.layout.offsets[topic])
            if comes:
                make = partial(JavaHashSet[int], INTEGERS, self.new_capacity(topic))
                sets.compute_if_absent(uuids[topic], make).add(number)
                continue
            sets[uuids[topic]].remove(number)
            if not sets[uuids[topic]]:
                del sets[uuids[topic]]
        return self._listed(row, sets)


class Runs:
    """Stretches of one topic in one part: `starts`, `sizes`, `topics` and `parts`, each [n_runs]."""

    def __init__(self, topics: NDArray[np.int32], sizes: Numbers) -> None:
        """`topics: int32[n_codes]` of all parts one after another; `sizes: int64[n_parts]`."""
        ends = sizes.cumsum()
        is_first = np.ones(len(topics), dtype=np.bool_)
        np.not_equal(topics[1:], topics[:-1], out=is_first[1:])
        is_first[(ends - sizes)[sizes > 0]] = True
        self.starts = np.flatnonzero(is_first)
        self.sizes = np.append(self.starts[1:], len(topics))[: len(self.starts)] - self.starts
        self.topics = topics[self.starts]
        counts = np.append(0, self.starts.searchsorted(ends))
        self.parts = np.arange(len(sizes)).repeat(counts[1:] - counts[:-1])


@dataclass(frozen=True, slots=True)
class Sets:
    """One set for each row and topic, int32[n_sets] each, in the order in which they came into the rows' maps.

    `sizes`: all entries, those that leave included. `before`, `left`: entries before and after the changes.
    `is_new: bool[n_sets]`: sets that come by the changes. `ends_with_new: bool[n_rows]`: rows to which a new topic's
    only partition came last.
    """

    rows: NDArray[np.int32]
    topics: NDArray[np.int32]
    sizes: NDArray[np.int32]
    before: NDArray[np.int32]
    is_new: NDArray[np.bool_]
    ends_with_new: NDArray[np.bool_]
    left: NDArray[np.int32]

    def take(self, order: NDArray[np.intp]) -> "Sets":
        """The sets in that order."""
        return Sets(
            self.rows.take(order),
            self.topics.take(order),
            self.sizes.take(order),
            self.before.take(order),
            self.is_new.take(order),
            self.ends_with_new,
            self.left.take(order),
        )

    @property
    def n_rows(self) -> int:
        """The number of rows, those without sets included."""
        return len(self.ends_with_new)


def _sets(runs: Runs, n_rows: int, n_topics: int) -> tuple[NDArray[np.intp], Sets]:
    """The set of each run, intp[n_runs], and the sets."""
    rows, is_old, numbers = runs.parts // 2, runs.parts % 2 == 0, np.arange(len(runs.parts))
    keys = rows * n_topics + runs.topics
    first_of = np.empty(n_rows * n_topics, dtype=np.int32)
    first_of[keys[::-1]] = numbers[::-1]
    first = first_of[keys]
    is_first = first == numbers
    set_of, per_set = numbers, [runs.sizes, runs.sizes * is_old]
    if not is_first.all():
        set_of = (is_first.cumsum() - 1)[first]
        per_set = [np.bincount(set_of, sizes) for sizes in per_set]
    sizes, before = (counts.astype(np.int32) for counts in per_set)
    last_set = np.full(n_rows, -1)
    last_set[rows[~is_old]] = set_of[~is_old]
    is_new = before == 0
    is_single = np.append((sizes == 1) & is_new, False)
    rows = rows[is_first].astype(np.int32)
    return set_of, Sets(rows, runs.topics[is_first], sizes, before, is_new, is_single[last_set], sizes)


def _run_order(order: NDArray[np.intp], set_of: NDArray[np.intp]) -> NDArray[np.intp]:
    """The runs, set by set in that order; `set_of`: the set of each run."""
    if len(order) == len(set_of):
        return order
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return np.argsort(rank[set_of], kind="stable")


def crowded_places(keys: NDArray[np.integer[Any]], most: int) -> NDArray[np.intp]:
    """Where sorted keys are the same as `most` keys before."""
    return np.flatnonzero(keys[most:] == keys[:-most])


def crowded_growth(
    owners: NDArray[np.integer[Any]],
    places: NDArray[np.integer[Any]],
    spreads: NDArray[np.integer[Any]],
    begun: NDArray[np.integer[Any]],
    capacities: NDArray[np.int32],
    most: int,
) -> set[int]:
    """The owners of tables with more than `most` keys in a bucket at any capacity at which they grow.

    `owners`, `places` (which of its owner's keys in order of arrival) and `spreads`: of each key; `begun` (the first
    capacity) and `capacities`: of each owner.
    """
    found: set[int] = set()
    capacity = DEFAULT_CAPACITY
    while capacity < int(capacities.max(initial=0)):
        grows = (begun <= capacity) & (capacities > capacity)
        if grows.any():
            is_first = places <= threshold(capacity)
            is_first &= True if grows.all() else grows[owners]
            buckets = ((grows.cumsum(dtype=np.int32) - 1) * capacity)[owners[is_first]]
            buckets += spreads[is_first] & (capacity - 1)
            full = np.flatnonzero(np.bincount(buckets) > most) // capacity
            found.update(np.flatnonzero(grows)[full].tolist())
        capacity *= 2
    return found


def _joined(parts: Sequence[Codes]) -> Codes:
    if len(parts) > 1:
        return np.concatenate(parts)
    return parts[0] if parts else _NOTHING


def _coming(changes: Sequence[Change]) -> Codes:
    return _joined([codes for codes, comes in changes if comes])


def _cut(codes: Codes, ends: Numbers) -> list[Codes]:
    return [codes[begin:end] for begin, end in pairwise([0, *ends.tolist()])]
