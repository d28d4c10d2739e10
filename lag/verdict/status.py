"""The rules that turn a window of offsets into a status per partition and per group. Pure functions on columns.

A partition's verdict is the first that holds, in this order:

1. What one poll shows: lost, beyond the end, topic deleted, unknown, never committed (an empty partition without a
   commit is ok: there is nothing to commit), and ok when the lag is at the floor.
2. With enough samples (`Rules.min_samples`, `Rules.min_s`) of lag above the floor under an unmoved commit, the
   partition is *quiet*. Then it is held (its commit has reached the last stable offset, which an open transaction keeps
   below the log end), ok (one record behind: that may be a transaction's marker, which nobody reads; a look into the
   log, or a second record, ends the doubt), stalled (another partition of the group moved well after this one did),
   stopped (none did) or, in a group without members, stopped only if it still committed earlier in the window: its last
   member has just gone. A group that nobody has been in for longer than that is without members.
3. Rewound: the commit is below its own peak in the window.
4. No members: the group is empty, and no commit moves as that of a consumer that assigns partitions itself would.
5. Falling behind or catching up: the median lag of the last third of the samples is above or below that of the first
   third by more than the noise, and the rates of the last minutes say the same. A burst shorter than half a third of
   the window does neither, and rates are those since a burst as soon as they tell (`rates.Pace`).
6. Ok.

Burrow's rules, corrected: one dip does not clear a verdict, one commit does not stop a group, records must have
waited for a while (so a topic with little traffic raises no alarm), and a group that commits in long steps is given
twice its longest earlier step before it counts as quiet. For share groups "committed" is the share-partition start
offset and the same rules hold.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lag.model import Remainder
from lag.offsets import UNKNOWN, EndOffsets, Ints, OffsetTable, PartitionProblem, Problems, problem_code
from lag.verdict import rates
from lag.verdict.health import URGENCY, Status
from lag.verdict.rates import Flags, Floats, Pace
from lag.verdict.sample_window import RowWindow

Statuses = NDArray[np.uint8]
"""Indexes into URGENCY: the lower, the more urgent."""

CODE: dict[Status, int] = {status: i for i, status in enumerate(URGENCY)}

Codes8 = NDArray[np.uint8]
LEFT_CODES: tuple[Remainder, ...] = (Remainder.UNKNOWN, Remainder.RECORDS, Remainder.MARKERS_ONLY)
"""What a column `left` holds indexes of; 0 where nobody has looked."""

RECORDS, MARKERS_ONLY = LEFT_CODES.index(Remainder.RECORDS), LEFT_CODES.index(Remainder.MARKERS_ONLY)

_NO_COMMIT = problem_code(PartitionProblem.NO_COMMIT)
UNREAD_CODES = np.array(
    [
        problem_code(problem)
        for problem in (
            PartitionProblem.LEADERLESS,
            PartitionProblem.UNAUTHORIZED,
            PartitionProblem.TIMEOUT,
            PartitionProblem.ERROR,
        )
    ],
    np.uint8,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The thresholds. Records are counts, `_s` are seconds.

    lag_floor       lag up to here is no lag
    min_samples     polls that a verdict on movement needs, and
    min_s           the time they must span (Kafka Streams commits every 30 s, so more than that)
    marker_records  so few unmoving records may be transaction markers until a look into the log tells; 0: stalled
    look_records    so few unmoving records are worth such a look
    patience        times the longest earlier step of a commit that a partition may rest before it is quiet
    trend_samples   polls that "falling behind" and "catching up" need
    noise_records, noise_share, noise_s   a lag has changed if by more than this many records, this share of the
                    earlier lag and this many seconds of what arrives, whichever is most
    rates_s         how far back rates look (at least `min_samples` polls)
    gain            a group gains on the producers if it commits this many times as fast
    """

    lag_floor: int = 0
    min_samples: int = 3
    min_s: float = 45.0
    marker_records: int = 1
    look_records: int = 10
    patience: float = 2.0
    trend_samples: int = 6
    noise_records: int = 10
    noise_share: float = 0.05
    noise_s: float = 5.0
    rates_s: float = 180.0
    gain: float = rates.GAIN


@dataclass(frozen=True, slots=True, eq=False)
class RowsNow:
    """Some rows of the newest snapshot, as columns (rows,); `left` (LEFT_CODES) says what a look into the log found."""

    committed: Ints
    lag: Ints
    problem: Problems
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    left: Codes8


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What the window says about each row, as columns (rows,). Times are -1 where never.

    `samples` counts known lags, since `first_ms`. The run is the unbroken end of the window in which the commit did not
    move and the lag was above the floor: `run_samples` polls since `run_since_ms`, in which `arrived` records came;
    `quiet` when long enough. `moved_ms` is the first poll that saw the newest commit, `peak` the highest commit.
    `early` and `late` are median lags (NaN: too few samples or no change), `jitter` is what a healthy lag may be,
    `noise` what it may change by. `unsettled`: the lag falls after a burst, too short a time ago for the rates to tell.
    """

    samples: Ints
    first_ms: Ints
    run_samples: Ints
    run_since_ms: Ints
    arrived: Ints
    quiet: Flags
    moved_ms: Ints
    peak: Ints
    consume: Floats
    produce: Floats
    unsettled: Flags
    early: Floats
    late: Floats
    jitter: Floats
    noise: Floats


def rows_now(table: OffsetTable, rows: slice, left: Codes8) -> RowsNow:
    """Those rows of the table, with the ends of their partitions beside them."""
    ends: EndOffsets = table.ends
    end = table.end[rows]
    return RowsNow(
        table.committed[rows],
        table.lag[rows],
        table.problem[rows],
        ends.log_start[end],
        ends.log_end[end],
        ends.last_stable[end],
        left[rows],
    )


def facts(window: RowWindow, lag: Ints, now: RowsNow, rules: Rules) -> Facts:
    """Everything that the rules ask about those rows; `lag` (samples, rows) is that of `rates.lags`."""
    times, known = window.times_ms, lag != UNKNOWN
    moved = _moves(window.committed)
    run = _run(window.committed, lag, rules)
    run_samples, since_ms = run.sum(axis=0), _first_ms(run, times)
    pace = _pace(window, lag, rules)
    jitter = np.maximum(rules.noise_records, rules.noise_s * np.nan_to_num(pace.produce))
    early, late = _thirds(lag, now, times, rules)
    noise = np.maximum(jitter, rules.noise_share * np.nan_to_num(early))
    start = np.argmax(run, axis=0)
    return Facts(
        samples=known.sum(axis=0),
        first_ms=_first_ms(known, times),
        run_samples=run_samples,
        run_since_ms=since_ms,
        arrived=now.log_end - np.take_along_axis(window.log_end, start[None], axis=0)[0],
        quiet=_quiet(run_samples, since_ms, moved, lag, times, rules),
        moved_ms=_last_ms(moved, times[1:]),
        peak=window.committed.max(axis=0),
        consume=pace.consume,
        produce=pace.produce,
        unsettled=pace.unsettled & ~(late - early > noise),
        early=early,
        late=late,
        jitter=jitter,
        noise=noise,
    )


def row_status(known: Facts, now: RowsNow, group_moved_ms: Ints, memberless: Flags, rules: Rules) -> Statuses:
    """The status of each row. `group_moved_ms` and `memberless` are its group's, per row."""
    lag, committed = now.lag, now.committed
    enough = known.samples >= rules.min_samples
    empty = (now.log_end != UNKNOWN) & (now.log_end == now.log_start)
    no_commit = now.problem == _NO_COMMIT
    held = known.quiet & (now.last_stable != UNKNOWN) & (now.last_stable < now.log_end) & (committed >= now.last_stable)
    active = (known.moved_ms != UNKNOWN) & ~known.quiet
    others_moved = group_moved_ms > known.run_since_ms + rules.min_s * 1000
    change = known.late - known.early
    return _first_of(
        (_has(now, PartitionProblem.BELOW_LOG_START), Status.LOST),
        (_has(now, PartitionProblem.BEYOND_END), Status.BEYOND_END),
        (_has(now, PartitionProblem.TOPIC_DELETED), Status.TOPIC_DELETED),
        (no_commit & empty, Status.OK),
        (no_commit, Status.NEVER_COMMITTED),
        (np.isin(now.problem, UNREAD_CODES) | (lag == UNKNOWN), Status.UNKNOWN),
        (lag <= rules.lag_floor, Status.OK),
        (now.left == MARKERS_ONLY, Status.OK),
        (held, Status.HELD),
        ((known.quiet | memberless & ~active) & maybe_markers(now, rules), Status.OK),
        (known.quiet & ~memberless & others_moved, Status.STALLED),
        (known.quiet & (~memberless | (group_moved_ms != UNKNOWN)), Status.STOPPED),
        (enough & (known.peak > committed), Status.REWOUND),
        (memberless & ~active, Status.NO_MEMBERS),
        ((change > known.noise) & (lag > known.jitter) & (known.produce > known.consume), Status.FALLING_BEHIND),
        ((change < -known.noise) & (lag > known.jitter) & (known.consume > known.produce), Status.CATCHING_UP),
    )


def maybe_markers(now: RowsNow, rules: Rules) -> Flags:
    """Rows with so small a lag that it may be transaction markers, unless a look has found records."""
    few: Flags = (now.lag > rules.lag_floor) & (now.lag <= rules.marker_records) & (now.left != RECORDS)
    return few


def worth_a_look(known: Facts, now: RowsNow, memberless: Flags, rules: Rules) -> Flags:
    """Rows whose small lag has not moved, and that nobody has looked into at these offsets."""
    small: Flags = (now.lag > rules.lag_floor) & (now.lag <= rules.look_records) & (now.left == 0)
    return small & (known.quiet | memberless)


def _pace(window: RowWindow, lag: Ints, rules: Rules) -> Pace:
    """Over the last `rates_s` seconds, or since a burst in them."""
    last = recent(window.times_ms, rules)
    recently = RowWindow(window.times_ms[last], window.committed[last], window.log_start[last], window.log_end[last])
    noise = np.maximum(rules.noise_records, rules.noise_share * lag[last].max(axis=0))
    return rates.pace(recently, lag[last], noise, rules.min_samples, rules.min_s)


def recent(times_ms: Ints, rules: Rules) -> slice:
    """The samples that rates are made of: those of the last `rates_s` seconds."""
    first = int(np.searchsorted(times_ms, times_ms[-1] - rules.rates_s * 1000))
    return slice(max(0, min(first, len(times_ms) - rules.min_samples)), None)


def _has(now: RowsNow, problem: PartitionProblem) -> Flags:
    has: Flags = now.problem == problem_code(problem)
    return has


def _first_of(*cases: tuple[Flags, Status]) -> Statuses:
    codes = np.select([flags for flags, _ in cases], [CODE[status] for _, status in cases], CODE[Status.OK])
    return codes.astype(np.uint8)


def _moves(committed: Ints) -> Flags:
    """(samples - 1, rows): where a known commit differs from the last known one before it."""
    filled = rates.held(committed)
    moves: Flags = (filled[1:] != filled[:-1]) & (filled[:-1] != UNKNOWN)
    return moves


def _run(committed: Ints, lag: Ints, rules: Rules) -> Flags:
    """The known samples of the unbroken end of the window with the newest commit and a lag above the floor.

    Unknown samples neither break the run nor count; without a known newest sample there is no run.
    """
    known = lag != UNKNOWN
    waits = (lag > rules.lag_floor) & (committed == committed[-1])
    unbroken = np.logical_and.accumulate((waits | ~known)[::-1], axis=0)[::-1]
    run: Flags = unbroken & known & known[-1]
    return run


def _quiet(run_samples: Ints, since_ms: Ints, moved: Flags, lag: Ints, times: Ints, rules: Rules) -> Flags:
    rest_ms = times[-1] - since_ms
    quiet: Flags = (run_samples >= max(1, rules.min_samples)) & (rest_ms >= rules.min_s * 1000)
    rows = np.flatnonzero(quiet & moved.any(axis=0))
    if len(rows):
        step_ms = _longest_step_ms(moved[:, rows], lag[:, rows], times, rules)
        quiet[rows] = rest_ms[rows] >= rules.patience * step_ms
    return quiet


def _longest_step_ms(moved: Flags, lag: Ints, times: Ints, rules: Rules) -> Ints:
    """The longest time that records waited in the window before the commit moved after all."""
    since = np.full(moved.shape[1], times[0])
    longest = np.zeros(moved.shape[1], np.int64)
    for sample, moves in enumerate(moved, start=1):
        longest = np.where(moves, np.maximum(longest, times[sample] - since), longest)
        since = np.where(moves | (lag[sample] <= rules.lag_floor), times[sample], since)
    return longest


def _thirds(lag: Ints, now: RowsNow, times: Ints, rules: Rules) -> tuple[Floats, Floats]:
    """Median lag of the first and the last third of each row's samples, where the lag changed at all."""
    early, late = np.full(lag.shape[1], np.nan), np.full(lag.shape[1], np.nan)
    known = lag != UNKNOWN
    first = np.argmax(known, axis=0)
    oldest = lag[first, np.arange(len(first))]
    judged = (now.lag > rules.noise_records) & ((lag[-1] != oldest) | (lag.max(axis=0) != oldest))
    judged &= (known.sum(axis=0) >= rules.trend_samples) & (times[-1] - times[first] >= rules.min_s * 1000)
    for start in np.unique(first[judged]):
        rows = np.flatnonzero(judged & (first == start))
        third = (len(lag) - int(start)) // 3
        early[rows] = _median(lag[start : start + third, rows])
        late[rows] = _median(lag[-third:, rows])
    return early, late


def _median(lag: Ints) -> Floats:
    """The (lower) median of the known values of each row; NaN without any."""
    known = (lag != UNKNOWN).sum(axis=0)
    ordered = np.sort(np.where(lag == UNKNOWN, np.iinfo(np.int64).max, lag), axis=0)
    middle = ordered[np.maximum(known - 1, 0) // 2, np.arange(lag.shape[1])]
    return np.where(known > 0, middle, np.nan)


def _first_ms(flags: Flags, times: Ints) -> Ints:
    return np.where(flags.any(axis=0), times[np.argmax(flags, axis=0)], UNKNOWN)


def _last_ms(flags: Flags, times: Ints) -> Ints:
    if not len(flags):
        return np.full(flags.shape[1], UNKNOWN, np.int64)
    last = len(flags) - 1 - np.argmax(flags[::-1], axis=0)
    return np.where(flags.any(axis=0), times[last], UNKNOWN)
