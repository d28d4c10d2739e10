"""Since when the verdict of each group holds. Pure functions on arrays.

What shows the onset of a verdict:

- Stopped: the group's last commit on any partition, or when records began to wait if that was later.
- Stalled, held: when the committed offset of the first such partition became what it is, or when records began to wait
  under it if that was later.
- Rewound: the commit that went back.
- No members: the record that left the group empty, or when records began to wait if that was later.
- Never committed, on every partition: the record of the first member.
- All others, and those above where nothing shows more: the first poll with the verdict after one with another, here or
  in the stored history; else the first poll, and the onset is not exact.

While a verdict holds, its onset stays: it moves back where more becomes known of an onset that is not exact, and
forward only where a record proves that the verdict was interrupted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.columns import take
from lag.verdict.onset import SOURCE_CODE, GroupRecords, OnsetColumns, OnsetSource
from lag.verdict.row_index import group_of_row, name_indexer, reduce_groups
from lag.verdict.rules.row_verdicts import RowVerdicts
from lag.verdict.status import NO_VERDICT, STATUS_CODE, TOO_EARLY, Status, StatusCodes
from lag.verdict.waiting import Waiting

_WINDOW, _GENERATION = SOURCE_CODE[OnsetSource.WINDOW], SOURCE_CODE[OnsetSource.GENERATION]
_LATEST_MS = np.iinfo(np.int64).max


class Evidence(NamedTuple):
    """What offsets and commits show of the onset of each group's verdict.

    `broken_ms`, int64[n_groups]: the last commit or member, before which the verdict did not hold; -1 = not known.
    `is_whole`, bool[n_groups]: every partition of the group has the verdict.
    """

    onsets: OnsetColumns
    broken_ms: Ints
    is_whole: Flags


@dataclass(frozen=True, slots=True, eq=False)
class GroupOnsets:
    """The last verdict of each group and its onset, by `groups`, which are ids in ascending order.

    status       int8[n_groups], an index into URGENCY; TOO_EARLY before the first known verdict
    first_ms     int64[n_groups], the first poll that had the group
    is_unbroken  bool[n_groups], False: polls are missing after a verdict of the stored history
    """

    groups: tuple[str, ...]
    status: NDArray[np.int8]
    onsets: OnsetColumns
    first_ms: Ints
    is_unbroken: Flags

    @classmethod
    def none(cls, groups: Sequence[str] = ()) -> "GroupOnsets":
        """Before the first poll."""
        n = len(groups)
        unknown = np.full(n, UNKNOWN, np.int64)
        return cls(tuple(groups), np.full(n, TOO_EARLY, np.int8), OnsetColumns.none(n), unknown, np.ones(n, np.bool_))

    def of_groups(self, groups: tuple[str, ...]) -> "GroupOnsets":
        """For other groups; new ones have no verdict yet."""
        if groups == self.groups:
            return self
        blank, at = GroupOnsets.none(groups), name_indexer(self.groups, groups)
        if not self.groups:
            return blank
        is_old = at >= 0
        return GroupOnsets(
            groups,
            np.where(is_old, self.status[at], blank.status),
            take(self.onsets, at).where(is_old, blank.onsets),
            np.where(is_old, self.first_ms[at], blank.first_ms),
            np.where(is_old, self.is_unbroken[at], blank.is_unbroken),
        )

    def after(
        self,
        at_ms: int,
        groups: tuple[str, ...],
        status: NDArray[np.int8],
        evidence: Evidence,
        records: GroupRecords | None = None,
    ) -> "GroupOnsets":
        """The onsets after one more poll. `status` as above, UNKNOWN or TOO_EARLY where there is no verdict."""
        before = self.of_groups(groups)
        first_ms = np.where(before.first_ms == UNKNOWN, at_ms, before.first_ms)
        known = ~np.isin(status, NO_VERDICT)
        changed = known & before.is_unbroken & (before.status != TOO_EARLY) & (before.status != status)
        by_polls = OnsetColumns(np.where(changed, at_ms, first_ms), changed, np.full(len(status), _WINDOW, np.uint8))
        shown = _with_records(evidence, groups, status, records)
        found = shown.onsets.where(shown.onsets.at_ms != UNKNOWN, by_polls)
        onsets = before.onsets.where(before._holds(at_ms, status, found, shown.broken_ms), found)
        onsets = onsets.where(status != STATUS_CODE[Status.OK], OnsetColumns.none(len(status)))
        return GroupOnsets(
            groups,
            np.where(known, status, before.status),
            onsets.where(known, before.onsets),
            first_ms,
            before.is_unbroken | known,
        )

    def _holds(self, at_ms: int, status: NDArray[np.int8], found: OnsetColumns, broken_ms: Ints) -> Flags:
        """bool[n_groups]: the verdict and its onset stay."""
        mine = self.onsets
        same = (status == self.status) & (mine.at_ms != UNKNOWN) & (mine.at_ms <= at_ms) & (broken_ms <= mine.at_ms)
        proven = self.is_unbroken | (broken_ms != UNKNOWN)
        earlier = ~mine.is_exact & (found.at_ms < mine.at_ms)
        confirmed = (found.at_ms == mine.at_ms) & found.is_exact
        holds: Flags = same & proven & ~earlier & ~confirmed
        return holds


def stored(groups: Sequence[str], status: NDArray[np.int8], onsets: OnsetColumns, is_unbroken: Flags) -> GroupOnsets:
    """The last verdicts of the stored history. `groups` in any order, without duplicates."""
    order = np.argsort(np.array(groups, object), kind="stable")
    names = tuple(groups[at] for at in order)
    ordered = take(onsets, order)
    return replace(GroupOnsets.none(names), status=status[order], onsets=ordered, is_unbroken=is_unbroken[order])


def evidence_of(
    rows: RowVerdicts, codes: StatusCodes, waiting: Waiting | None, bounds: Ints, reads_all: bool
) -> Evidence:
    """Group i has the rows `bounds[i]:bounds[i + 1]` and the status `codes[i]`.

    `reads_all`: the commit records are read up to their end, so a commit without a record is older than all of them.
    """
    none = OnsetColumns.none(len(codes))
    has_verdict = rows.status == codes[group_of_row(bounds)]
    waits = _extreme(rows.onsets, has_verdict & (rows.onsets.at_ms != UNKNOWN), bounds, np.minimum)
    began_later = waits.is_exact & (waits.source == _WINDOW)
    is_stopped, is_rewound = (codes == STATUS_CODE[status] for status in (Status.STOPPED, Status.REWOUND))
    last = none if waiting is None or not is_stopped.any() else _last_commits(waiting, bounds, reads_all)
    back = none if waiting is None or not is_rewound.any() else _rewinds(rows, waiting, bounds)
    use_waits = (last.at_ms == UNKNOWN) | (waits.is_exact & (waits.at_ms > last.at_ms))
    of_status: dict[Status, OnsetColumns] = {
        Status.STOPPED: waits.where(use_waits, last),
        Status.STALLED: waits,
        Status.HELD: waits,
        Status.REWOUND: back,
        Status.NO_MEMBERS: waits.where(began_later, none),
    }
    onsets = none
    for status, found in of_status.items():
        onsets = found.where(codes == STATUS_CODE[status], onsets)
    broken_ms = np.where(is_stopped & last.is_exact, last.at_ms, UNKNOWN)
    return Evidence(onsets, broken_ms, reduce_groups(np.logical_and, has_verdict, bounds, False))


def _last_commits(waiting: Waiting, bounds: Ints, reads_all: bool) -> OnsetColumns:
    """The last commit of each group on any partition that moved its offset."""
    commits = waiting.last_commits()
    older = (commits.source == _WINDOW) & ~commits.is_exact
    usable = (commits.at_ms != UNKNOWN) & ~(older if reads_all else np.zeros_like(older))
    return _extreme(commits, usable, bounds, np.maximum)


def _rewinds(rows: RowVerdicts, waiting: Waiting, bounds: Ints) -> OnsetColumns:
    rewinds = waiting.rewinds()
    went_back = (rows.status == STATUS_CODE[Status.REWOUND]) & (rewinds.at_ms != UNKNOWN)
    return _extreme(rewinds, went_back, bounds, np.minimum)


def _extreme(onsets: OnsetColumns, chosen: Flags, bounds: Ints, ufunc: np.ufunc) -> OnsetColumns:
    """The earliest (`np.minimum`) or latest onset of the chosen rows of each group; of equal ones an exact one."""
    worst = _LATEST_MS if ufunc is np.minimum else UNKNOWN
    best = reduce_groups(ufunc, np.where(chosen, onsets.at_ms, worst), bounds, worst)
    group = group_of_row(bounds)
    hits = np.flatnonzero(chosen & (onsets.at_ms == best[group]))
    hits = hits[np.argsort(onsets.is_exact[hits], kind="stable")]
    row = np.full(len(best), -1, np.int64)
    row[group[hits]] = hits
    return take(onsets, row).where(row >= 0, OnsetColumns.none(len(best)))


def _with_records(
    evidence: Evidence, groups: tuple[str, ...], status: NDArray[np.int8], records: GroupRecords | None
) -> Evidence:
    """The evidence with what the records about members show."""
    if records is None:
        return evidence
    emptied_ms = _asked(records.emptied_ms, groups, status == STATUS_CODE[Status.NO_MEMBERS])
    never = evidence.is_whole & (status == STATUS_CODE[Status.NEVER_COMMITTED])
    joined_ms = _asked(records.joined_ms, groups, never)
    record_ms = np.maximum(emptied_ms, joined_ms)
    exact, source = np.ones(len(groups), np.bool_), np.full(len(groups), _GENERATION, np.uint8)
    onsets = OnsetColumns(record_ms, exact, source).where(record_ms > evidence.onsets.at_ms, evidence.onsets)
    return Evidence(onsets, np.maximum(evidence.broken_ms, emptied_ms), evidence.is_whole)


def _asked(ask: Callable[[str], int | None], groups: tuple[str, ...], chosen: Flags) -> Ints:
    """int64[n_groups]: the answer for the chosen groups, else -1."""
    answers = np.full(len(groups), UNKNOWN, np.int64)
    for at in np.flatnonzero(chosen).tolist():
        found = ask(groups[at])
        answers[at] = UNKNOWN if found is None else found
    return answers
