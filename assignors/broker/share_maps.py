"""Maps of topic ids to sets of partition numbers, of all members of a share group at once, as arrays.

Unlike in `assignors.broker.uniform`, a set stays in its map when its last partition goes, and a member may lose and
gain partitions at once. Rows are members in the coordinator's order, topics positions in the layout.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from assignors.assignment_arrays import Members, codes_in, covering, joined, packed
from assignors.broker.group_spec import OwnedSets, ServerGroup
from assignors.broker.spec_arrays import (
    BrokerList,
    Numbers,
    UncleanError,
    as_read,
    begins,
    expand,
    layout_of,
    remembered,
    stable_order,
)
from assignors.broker.uniform.containers import Containers, Sets
from assignors.javahash import INTEGERS, JavaHashSet
from assignors.layout import Codes, Layout, PartitionList
from assignors.model import Member

Flags = NDArray[np.bool_]
Topics = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Maps:
    """Maps of sets, row after row, each in its iteration order.

    One entry per set, which may be empty: `rows`, `topics` and `sizes`, int32[n_sets]. `codes: int32[n_codes]` are the
    partitions of all sets one after another.
    """

    rows: Members
    topics: Topics
    sizes: NDArray[np.int32]
    codes: Codes

    def owners(self) -> Members:
        """The row of each code: int32[n_codes]."""
        return self.rows.repeat(self.sizes)

    def of(self, is_wanted: Flags) -> "Maps":
        """The maps of the rows in `is_wanted: bool[n_rows]`."""
        if is_wanted.all():
            return self
        sets = is_wanted[self.rows]
        return Maps(self.rows[sets], self.topics[sets], self.sizes[sets], self.codes[is_wanted[self.owners()]])

    def lists(self, n_rows: int) -> list[Codes]:
        """The codes of each row."""
        ends = np.bincount(self.rows, self.sizes, n_rows).cumsum().astype(np.int64)
        return [self.codes[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


@dataclass(frozen=True, slots=True)
class Changes:
    """What members lose, then gain, in the order of Kafka's calls.

    `lost: int64[n_lost]`: positions in the codes of the old maps. `gained: int32[n_gained]` and `takers:
    int32[n_gained]`: partitions and the rows that get them. `doubles: int32[n_doubles]`: rows that get a partition a
    second time, which leaves the set as it is but may double the table of the map.
    """

    lost: Numbers
    gained: Codes
    takers: Members
    doubles: Members


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
        existing = layout_of(group.topics.values())
        known = [
            None if member.owned_topics else as_read(member.owned, existing, (group.jdk, None))
            for member in group.members
        ]
        unread = [
            row
            for row, (part, member) in enumerate(zip(known, group.members, strict=True))
            if part is None and (member.owned or member.owned_topics)
        ]
        parts = _packed([group.members[row] for row in unread])
        self.layout = _layout(group, parts, existing)
        self.topic_of = self.layout.topic_table()
        self._containers = Containers(group, self.layout)
        self.old = _row_by_row([self._known(known), self._read(unread, parts)])
        _check_distinct(self.old, len(self.layout))
        self._remember(unread)

    @cached_property
    def _uuids(self) -> list[UUID]:
        return [self._group.uuid_of(name) for name in self.layout.names]

    def _known(self, lists: Sequence[BrokerList | None]) -> Maps:
        """The maps of the rows whose lists are in the order in which their records are read."""
        nothing = np.zeros(0, dtype=np.int32)
        codes, runs = self._containers.runs([codes_in(self.layout, part) if part else nothing for part in lists])
        return Maps(runs.parts.astype(np.int32), runs.topics, runs.sizes.astype(np.int32), codes)

    def _read(self, rows: Sequence[int], parts: Sequence[PartitionList]) -> Maps:
        """The maps of these rows as reading their records fills them; `parts`: what they own, one after another."""
        named = self._named(rows)
        if not rows:
            return named
        codes = np.concatenate([named.codes, *(codes_in(self.layout, part) for part in parts)])
        takers = np.array(rows, dtype=np.int32).repeat([len(self._group.members[row].owned) for row in rows])
        maps, crowded = self._filled(named, ~_none(named.codes), codes, takers, is_copy=False)
        return self._with_exact(maps, {row: self._group.owned(self._group.members[row]) for row in crowded})

    def _named(self, rows: Sequence[int]) -> Maps:
        """The sets that the records of these rows have even without partitions."""
        position, members = self.layout.position, self._group.members
        sets = [(row, position[name]) for row in rows for name in members[row].owned_topics]
        of_rows, topics = np.array(sets, dtype=np.int32).reshape(-1, 2).T
        return Maps(of_rows, topics, np.zeros_like(topics), topics[:0])

    def _remember(self, rows: Sequence[int]) -> None:
        """Store for the next plan how the records of these rows are read, but for topics without partitions."""
        lists = self.old.lists(len(self._group.members)) if rows else []
        for row in rows:
            member = self._group.members[row]
            if not member.owned_topics:
                remembered(member.owned, BrokerList(self.layout, lists[row], (self._group.jdk, None)))

    def changed(self, copied: Flags, gone: Flags, changes: Changes) -> Maps:
        """The maps after the changes: deep copies in the rows `copied: bool[n_rows]`, the others as they are.

        `gone: bool[n_topics]`: topics that Kafka removes from the copies first.
        """
        stays = np.ones(len(self.old.codes), dtype=np.bool_)
        stays[changes.lost] = False
        exact = {*self.old.rows[gone[self.old.topics]].tolist(), *changes.doubles.tolist()}
        maps, crowded = self._copies(copied, stays, changes)
        exact |= crowded
        maps = _row_by_row([self.old.of(~copied), maps])
        return self._with_exact(maps, {row: self._replayed(row, gone, changes) for row in exact})

    def _copies(self, copied: Flags, stays: Flags, changes: Changes) -> tuple[Maps, set[int]]:
        """Deep copies after the changes, and the rows where a bucket gets crowded."""
        if np.count_nonzero(~copied) <= len(copied) // 16:  # copies of all take less memory than most of `old` twice
            maps, crowded = self._filled(self.old, stays, changes.gained, changes.takers, is_copy=True)
            return maps.of(copied), {row for row in crowded if copied[row]}
        stays = stays[copied[self.old.owners()]]
        return self._filled(self.old.of(copied), stays, changes.gained, changes.takers, is_copy=True)

    def _filled(self, old: Maps, stays: Flags, gained: Codes, takers: Members, is_copy: bool) -> tuple[Maps, set[int]]:
        """The maps in iteration order once `takers` have gained codes, and the rows where a bucket gets crowded.

        `stays: bool[n_codes]`: False for old codes that go first. `is_copy`: whether the maps are deep copies, or
        filled from records.
        """
        gains, sets = self._with_gains(old, stays, gained, takers, is_copy)
        order, crowded = self._containers.map_order(sets, is_copy)
        gained, runs = gained[gains.arrivals], (gains.starts[order].ravel(), gains.sizes[order].ravel())
        del gains  # what follows needs the most memory
        sets = sets.take(order)
        del order
        places = expand(*runs)
        codes = np.append(old.codes, gained).take(places)
        is_left = None if stays.all() else np.append(stays, ~_none(gained)).take(places)
        del runs, places
        codes, more = self._containers.set_order(codes, sets, is_left)
        return Maps(sets.rows, sets.topics, sets.left, codes), crowded | more

    def _with_gains(
        self, old: Maps, stays: Flags, gained: Codes, takers: Members, is_copy: bool
    ) -> tuple["_Gains", Sets]:
        """The sets after the gains, and where their codes are."""
        rows, topics = np.append(old.rows, takers), np.append(old.topics, self.topic_of.take(gained))
        gains, n_old = _Gains.of(old, rows, topics, len(self.layout.names)), len(old.rows)
        last = np.full(len(self._group.members), -1, dtype=np.int32)
        last[takers] = np.arange(n_old, len(rows), dtype=np.int32)
        rows, topics = rows[gains.firsts], topics[gains.firsts]
        before, came = gains.sizes.T
        sizes = before + came
        left = sizes
        if not stays.all():
            gone = np.bincount(np.arange(n_old).repeat(old.sizes)[~stays], minlength=n_old + 1).astype(np.int32)
            left = sizes - gone[np.minimum(gains.firsts, n_old)]
        ends_with_new = np.zeros(len(last), dtype=np.bool_)
        ends_with_new[rows[(last[rows] == gains.firsts) & (sizes == 1)]] = True
        is_new = gains.firsts >= n_old if is_copy else _none(rows)
        return gains, Sets(rows, topics, sizes, before if is_copy else sizes, is_new, ends_with_new, left)

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
        return _row_by_row([maps.of(others), *(self._as_maps(row, sets) for row, sets in exact.items())])

    def _as_maps(self, row: int, sets: OwnedSets) -> Maps:
        position = {uuid: at for at, uuid in enumerate(self._uuids)}
        topics = np.array([position[uuid] for uuid in sets], dtype=np.int32)
        sizes = np.array([len(numbers) for numbers in sets.values()], dtype=np.int32)
        numbers = np.array([number for some in sets.values() for number in some], dtype=np.int64)
        codes = (numbers + self.layout.offsets[topics].repeat(sizes)).astype(np.int32)
        return Maps(np.full(len(topics), row, dtype=np.int32), topics, sizes, codes)


@dataclass(frozen=True, slots=True)
class _Gains:
    """Old sets and what comes into them: row after row, the sets of a row in order of arrival.

    `firsts: int32[n_sets]`: the entry with which each set begins; entries are the old sets, then the gains.
    `arrivals: int32[n_gained]`: the gains, set after set. `starts` and `sizes: int32[n_sets, 2]`: where the codes of
    each set are and how many, those it had and those that come, among the old codes and the `arrivals` after them.
    """

    firsts: NDArray[np.int32]
    arrivals: NDArray[np.int32]
    starts: NDArray[np.int32]
    sizes: NDArray[np.int32]

    @classmethod
    def of(cls, old: Maps, rows: Members, topics: Topics, n_topics: int) -> "_Gains":
        """`rows` and `topics: int32[n_entries]`: of the old sets, then of each gain."""
        n_old = len(old.rows)
        by_set, sizes = _grouped(rows * np.int64(n_topics) + topics)
        heads = by_set[begins(sizes)]
        sizes -= heads < n_old
        number = np.full(len(rows), -1, dtype=np.int32)
        number[heads] = np.arange(len(heads), dtype=np.int32)
        firsts = np.flatnonzero(number >= 0).astype(np.int32)
        firsts = firsts[stable_order(rows[firsts])]
        number, at = number[firsts], np.minimum(firsts, n_old)
        nothing, n_codes = np.int32(0), np.int32(len(old.codes))
        return cls(
            firsts,
            (by_set[by_set >= n_old] - n_old).astype(np.int32),
            np.stack((np.append(begins(old.sizes), nothing)[at], begins(sizes)[number] + n_codes), axis=1),
            np.stack((np.append(old.sizes, nothing)[at], sizes[number]), axis=1),
        )


def _packed(members: Sequence[Member]) -> list[PartitionList]:
    """What the members own, one after another. UncleanError on a number below 0."""
    runs = list(joined(member.owned for member in members))
    if any(tp.partition < 0 for run in runs if not isinstance(run, PartitionList) for tp in run):
        raise UncleanError
    return [packed(run) for run in runs]


def _layout(group: ServerGroup, parts: Sequence[PartitionList], existing: Layout) -> Layout:
    """All topics that exist or that a member owns. UncleanError when a member owns a number that its topic lacks."""
    layout = covering(parts, existing)
    sizes = dict(zip(layout.names, layout.counts.tolist(), strict=True))
    if layout is not existing and any(sizes[name] > topic.partitions for name, topic in group.topics.items()):
        raise UncleanError
    named = {name: 0 for member in group.members for name in member.owned_topics if name not in sizes}
    return Layout(sizes | named) if named else layout


def _check_distinct(maps: Maps, n_codes: int) -> None:
    """UncleanError when a member owns a partition twice."""
    if np.bincount(maps.codes, minlength=1).max() > 1:
        owned = maps.owners() * np.int64(n_codes) + maps.codes
        if len(np.unique(owned)) < len(owned):
            raise UncleanError


def _none(like: Collection[object] | Numbers) -> Flags:
    return np.zeros(len(like), dtype=np.bool_)


def _grouped(keys: Numbers) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The places of equal keys together, stable: intp[n]; and how many there are of each: int32[n_keys].

    >>> _grouped(np.array([7, 3, 7]))
    (array([1, 0, 2]), array([1, 2], dtype=int32))
    """
    order = stable_order(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.append(keys[:1] == keys[:1], keys[1:] != keys[:-1]))
    return order, np.diff(starts, append=len(keys)).astype(np.int32)


def _row_by_row(parts: Sequence[Maps]) -> Maps:
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
