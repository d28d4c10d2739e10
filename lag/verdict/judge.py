"""A snapshot and its window -> `Health`: a verdict for every group.

All groups with the same rules are judged at once, in blocks of rows that fit the processor's cache. Only a few numbers
per group are kept; objects and sentences are made when a group is asked for, and only once.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag import partition_lag
from lag.lazy_sequence import MadeOnce
from lag.model import ClusterSnapshot, GroupType
from lag.offsets import UNKNOWN, Ints
from lag.verdict import evidence
from lag.verdict.columns import concatenate, take
from lag.verdict.health import GroupColumns, GroupHealth, Health, PartitionHealth, PartitionHealths, TimeLag
from lag.verdict.offset_terms import offset_terms
from lag.verdict.onset import GroupRecords, OnsetColumns
from lag.verdict.rules import no_partitions, status_rules
from lag.verdict.rules.group_onsets import Evidence, GroupOnsets, evidence_of
from lag.verdict.rules.group_rules import GroupRules
from lag.verdict.rules.group_verdicts import GroupVerdicts, group_time_lag, judge_groups
from lag.verdict.rules.no_partitions import IdleFinding, IdleGroups, is_read
from lag.verdict.rules.row_verdicts import GroupFlags, RowVerdicts, judge_rows
from lag.verdict.rules.status_rules import CurrentRows, RemainderCodes, Rules, WindowStats
from lag.verdict.status import NO_VERDICT, STATUS_CODE, TOO_EARLY, URGENCY, Status
from lag.verdict.window.rates import Floats, TimeLags
from lag.verdict.window.sample_window import BLOCK_CELLS, Window

_OK = STATUS_CODE[Status.OK]


class _Block(NamedTuple):
    """Some groups: their verdicts, and the numbers of the worst row of each, as evidence."""

    groups: GroupVerdicts
    time_lag: TimeLags
    worst_current: CurrentRows
    worst_stats: WindowStats
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Past:
    """What onsets need besides the samples.

    `onsets`: of the verdicts before these. `records`: those about members; None: not read. `reads_all_commits`: the
    commit records are read up to their end. `idle`: the groups without partitions, up to this poll.
    """

    onsets: GroupOnsets = field(default_factory=GroupOnsets.none)
    records: GroupRecords | None = None
    reads_all_commits: bool = False
    idle: IdleGroups = field(default_factory=IdleGroups)


def judge(
    snapshot: ClusterSnapshot,
    window: Window,
    rules: Rules | GroupRules | None = None,
    remainders: RemainderCodes | None = None,
    past: Past | None = None,
) -> Health:
    """Judge every group of the snapshot, which is the last sample of `window`.

    `remainders` is uint8[n_rows of the offset table] (`REMAINDERS`): what earlier checks of the log found at
    these offsets.
    """
    if remainders is None:
        remainders = np.zeros(len(snapshot.offsets), np.uint8)
    if not isinstance(rules, GroupRules):
        rules = GroupRules.same(rules or Rules(), len(snapshot.groups))
    groups = _Groups(snapshot, window, rules, remainders, past or Past())
    return Health(
        snapshot,
        window.times_ms,
        MadeOnce(len(snapshot.groups), groups.health),
        groups.partitions,
        groups.needs_marker_check,
        groups.columns,
        groups.onsets,
        remainders=remainders,
    )


class _Groups:
    """The verdicts of every group as arrays, from which its health is made on demand.

    `needs_marker_check`: int64[n], rows of the offset table whose verdict a check of the log may refute.
    """

    def __init__(
        self, snapshot: ClusterSnapshot, window: Window, rules: GroupRules, remainders: RemainderCodes, past: Past
    ) -> None:
        self._snapshot, self._window, self._rules, self._remainders = snapshot, window, rules, remainders
        self._past = past
        self._memberless = np.array([group.has_no_members for group in snapshot.groups], np.bool_)
        self._shared = np.array([group.type is GroupType.SHARE for group in snapshot.groups], np.bool_)
        self._totals = partition_lag.totals(snapshot)
        self._idle = self._idle_groups()
        self._block, self.needs_marker_check = self._judge_all()
        status = self._status()
        names = tuple(group.group_id for group in snapshot.groups)
        self.onsets = past.onsets.after(snapshot.at_ms, names, status, self._block.evidence, past.records)
        self.columns = self._group_columns(status)

    def _idle_groups(self) -> dict[int, IdleFinding]:
        """By number, the groups with no partition to read."""
        found = (
            (number, no_partitions.find(group, self._snapshot, self._past.idle, self._rules.of(number)))
            for number, group in enumerate(self._snapshot.groups)
        )
        return {number: finding for number, finding in found if finding is not None}

    def partitions(self, number: int) -> PartitionHealths:
        """One entry per row of group `number`, made when it is read."""
        first = self._snapshot.offsets.rows(number).start
        rows = self._rows(np.array([number]), self._rules.of(number))
        return PartitionHealths(rows.status, lambda at: self._partition(rows, at, first + at, number))

    def _judge_all(self) -> tuple[_Block, Ints]:
        bounds, samples = self._snapshot.offsets.bounds, len(self._window.times_ms)
        runs = [(rules, run) for rules, its in self._rules.groups() for run in _runs(bounds, its, samples)]
        blocks, needs_check = zip(*(self._judge(run, rules) for rules, run in runs), strict=True)
        joined = concatenate(blocks)
        if len(self._rules.rules) > 1:
            joined = take(joined, np.argsort(np.concatenate([run for _, run in runs])))
        return joined, np.sort(np.concatenate(needs_check))

    def _status(self) -> NDArray[np.int8]:
        """int8[n_groups]: indexes into URGENCY, or TOO_EARLY."""
        groups, times_ms, rules = self._block.groups, self._window.times_ms, self._rules
        samples = np.where(groups.samples == UNKNOWN, len(times_ms), groups.samples)  # a group may be new
        first_ms = np.where(groups.first_ms == UNKNOWN, times_ms[0], groups.first_ms)
        is_short = (samples < rules.min_samples()) | (times_ms[-1] - first_ms < rules.min_ms())
        has_no_trend = samples < rules.trend_samples()  # it may be falling behind
        waits = (groups.waiting > 0) & is_short | (groups.undecided > 0) | (groups.behind > 0) & has_no_trend
        early = (groups.status == _OK) & waits
        joining = [number for number, idle in self._idle.items() if idle.status is Status.UNKNOWN]
        early[joining] |= groups.worst[joining] < 0
        return np.where(early, TOO_EARLY, groups.status).astype(np.int8)

    def _group_columns(self, status: NDArray[np.int8]) -> GroupColumns:
        groups = self._block.groups
        is_known = ~np.isin(status, NO_VERDICT)
        return GroupColumns(
            status=status,
            time_lag_s=self._block.time_lag.seconds,
            drain_s=groups.drain_s,
            markers=groups.maybe_markers,
            onsets=self.onsets.onsets.where(is_known, OnsetColumns.none(len(status))),
        )

    def _rows(self, groups: Ints, rules: Rules) -> RowVerdicts:
        """The rows of these groups (int64[n], ascending)."""
        table, (rows, bounds) = self._snapshot.offsets, _rows_of(self._snapshot.offsets.bounds, groups)
        current = status_rules.current_rows(table, rows, self._remainders)
        of_groups = GroupFlags(self._memberless[groups], self._shared[groups])
        return judge_rows(self._window.rows(rows), current, bounds, of_groups, rules)

    def _judge(self, groups: Ints, rules: Rules) -> tuple[_Block, Ints]:
        """The verdicts on these groups, and their rows that need a check for markers."""
        rows, bounds = _rows_of(self._snapshot.offsets.bounds, groups)
        judged = self._rows(groups, rules)
        unread = np.array([not is_read(self._snapshot.groups[number]) for number in groups], np.bool_)
        idle = np.array([_idle_code(self._idle.get(number)) for number in groups.tolist()], np.uint8)
        verdicts = judge_groups(judged, bounds, unread, idle)
        waiting = None if self._window.waiting is None else self._window.waiting.of_rows(rows)
        block = _Block(
            verdicts._replace(worst=np.where(verdicts.worst < 0, -1, _table_rows(rows, verdicts.worst))),
            group_time_lag(judged, bounds),
            take(judged.current, verdicts.worst),
            take(judged.stats, verdicts.worst),
            evidence_of(judged, verdicts.status, waiting, bounds, self._past.reads_all_commits),
        )
        return block, _table_rows(rows, np.flatnonzero(judged.needs_marker_check))

    def health(self, number: int) -> GroupHealth:
        """The health of group `number`."""
        block, groups, total = self._block, self._block.groups, self._totals[number]
        code, table_row, counts = groups.status[number], int(groups.worst[number]), groups.counts[number]
        verdict, affected = URGENCY[code], int(counts[code])
        row = None
        if table_row >= 0:
            row = self._facts(block.worst_current, block.worst_stats, number, table_row, number)
        whole = row is None or evidence.about_group(verdict, total, affected)
        if row is not None and self.columns.status[number] == TOO_EARLY:
            finding = evidence.too_early(row)
        else:
            group, onset = self._snapshot.groups[number], self.columns.onsets.at(number)
            missing = no_partitions.missing_topics(group, self._past.idle.deleted)
            finding = evidence.of_group(group, verdict, total, affected, row, onset, self._idle.get(number), missing)
        return GroupHealth(
            finding=finding,
            lag=total,
            consume_rate=_optional(groups.consume_rate, number),
            produce_rate=_optional(groups.produce_rate, number),
            time_lag=_time_lag(block.time_lag, number, evidence.no_position(verdict, total, row)),
            drain_s=_optional(groups.drain_s, number),
            unhealthy={URGENCY[code]: int(counts[code]) for code in np.flatnonzero(counts[:_OK])},
            worst=None if whole else table_row - int(self._snapshot.offsets.bounds[number]),
            lag_trend=groups.lag_trend[number]
            if total.partitions or total.records == 0
            else np.full(len(self._window.times_ms), np.nan),
            is_markers_only=bool(total.records) and not groups.waiting[number],
        )

    def _partition(self, rows: RowVerdicts, at: int, table_row: int, number: int) -> PartitionHealth:
        lag, moved_ms = rows.lag[:, at], int(rows.stats.moved_ms[at])
        facts = self._facts(rows.current, rows.stats, at, table_row, number)
        return PartitionHealth(
            finding=evidence.of_row(facts, URGENCY[rows.status[at]], rows.onsets.at(at)),
            consume_rate=_optional(rows.stats.consume, at),
            produce_rate=_optional(rows.stats.produce, at),
            time_lag=_time_lag(rows.time_lag, at, evidence.no_offset(facts.terms)),
            drain_s=_optional(rows.drain_s, at),
            last_moved_ms=None if moved_ms == UNKNOWN else moved_ms,
            lag_trend=np.where(lag == UNKNOWN, np.nan, lag),
            remainder=status_rules.REMAINDERS[rows.current.remainder[at]],
        )

    def _facts(
        self, current: CurrentRows, stats: WindowStats, at: int, table_row: int, number: int
    ) -> evidence.RowFacts:
        """The numbers at index `at` of the columns: those of row `table_row` of the snapshot, of group `number`."""
        terms = offset_terms(self._snapshot.groups[number].type)
        tp = self._snapshot.offsets.ends.tp(int(self._snapshot.offsets.end[table_row]))
        numbers = (column[at].item() for column in (*current, *stats))
        rules, exists = self._rules.of(number), tp.topic in self._snapshot.topics
        return evidence.RowFacts(tp, self._snapshot.at_ms, rules, terms, exists, *numbers)


def _idle_code(idle: IdleFinding | None) -> int:
    return _OK if idle is None else STATUS_CODE[idle.status]


def _runs(bounds: Ints, groups: Ints, samples: int) -> Iterator[Ints]:
    """Runs of `groups` with at most BLOCK_CELLS cells (or one group); one empty run if there are no groups."""
    most = max(1, BLOCK_CELLS // samples)
    ends, first = np.cumsum(bounds[groups + 1] - bounds[groups]), 0
    while True:
        before = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield groups[first:last]
        if last >= len(groups):
            return
        first = last


def _rows_of(bounds: Ints, groups: Ints) -> tuple[slice | Ints, Ints]:
    """The rows of `groups` in the offset table, and their bounds in these rows; a slice if they are together."""
    sizes = bounds[groups + 1] - bounds[groups]
    inside = np.concatenate(([0], np.cumsum(sizes)))
    if not len(groups) or groups[-1] - groups[0] == len(groups) - 1:
        first = int(bounds[groups[0]]) if len(groups) else 0
        return slice(first, first + int(inside[-1])), inside
    return np.repeat(bounds[groups] - inside[:-1], sizes) + np.arange(inside[-1]), inside


def _table_rows(rows: slice | Ints, at: Ints) -> Ints:
    """int64[n]: the rows of the offset table at these places of `rows`."""
    if not isinstance(rows, slice):
        return rows[at] if len(rows) else at
    table_rows: Ints = rows.start + at
    return table_rows


def _time_lag(found: TimeLags, at: int, absent: str) -> TimeLag:
    seconds, error_bound_s, at_least_s = (_optional(column, at) for column in found)
    reason = evidence.no_time_lag(seconds, at_least_s, absent)
    return TimeLag(seconds, error_bound_s, at_least_s or None, reason)


def _optional(column: Floats, at: int) -> float | None:
    return None if np.isnan(column[at]) else float(column[at])
