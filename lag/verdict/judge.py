"""Puts rates and rules together: a snapshot and its window become a `Health`.

All groups are judged at once, in blocks of rows that fit the processor's cache; what is kept is a few numbers per
group. Objects and sentences are made for the groups that somebody looks at, and once.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from lag import partition_lag
from lag.model import ClusterSnapshot, GroupSnapshot
from lag.offsets import UNKNOWN, Ints
from lag.verdict import evidence, rates, row_match, status
from lag.verdict.health import (
    NEVER,
    TOO_EARLY,
    URGENCY,
    GroupColumns,
    GroupHealth,
    Health,
    PartitionHealth,
    Status,
    TimeLag,
)
from lag.verdict.rates import Flags, Floats, TimeLags
from lag.verdict.sample_window import BLOCK_CELLS, RowWindow, Window
from lag.verdict.status import CODE, Codes8, Facts, RowsNow, Rules, Statuses

_OK = CODE[Status.OK]
_MEMBERLESS_STATES = {"empty", "dead"}

_Columns = TypeVar("_Columns", RowsNow, Facts)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Some rows, judged: columns (rows,), and `lag` (samples, rows). `doubtful` rows may hold markers only."""

    lag: Ints
    now: RowsNow
    facts: Facts
    status: Statuses
    time_lag: TimeLags
    drain_s: Floats
    doubtful: Flags
    worth_a_look: Flags


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """What is kept of each group, as columns (groups,), NaN where not known.

    `counts` is (groups, statuses), `trend` (groups, samples); `worth_a_look` lists rows of the table. `worst` is the
    table's row with the group's status and the most lag, -1 if it has no rows; `now` and `facts` are those of that row.
    `markers` counts doubtful rows, `waiting` those with records to read, or perhaps.
    """

    status: Statuses
    worst: Ints
    counts: Ints
    consume_rate: Floats
    produce_rate: Floats
    time_lag: TimeLags
    drain_s: Floats
    trend: Floats
    now: RowsNow
    facts: Facts
    markers: Ints
    waiting: Ints
    worth_a_look: Ints


def judge(snapshot: ClusterSnapshot, window: Window, rules: Rules | None = None, left: Codes8 | None = None) -> Health:
    """Judge every group of the snapshot that `window` ends with.

    `left` (rows of the table, `status.LEFT_CODES`) is what earlier looks found, at these very offsets.
    """
    looked = np.zeros(len(snapshot.offsets), np.uint8) if left is None else left
    judgement = _Judgement(snapshot, window, rules or Rules(), looked)
    return Health(
        snapshot, window.times_ms, judgement, judgement.open_group, judgement.worth_a_look, judgement.group_columns()
    )


class _Judgement(Sequence[GroupHealth]):
    """The groups' health as a sequence, made from the columns on demand. Safe to read from many threads."""

    __slots__ = ("_columns", "_left", "_made", "_memberless", "_rules", "_snapshot", "_totals", "_window")

    def __init__(self, snapshot: ClusterSnapshot, window: Window, rules: Rules, left: Codes8) -> None:
        self._snapshot, self._window, self._rules, self._left = snapshot, window, rules, left
        self._memberless = np.array([_is_memberless(group) for group in snapshot.groups], np.bool_)
        self._totals = partition_lag.totals(snapshot.offsets)
        blocks = _blocks(snapshot.offsets.bounds, len(window.times_ms))
        self._columns = _concatenated([self._block(first, last) for first, last in blocks])
        self._made: list[GroupHealth | None] = [None] * len(snapshot.groups)

    @property
    def worth_a_look(self) -> Ints:
        """Rows of the table with a small lag that has not moved, not yet looked into."""
        return self._columns.worth_a_look

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, at: int) -> GroupHealth: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[GroupHealth]: ...
    def __getitem__(self, at: int | slice) -> GroupHealth | Sequence[GroupHealth]:
        if isinstance(at, slice):
            return tuple(self._group(i) for i in range(*at.indices(len(self))))
        return self._group(range(len(self))[at])

    def __iter__(self) -> Iterator[GroupHealth]:
        return map(self._group, range(len(self)))

    def open_group(self, number: int) -> Sequence[PartitionHealth]:
        """One entry per row of that group."""
        judged, table = self._judged(number, number + 1), self._snapshot.offsets
        first = table.rows(number).start
        return tuple(
            _partition(judged, self._row(judged.now, judged.facts, at, first + at)) for at in range(len(judged.status))
        )

    def _judged(self, first: int, last: int) -> _Rows:
        """The rows of the groups `first` to `last` (not included)."""
        table, rules = self._snapshot.offsets, self._rules
        rows = slice(int(table.bounds[first]), int(table.bounds[last]))
        window, now = self._window.rows(rows), status.rows_now(table, rows, self._left)
        bounds = table.bounds[first : last + 1] - rows.start
        group = row_match.group_of_row(bounds)
        lag = rates.lags(window.committed, window.log_start, window.log_end)
        known = status.facts(window, lag, now, rules)
        group_moved_ms = _per_group(np.maximum, known.moved_ms, bounds, UNKNOWN)
        memberless = self._memberless[first:last][group]
        code = status.row_status(known, now, group_moved_ms[group], memberless, rules)
        still = known.quiet | memberless | (known.moved_ms == UNKNOWN)
        doubtful = (code == _OK) & still & status.maybe_markers(now, rules) | (now.left == status.MARKERS_ONLY)
        worth_a_look = status.worth_a_look(known, now, memberless, rules)
        drain_s = np.where(doubtful, np.nan, _drain(now, known, code, rules))
        return _Rows(lag, now, known, code, _time_lag(window, now), drain_s, doubtful, worth_a_look)

    def _block(self, first: int, last: int) -> _Groups:
        judged, table = self._judged(first, last), self._snapshot.offsets
        bounds = table.bounds[first : last + 1] - table.bounds[first]
        group = row_match.group_of_row(bounds)
        code = _per_group(np.minimum, judged.status, bounds, _OK)
        worst = _worst(judged, code, group, bounds)
        return _Groups(
            status=self._without_rows(code, first, bounds),
            worst=np.where(worst < 0, -1, worst + table.bounds[first]),
            counts=_counts(judged.status, group, last - first),
            consume_rate=_sum(judged.facts.consume, bounds),
            produce_rate=_sum(judged.facts.produce, bounds),
            time_lag=_group_time_lag(judged, group, bounds),
            drain_s=_group_drain(judged, bounds),
            trend=_group_trend(judged.lag, bounds).T,
            now=_take(judged.now, worst),
            facts=_take(judged.facts, worst),
            markers=_count(judged.doubtful, bounds),
            waiting=_count((judged.now.lag != 0) & (judged.now.left != status.MARKERS_ONLY), bounds),
            worth_a_look=np.flatnonzero(judged.worth_a_look) + table.bounds[first],
        )

    def group_columns(self) -> GroupColumns:
        """Of all groups at once: no sentences are made."""
        columns = self._columns
        times_ms, rules = self._window.times_ms, self._rules
        is_short = len(times_ms) < rules.min_samples or times_ms[-1] - times_ms[0] < rules.min_s * 1000
        nothing_waits = (columns.waiting == 0) & (columns.status != CODE[Status.UNKNOWN])
        early = (columns.status == _OK) & (columns.waiting > 0) & is_short
        return GroupColumns(
            status=np.where(early, TOO_EARLY, columns.status).astype(np.int8),
            time_lag_s=np.where(nothing_waits, 0.0, columns.time_lag.seconds),
            markers=columns.markers,
        )

    def _without_rows(self, code: Statuses, first: int, bounds: Ints) -> Statuses:
        """A group without rows is unknown if it could not be read, and ok if it has nothing."""
        for at in np.flatnonzero(bounds[1:] == bounds[:-1]):
            if not self._snapshot.groups[first + at].complete:
                code[at] = CODE[Status.UNKNOWN]
        return code

    def _row(self, now: RowsNow, facts: Facts, at: int, table_row: int) -> evidence.Row:
        ends = self._snapshot.offsets.ends
        tp = ends.tp(int(self._snapshot.offsets.end[table_row]))
        return evidence.Row(tp, at, now, facts, self._snapshot.at_ms, self._rules)

    def _group(self, number: int) -> GroupHealth:
        made = self._made[number]
        if made is None:
            made = self._made[number] = self._make_group(number)
        return made

    def _make_group(self, number: int) -> GroupHealth:
        columns, total = self._columns, self._totals[number]
        verdict, table_row = URGENCY[columns.status[number]], int(columns.worst[number])
        counts = columns.counts[number]
        affected = int(counts[columns.status[number]])
        row = None if table_row < 0 else self._row(columns.now, columns.facts, number, table_row)
        whole = row is None or evidence.about_group(verdict, total, affected)
        return GroupHealth(
            finding=evidence.of_group(self._snapshot.groups[number], verdict, total, affected, row),
            lag=total,
            consume_rate=_optional(columns.consume_rate[number]),
            produce_rate=_optional(columns.produce_rate[number]),
            time_lag=_time_lag_at(columns.time_lag, number, evidence.no_position(verdict, total, row)),
            drain_s=_optional(columns.drain_s[number]),
            unhealthy={URGENCY[code]: int(counts[code]) for code in np.flatnonzero(counts[:_OK])},
            worst=None if whole else table_row - int(self._snapshot.offsets.bounds[number]),
            trend=columns.trend[number],
        )


def _is_memberless(group: GroupSnapshot) -> bool:
    return not group.members and group.state.lower() in _MEMBERLESS_STATES


def _blocks(bounds: Ints, samples: int) -> Iterator[tuple[int, int]]:
    """Runs of groups with at most BLOCK_CELLS cells (or one group); one empty run if there are no groups."""
    rows, groups, first = max(1, BLOCK_CELLS // samples), len(bounds) - 1, 0
    while True:
        last = int(np.searchsorted(bounds, bounds[first] + rows, side="right")) - 1
        last = min(groups, max(first + 1, last))
        yield first, last
        if last >= groups:
            return
        first = last


def _time_lag(window: RowWindow, now: RowsNow) -> TimeLags:
    """Counted from the oldest record that is still there; 0 where nothing waits, NaN where the lag is not known."""
    position = np.where(now.committed == UNKNOWN, UNKNOWN, np.maximum(now.committed, now.log_start))
    found = rates.time_lag(position, window.log_end, window.times_ms)
    unknown, none = now.lag == UNKNOWN, now.lag == 0
    return TimeLags(
        np.where(unknown, np.nan, np.where(none, 0.0, found.seconds)),
        np.where(unknown, np.nan, np.where(none, 0.0, found.bound_s)),
        np.where(unknown | none, np.nan, found.at_least_s),
    )


def _drain(now: RowsNow, known: Facts, code: Statuses, rules: Rules) -> Floats:
    """As `rates.drain`, but a partition that keeps up has its few records committed after lag / consume rate.

    There the difference of the rates is noise: it would say "never" or a long time of a handful of records. NaN
    instead of "never" while a burst is among the rates.
    """
    keeps_up = (code == _OK) & (now.lag > 0) & (now.lag <= known.jitter) & (known.consume > 0)
    seconds = rates.drain(now.lag, known.consume, known.produce, rules.gain)
    seconds = np.where(known.unsettled & (seconds == NEVER), np.nan, seconds)
    return np.where(keeps_up, now.lag / np.where(keeps_up, known.consume, 1.0), seconds)


def _worst(judged: _Rows, group_code: Statuses, group: Ints, bounds: Ints) -> Ints:
    """Per group the first row with the group's status and, of those, the most records waiting or lost; -1: no rows."""
    now = judged.now
    unread = np.where(now.committed == UNKNOWN, np.maximum(now.log_end - now.log_start, 0), 0)
    lost = np.where(judged.status == CODE[Status.LOST], now.log_start - now.committed, 0)
    records = np.where(now.lag == UNKNOWN, unread, now.lag) + lost
    score = np.where(judged.status == group_code[group], records, -1)
    hits = np.flatnonzero(score == _per_group(np.maximum, score, bounds, -1)[group])
    worst = np.full(len(group_code), -1, np.int64)
    worst[group[hits[::-1]]] = hits[::-1]
    return worst


def _counts(code: Statuses, group: Ints, groups: int) -> Ints:
    width = len(URGENCY)
    return np.bincount(group * width + code, minlength=groups * width).reshape(groups, width)


def _count(chosen: Flags, bounds: Ints) -> Ints:
    counts: Ints = _per_group(np.add, chosen.astype(np.int64), bounds, 0)
    return counts


def _sum(rate: Floats, bounds: Ints) -> Floats:
    """Sum of the known rates; NaN where none is known."""
    known = ~np.isnan(rate)
    total = _per_group(np.add, np.where(known, rate, 0.0), bounds, np.nan)
    return np.where(_per_group(np.logical_or, known, bounds, False), total, np.nan)


def _group_time_lag(judged: _Rows, group: Ints, bounds: Ints) -> TimeLags:
    """That of the worst partition; one that is older than our samples makes the group's a lower bound."""
    rows = judged.time_lag
    seconds = np.where(judged.doubtful, np.nan, rows.seconds)
    at_least = _per_group(np.fmax, np.where(judged.doubtful, np.nan, rows.at_least_s), bounds, np.nan)
    most = _per_group(np.fmax, seconds, bounds, np.nan)
    bound = _per_group(np.fmax, np.where(seconds == most[group], rows.bound_s, np.nan), bounds, np.nan)
    open_ended = ~np.isnan(at_least)
    return TimeLags(
        np.where(open_ended, np.nan, most),
        np.where(open_ended, np.nan, bound),
        np.where(open_ended, np.fmax(at_least, most), np.nan),
    )


def _group_drain(judged: _Rows, bounds: Ints) -> Floats:
    """The worst partition's: NEVER if one never drains, else NaN if one is not known. Unknown lags are left out."""
    left_out = (judged.now.lag == UNKNOWN) | judged.doubtful
    seconds = np.where(left_out, -np.inf, judged.drain_s)
    never = _per_group(np.logical_or, seconds == NEVER, bounds, False)
    worst = np.where(never, NEVER, _per_group(np.maximum, seconds, bounds, np.nan))
    return np.where(worst == -np.inf, np.nan, worst)


def _group_trend(lag: Ints, bounds: Ints) -> Floats:
    """(samples, groups): the sum of the known lags; NaN without any, and where one that was known before is missing."""
    known = lag != UNKNOWN
    total = _per_group(np.add, np.where(known, lag, 0), bounds, 0)
    shown = _per_group(np.logical_or, known, bounds, False)
    if not known.all():
        gap = np.logical_or.accumulate(known, axis=0) & ~known & known[-1]
        shown &= ~_per_group(np.logical_or, gap, bounds, False)
    return np.where(shown, total, np.nan)


def _per_group(fold: np.ufunc, values: NDArray[Any], bounds: Ints, empty: float | bool) -> NDArray[Any]:
    """Fold the last axis group by group; a group without rows gets `empty`."""
    filled = bounds[1:] > bounds[:-1]
    kind = np.result_type(values, np.float64) if isinstance(empty, float) else values.dtype
    out = np.full((*values.shape[:-1], len(filled)), empty, kind)
    if filled.any():
        out[..., filled] = fold.reduceat(values, bounds[:-1][filled], axis=-1)
    return out


def _map(make: Callable[..., NDArray[Any]], parts: Sequence[Any]) -> Any:
    """Rebuild a dataclass of columns (perhaps nested), each column from those of the parts."""
    kind = type(parts[0])
    values = ([getattr(part, field.name) for part in parts] for field in fields(kind))
    return kind(*(make(*v) if isinstance(v[0], np.ndarray) else _map(make, v) for v in values))


def _concatenated(parts: Sequence[_Groups]) -> _Groups:
    whole: _Groups = _map(lambda *columns: np.concatenate(columns), parts)
    return whole


def _take(columns: _Columns, rows: Ints) -> _Columns:
    """Those rows of each column; rows of -1 hold anything."""
    taken: _Columns = _map(lambda c: c[rows] if len(c) else np.zeros(len(rows), c.dtype), [columns])
    return taken


def _partition(judged: _Rows, row: evidence.Row) -> PartitionHealth:
    at, lag = row.at, judged.lag[:, row.at]
    moved = int(judged.facts.moved_ms[at])
    return PartitionHealth(
        finding=evidence.of_row(row, URGENCY[judged.status[at]]),
        consume_rate=_optional(judged.facts.consume[at]),
        produce_rate=_optional(judged.facts.produce[at]),
        time_lag=_time_lag_at(judged.time_lag, at, evidence.NO_OFFSET),
        drain_s=_optional(judged.drain_s[at]),
        last_moved_ms=None if moved == UNKNOWN else moved,
        trend=np.where(lag == UNKNOWN, np.nan, lag),
        left=status.LEFT_CODES[judged.now.left[at]],
    )


def _time_lag_at(found: TimeLags, at: int, absent: str) -> TimeLag:
    seconds, bound_s, at_least_s = (float(c[at]) for c in (found.seconds, found.bound_s, found.at_least_s))
    reason = evidence.no_time_lag(seconds, at_least_s, absent)
    return TimeLag(_optional(seconds), _optional(bound_s), _optional(at_least_s) or None, reason)


def _optional(value: float | np.float64) -> float | None:
    return None if np.isnan(value) else float(value)
