"""Maps of topic ids to sets of partition numbers, of all members of a share group at once, as arrays.

Unlike in `assignors.broker.uniform`, a set stays in its map when its last partition goes, and a member may lose and
gain partitions at once. Rows are members in the coordinator's order, topics positions in the layout.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import codes_in, covering, joined, packed
from assignors.broker.group_spec import OwnedSets, ServerGroup
from assignors.broker.spec_arrays import Numbers, UncleanError, layout_of, stable_order
from assignors.broker.uniform.containers import Containers, Sets
from assignors.javahash import INTEGERS, JavaHashSet
from assignors.layout import Codes, Layout, PartitionList

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Maps:
    """Maps of sets, row after row, each in its iteration order.

    One entry per set, which may be empty: `rows`, `topics` and `sizes`, int[n_sets]. `codes: int32[n_codes]` are the
    partitions of all sets one after another.
    """

    rows: Numbers
    topics: NDArray[np.integer[Any]]
    sizes: Numbers
    codes: Codes

    def owners(self) -> Numbers:
        """The row of each code: int64[n_codes]."""
        return self.rows.repeat(self.sizes)

    def of(self, is_wanted: Flags) -> "Maps":
        """The maps of the rows in `is_wanted: bool[n_rows]`."""
        if is_wanted.all():
            return self
        sets = is_wanted[self.rows]
        return Maps(self.rows[sets], self.topics[sets], self.sizes[sets], self.codes[is_wanted[self.owners()]])


@dataclass(frozen=True, slots=True)
class Changes:
    """What members lose, then gain, in the order of Kafka's calls.

    `lost: int64[n_lost]`: positions in the codes of the old maps. `gained: int32[n_gained]` and `takers:
    int64[n_gained]`: partitions and the rows that get them. `doubles: int64[n_doubles]`: rows that get a partition a
    second time, which leaves the set as it is but may double the table of the map.
    """

    lost: Numbers
    gained: Codes
    takers: Numbers
    doubles: Numbers


def joined_changes(parts: Sequence[Changes]) -> Changes:
    """All changes one after another; at least one."""
    return Changes(
        np.concatenate([part.lost for part in parts]),
        np.concatenate([part.gained for part in parts]),
        np.concatenate([part.takers for part in parts]),
        np.concatenate([part.doubles for part in parts]),
    )


class ShareMaps:
    """What the members own, and what they have after changes. UncleanError where only exact maps can tell."""

    def __init__(self, group: ServerGroup) -> None:
        self._group = group
        parts = _packed(group)
        self.layout = _layout(group, parts)
        self._containers = Containers(group, self.layout)
        self._uuids = [group.uuid_of(name) for name in self.layout.names]
        self.old = self._read([codes_in(self.layout, part) for part in parts])

    def _read(self, parts: Sequence[Codes]) -> Maps:
        """The maps as reading their records fills them."""
        members, n_topics = self._group.members, len(self._uuids)
        codes = np.concatenate([np.zeros(0, np.int32), *parts])
        rows = np.arange(len(members)).repeat([len(member.owned) for member in members])
        _check_distinct(codes, rows, len(self.layout))
        named = self._named()
        keys = np.append(named, rows * n_topics + self.layout.topics_of(codes))
        by_row = stable_order(np.append(named // n_topics, rows))
        set_of, firsts = _grouped(keys[by_row])
        set_of = set_of[by_row >= len(named)]
        set_rows, topics = np.divmod(keys[by_row][firsts], n_topics)
        sizes = np.bincount(set_of, minlength=len(firsts))
        sets = Sets(set_rows, topics, sizes, sizes, _none(sizes), _none(members))
        maps, crowded = self._arranged(sets, set_of, codes, ~_none(codes), is_copy=False)
        return self._with_exact(maps, {row: self._group.owned(members[row]) for row in crowded})

    def _named(self) -> Numbers:
        """Sets that records have even without partitions: int64[n_named], row times number of topics plus topic."""
        keys = [
            row * len(self._uuids) + self.layout.position[name]
            for row, member in enumerate(self._group.members)
            for name in member.owned_topics
        ]
        return np.array(keys, dtype=np.int64)

    def changed(self, copied: Flags, gone: Flags, changes: Changes) -> Maps:
        """The maps after the changes: deep copies in the rows `copied: bool[n_rows]`, the others as they are.

        `gone: bool[n_topics]`: topics that Kafka removes from the copies first.
        """
        stays = np.ones(len(self.old.codes), dtype=np.bool_)
        stays[changes.lost] = False
        exact = {*self.old.rows[gone[self.old.topics]].tolist(), *changes.doubles.tolist()}
        maps, crowded = self._copies(copied, stays, changes)
        exact |= crowded
        maps = _merged([self.old.of(~copied), maps])
        return self._with_exact(maps, {row: self._replayed(row, gone, changes) for row in exact})

    def _copies(self, copied: Flags, stays: Flags, changes: Changes) -> tuple[Maps, set[int]]:
        old = self.old.of(copied)
        stays = stays[copied[self.old.owners()]]
        n_topics, n_old = len(self._uuids), len(old.rows)
        by_row = stable_order(changes.takers)
        gained, takers = changes.gained[by_row], changes.takers[by_row]
        keys = np.append(old.rows * n_topics + old.topics, takers * n_topics + self.layout.topics_of(gained))
        set_of, firsts = _grouped(keys)
        rows, topics = np.divmod(keys[firsts], n_topics)
        before = np.append(old.sizes, np.zeros(len(rows) - n_old, dtype=np.int64))
        sizes = before + np.bincount(set_of[n_old:], minlength=len(rows))
        is_new = np.arange(len(rows)) >= n_old
        ends_with_new = _none(copied)
        ends_with_new[takers] = (is_new & (sizes == 1))[set_of[n_old:]]
        order = stable_order(rows)
        sets = Sets(rows[order], topics[order], sizes[order], before[order], is_new[order], ends_with_new)
        entries = np.append(np.arange(n_old).repeat(old.sizes), set_of[n_old:])
        stays = np.append(stays, ~_none(gained))
        return self._arranged(sets, _rank(order)[entries], np.append(old.codes, gained), stays, is_copy=True)

    def _arranged(
        self, sets: Sets, set_of: Numbers, codes: Codes, stays: Flags, is_copy: bool
    ) -> tuple[Maps, set[int]]:
        """The maps in iteration order, without what does not stay, and the rows where a bucket gets crowded.

        `set_of: int64[n_codes]`: the set of each code, in order of arrival; `stays: bool[n_codes]`.
        """
        order, crowded = self._containers.map_order(sets, is_copy)
        by_set = stable_order(_rank(order)[set_of])
        left = np.bincount(set_of[stays], minlength=len(order))[order]
        codes, more = self._containers.set_order(codes[by_set], sets, order, stays[by_set])
        return Maps(sets.rows[order], sets.topics[order], left, codes), crowded | more

    def _replayed(self, row: int, gone: Flags, changes: Changes) -> OwnedSets:
        """A deep copy of one member's map after the changes, by exact maps."""
        old, group = self.old, self._group
        sets = group.deep_copy(group.owned(group.members[row]))
        for topic in np.flatnonzero(gone).tolist():
            sets.pop(self._uuids[topic], None)
        lost = old.codes[changes.lost[old.owners()[changes.lost] == row]]
        for topic, number in self._numbers(lost):
            sets[self._uuids[topic]].discard(number)
        for topic, number in self._numbers(changes.gained[changes.takers == row]):
            sets.compute_if_absent(self._uuids[topic], lambda: JavaHashSet(INTEGERS)).add(number)
        return sets

    def _numbers(self, codes: Codes) -> Collection[tuple[int, int]]:
        topics = self.layout.topics_of(codes)
        return list(zip(topics.tolist(), (codes - self.layout.offsets[topics]).tolist(), strict=True))

    def _with_exact(self, maps: Maps, exact: Mapping[int, OwnedSets]) -> Maps:
        """The maps, with those rows replaced."""
        if not exact:
            return maps
        others = np.ones(len(self._group.members), dtype=np.bool_)
        others[list(exact)] = False
        return _merged([maps.of(others), *(self._as_maps(row, sets) for row, sets in exact.items())])

    def _as_maps(self, row: int, sets: OwnedSets) -> Maps:
        position = {uuid: at for at, uuid in enumerate(self._uuids)}
        topics = np.array([position[uuid] for uuid in sets], dtype=np.int64)
        sizes = np.array([len(numbers) for numbers in sets.values()], dtype=np.int64)
        numbers = np.array([number for some in sets.values() for number in some], dtype=np.int64)
        codes = (numbers + self.layout.offsets[topics].repeat(sizes)).astype(np.int32)
        return Maps(np.full(len(topics), row), topics, sizes, codes)


def _packed(group: ServerGroup) -> list[PartitionList]:
    """What all members own, one after another. UncleanError on a number below 0."""
    runs = list(joined(member.owned for member in group.members))
    if any(tp.partition < 0 for run in runs if not isinstance(run, PartitionList) for tp in run):
        raise UncleanError
    return [packed(run) for run in runs]


def _layout(group: ServerGroup, parts: Sequence[PartitionList]) -> Layout:
    """All topics that exist or that somebody owns. UncleanError when somebody owns a number that its topic lacks."""
    existing = layout_of(group.topics.values())
    layout = covering(parts, existing)
    sizes = dict(zip(layout.names, layout.counts.tolist(), strict=True))
    if layout is not existing and any(sizes[name] > topic.partitions for name, topic in group.topics.items()):
        raise UncleanError
    named = {name: 0 for member in group.members for name in member.owned_topics if name not in sizes}
    return Layout(sizes | named) if named else layout


def _check_distinct(codes: Codes, rows: Numbers, n_codes: int) -> None:
    """UncleanError when a member owns a partition twice."""
    if np.bincount(codes, minlength=1).max() > 1 and len(np.unique(rows * n_codes + codes)) < len(codes):
        raise UncleanError


def _none(like: Collection[object] | Numbers) -> Flags:
    return np.zeros(len(like), dtype=np.bool_)


def _grouped(keys: Numbers) -> tuple[Numbers, Numbers]:
    """The group of each key, groups numbered by first appearance, and where each group first appears.

    >>> _grouped(np.array([7, 7, 3, 7]))
    (array([0, 0, 1, 0]), array([0, 2]))
    """
    starts = np.flatnonzero(_differs(keys))
    some = keys[starts]
    order = stable_order(some)
    is_new = _differs(some[order])
    is_first = _none(some)
    is_first[order[is_new]] = True
    first = np.empty_like(order)
    first[order] = order[is_new][is_new.cumsum() - 1]
    return (is_first.cumsum() - 1)[first].repeat(np.diff(starts, append=len(keys))), starts[is_first]


def _differs(keys: Numbers) -> Flags:
    """Whether each key differs from the one before."""
    differs = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=differs[1:])
    return differs


def _rank(order: Numbers) -> Numbers:
    """The place of each item in an order of all of them."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _merged(parts: Sequence[Maps]) -> Maps:
    """The maps of different rows in one, row after row."""
    parts = [part for part in parts if len(part.rows)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([part.rows for part in parts])
    by_row = stable_order(rows)
    topics, sizes = (
        np.concatenate(arrays)[by_row] for arrays in zip(*((p.topics, p.sizes) for p in parts), strict=True)
    )
    owners = np.concatenate([part.owners() for part in parts])
    codes = np.concatenate([part.codes for part in parts])
    return Maps(rows[by_row], topics, sizes, codes[stable_order(owners)])
