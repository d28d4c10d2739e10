"""What many members' containers list after partitions came to them, all members at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.broker.spec_arrays import BrokerList, Numbers, expand, lengths
from assignors.broker.uniform.fill import NONE, Filler, Topics
from assignors.broker.uniform.recorded import Runs
from assignors.javahash import CrowdedError, hash_set_capacity
from assignors.javahash.hashes import DEFAULT_CAPACITY, threshold
from assignors.javahash.maps import CROWDED
from assignors.javahash.orders import number_order, set_capacities, spread_all
from assignors.layout import Codes

_BLOCKS = 4  # so many at least for all partitions, of this size: large ones are fast, small ones save memory
_BLOCK_SIZES = (1 << 14, 1 << 17)
_DENSE = 8
_DEFAULT_FROM = 7  # so many topics take the default capacity or more, and then a copied map has the order of the first


@dataclass(slots=True)
class Fills:
    """Lists in Java's order (`olds`), and what comes to each (`news`, in order of arrival); rows count from 0.

    `gone`: by row, of how many more topics the copied map had something. `crowded`: by row, topics of crowded sets.
    """

    olds: list[Codes] = field(default_factory=list)
    news: list[Codes] = field(default_factory=list)
    gone: dict[int, int] = field(default_factory=dict)
    crowded: dict[int, Topics] = field(default_factory=dict)

    def add(self, old: Codes, new: Codes, gone: int = 0, crowded: Topics = NONE) -> None:
        """One member more."""
        if gone:
            self.gone[len(self.olds)] = gone
        if crowded:
            self.crowded[len(self.olds)] = crowded
        self.olds.append(old)
        self.news.append(new)

    def lengths(self) -> Numbers:
        """How long each list gets."""
        return lengths(self.olds) + lengths(self.news)

    def part(self, rows: slice) -> "Fills":
        """Some rows, counted from 0."""
        gone, crowded = self.gone, self.crowded
        numbers = range(rows.start, rows.stop)
        return Fills(
            self.olds[rows],
            self.news[rows],
            {row - rows.start: gone[row] for row in numbers if row in gone},
            {row - rows.start: crowded[row] for row in numbers if row in crowded},
        )


def filled_lists(filler: Filler, fills: Fills) -> list[BrokerList]:
    """What copied maps of copied sets list in the end. CrowdedError where topic ids crowd a bucket."""
    table = filler.layout.topic_table()
    parts = blocks(fills.lengths(), len(table))
    return [made for rows in parts for made in _Batch(filler, fills.part(rows), table).lists()]


def blocks(sizes: Numbers, partitions: int) -> Iterator[slice]:
    """Rows of such sizes in as many parts as keep memory small beside what so many partitions take anyway."""
    least, most = _BLOCK_SIZES
    number = sizes.cumsum() // min(max(partitions // _BLOCKS, least), most)
    cuts = np.flatnonzero(number[1:] != number[:-1]) + 1
    return starmap(slice, pairwise([0, *cuts.tolist(), len(sizes)])) if len(sizes) else iter(())


class _Batch:
    """One computation. A row is a member; a run is what a row has, or gets, of one topic."""

    def __init__(self, filler: Filler, fills: Fills, table: NDArray[np.int32]) -> None:
        self._filler = filler
        self._fills = fills
        self._rows = len(fills.olds)
        self._codes, self._old = _runs(fills.olds, table)
        new_codes, self._new = _runs(fills.news, table)
        self._last_topic = np.full(self._rows, -1, dtype=np.int32)
        self._last_topic[self._new.members] = self._new.topics
        new_codes = self._find_old(new_codes)
        self._is_new = self._old_of < 0
        self._before = np.append(self._old.sizes, 0)[self._old_of]
        self._codes = np.concatenate((self._copied(), self._grown(new_codes)))

    def _find_old(self, new_codes: Codes) -> Codes:
        """Bring new codes of one row and topic together, and find the old run that each new run adds to (-1: none)."""
        width = np.int64(len(self._filler.layout.names))
        at = np.full(self._rows * width, -1, dtype=np.int32)
        keys = self._new.members * width + self._new.topics
        numbers = np.arange(len(keys), dtype=np.int32)
        at[keys[::-1]] = numbers[::-1]
        first = at[keys]
        at[keys] = -1
        if (first != numbers).any():
            order = np.argsort(first.repeat(self._new.sizes), kind="stable")
            topics = self._new.topics.repeat(self._new.sizes)
            new_codes, self._new = new_codes[order], Runs(topics[order], lengths(self._fills.news))
            keys = self._new.members * width + self._new.topics
        at[self._old.members * width + self._old.topics] = np.arange(len(self._old.topics), dtype=np.int32)
        self._old_of = at[keys]
        return new_codes

    def _copied(self) -> Codes:
        """The old codes; a copy of a crowded set may list it in another order."""
        if not self._fills.crowded:
            return self._codes
        codes = self._codes.copy()
        for run, (row, topic) in enumerate(zip(self._old.members.tolist(), self._old.topics.tolist(), strict=True)):
            if topic in self._fills.crowded.get(row, ()):
                here = slice(int(self._old.starts[run]), int(self._old.starts[run] + self._old.sizes[run]))
                numbers = codes[here] - np.int32(self._filler.begin_of(topic))
                codes[here] = codes[here][number_order(numbers, hash_set_capacity(len(numbers), self._filler.jdk))]
        return codes

    def _grown(self, new_codes: Codes) -> Codes:
        """The sets to which something comes, as they list it afterwards, one behind the other."""
        starts = np.stack((np.append(self._old.starts, 0)[self._old_of], self._new.starts + len(self._codes)), axis=1)
        picked = expand(starts.ravel(), np.stack((self._before, self._new.sizes), axis=1).ravel())
        codes = np.concatenate((self._codes, new_codes)).take(picked)
        del picked, starts
        sizes, topics = self._before + self._new.sizes, self._new.topics
        if int(sizes.max(initial=0)) <= 1:
            return codes
        begun = np.where(
            self._is_new, self._filler.new_capacities()[topics], set_capacities(self._before, self._filler.jdk)
        )
        return codes.take(set_order(codes - self._filler.offsets[topics].repeat(sizes), sizes, begun))

    def lists(self) -> list[BrokerList]:
        """One list for each row."""
        is_new, old_of = self._is_new, self._old_of[~self._is_new]
        sizes, starts = self._old.sizes.copy(), self._old.starts.copy()
        new_sizes = self._before + self._new.sizes
        new_starts = np.cumsum(new_sizes) - new_sizes + int(self._old.sizes.sum())
        sizes[old_of], starts[old_of] = new_sizes[~is_new], new_starts[~is_new]
        order = self._map_order()
        sizes, starts = np.append(new_sizes[is_new], sizes)[order], np.append(new_starts[is_new], starts)[order]
        codes = self._codes.take(expand(starts, sizes))
        bounds = pairwise([0, *self._fills.lengths().cumsum().tolist()])
        return [BrokerList(self._filler.layout, codes[begin:end]) for begin, end in bounds]

    def _map_order(self) -> NDArray[np.intp]:
        """Row by row the runs as the maps list them; runs of new topics count first, then the old ones.

        New topics come by `computeIfAbsent`, each to the front of its bucket.
        """
        rows, topics = self._new.members[self._is_new], self._new.topics[self._is_new]
        kept, come = (np.bincount(some, minlength=self._rows) for some in (self._old.members, rows))
        gone = np.zeros(self._rows, dtype=np.int64)
        gone[list(self._fills.gone)] = list(self._fills.gone.values())
        # An overfull map doubles at the next call only, and after a last topic of one partition there is none.
        capacities = grown(np.maximum(kept + gone, kept + come - self._ends_with_new()))
        places = np.append(_ordinals(rows, come) + kept[rows], _ordinals(self._old.members, kept))
        rows, topics = np.append(rows, self._old.members), np.append(topics, self._old.topics)
        moves = ((kept + gone < _DEFAULT_FROM) | (come > 0))[rows]
        spreads = spread_all(self._filler.hashes)[topics].astype(np.int64)
        if _crowded(rows[moves], places[moves], spreads[moves], np.ones_like(kept), capacities, CROWDED - 1):
            raise CrowdedError
        keys = np.where(moves, spreads & (capacities - 1)[rows], places)
        widths = np.maximum(capacities, kept)
        keys += (np.cumsum(widths) - widths)[rows]
        order = np.arange(len(keys))
        order[: int(come.sum())] = order[: int(come.sum())][::-1]
        return order[np.argsort(keys[order], kind="stable")]

    def _ends_with_new(self) -> NDArray[np.bool_]:
        """Rows to which a new topic's only partition came last."""
        rows = self._new.members
        found = np.zeros(self._rows, dtype=np.bool_)
        found[rows[self._is_new & (self._new.sizes == 1) & (self._new.topics == self._last_topic[rows])]] = True
        return found


def _runs(parts: Sequence[Codes], table: NDArray[np.int32]) -> tuple[Codes, Runs]:
    """All parts behind one another, and where one topic of one part ends and the next begins."""
    codes = np.concatenate([table[:0], *parts])
    return codes, Runs(table.take(codes), lengths(parts))


def _ordinals(rows: NDArray[np.intp], counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which of its row each is, where rows are sorted and have so many."""
    return np.arange(len(rows)) - (np.cumsum(counts) - counts)[rows]


def set_order(numbers: Codes, sizes: Numbers, begun: Numbers) -> NDArray[np.intp]:
    """The order of sets of such sizes, one behind the other, after each was put into a table of the begun capacity."""
    capacities = np.maximum(grown(sizes), begun)
    starts = np.cumsum(sizes) - sizes
    spreads = spread_all(numbers).astype(np.int64)
    run_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    crowded: list[int] = []
    if int(sizes.max()) > CROWDED:
        places = np.arange(len(numbers), dtype=np.int32) - starts.astype(np.int32).take(run_of)
        crowded = _crowded(run_of, places, spreads, begun, capacities, CROWDED)
        del places
    spreads &= (capacities - 1).take(run_of)
    spreads += (np.cumsum(capacities) - capacities).take(run_of)
    del run_of
    order = np.argsort(spreads, kind="stable")
    for run in crowded:
        begin, end = int(starts[run]), int(starts[run] + sizes[run])
        order[begin:end] = begin + number_order(numbers[begin:end], int(begun[run]))
    return order


def grown(sizes: Numbers) -> NDArray[np.int64]:
    """Capacities of tables that began with 1; also those of `new HashMap(size)` after as many `put`."""
    return np.left_shift(1, np.ceil(np.log2(np.maximum((sizes * 4 + 2) // 3, 1))).astype(np.int64))


def _crowded(
    owners: NDArray[np.signedinteger[Any]],
    places: NDArray[np.signedinteger[Any]],
    spreads: Numbers,
    begun: Numbers,
    capacities: Numbers,
    most: int,
) -> list[int]:
    """The owners whose table has more than `most` keys in a bucket, at any size from the begun one to its capacity."""
    found: set[int] = set()
    is_large = np.bincount(owners, minlength=len(capacities)) > most
    if not is_large.any():
        return []
    if not is_large.all():
        is_there = is_large[owners]
        owners, places, spreads = owners[is_there], places[is_there], spreads[is_there]
    capacity = DEFAULT_CAPACITY
    while capacity <= int(capacities[is_large].max()):
        passes = (begun <= capacity) & (capacities >= capacity)
        first = np.flatnonzero(places <= threshold(capacity))
        first = first[passes[owners[first]]]
        keys = _frequent(owners[first].astype(np.int64) * capacity + (spreads[first] & (capacity - 1)), most)
        found.update((keys // capacity).tolist())
        capacity *= 2
    return sorted(found)


def _frequent(keys: Numbers, most: int) -> NDArray[np.integer[Any]]:
    """The keys that occur more than so often."""
    if int(keys.max(initial=0)) <= _DENSE * len(keys):
        return np.flatnonzero(np.bincount(keys) > most)
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[counts > most]
