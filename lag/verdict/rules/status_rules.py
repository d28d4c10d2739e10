"""The rules that give each partition of a group a status. Pure functions on arrays.

The status of a partition is that of the first rule that holds:

1. What one poll shows: lost, beyond the end, topic deleted, unknown, never committed (an empty partition without a
   committed offset is ok, one that has just appeared is watched; no members, if the group has none and commits
   nothing), and ok if the lag is at most `Rules.lag_floor`.
2. A partition is *quiet* when, in enough polls (`Rules.min_samples`, `Rules.min_s`) and for longer than the group
   usually takes to commit (`commit_habits.usual_ms`), its lag was above the floor and its committed offset did not
   move. A quiet partition is
   - held, if the committed offset has reached the last stable offset and an open transaction keeps that below the log
     end; in that time there was nothing that the group could have read;
   - ok, if the lag is one record, which may be a transaction marker that no consumer can read; a look into the log or
     a second record decides. What a look into the log has found to be no work is not part of a lag (`Waiting.passed`);
   - stalled, if another partition of the group moved after this one stopped moving;
   - stopped, if none did. In a group without members this holds only if the group committed earlier in the window,
     that is, its last member has just left.
3. Rewound: the committed offset is below its highest value in the window.
4. No members: the group is empty and its committed offsets do not move. (A consumer that assigns partitions itself
   commits without being a member.)
5. Falling behind: the median lag of the last third of the samples is above that of the first third by more than the
   noise, and the rates agree. The lag is judged just after commits (`commit_habits.at_commits`). A burst shorter than
   half a third of the window is not falling behind, nor is the lag that a longer one leaves while it drains.
6. Watching: the group has not committed for longer than usual, but not for long enough to be quiet; or its lag jumped
   with the newest poll.
7. Catching up: the medians and the rates say the opposite of falling behind, or the lag shrinks after its peak.
8. Ok.

These are Burrow's rules with corrections: one drop of the lag does not clear a verdict, one commit does not make a
group stopped, records must have waited for a while (topics with little traffic raise no alarm), and a group is compared
with its own habits. For share groups, the committed offset is the share-partition start offset (KIP-932).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lag.model import GroupSnapshot, Problem, Remainder
from lag.offsets import UNKNOWN, EndOffsets, Flags, Ints, OffsetTable, PartitionProblem, Problems, problem_code
from lag.verdict.rules import commit_habits
from lag.verdict.status import STATUS_CODE, Status, StatusCodes
from lag.verdict.window import rates
from lag.verdict.window.rates import Floats, Rates
from lag.verdict.window.sample_window import RowWindow

RemainderCodes = NDArray[np.uint8]
REMAINDERS: tuple[Remainder, ...] = (Remainder.UNKNOWN, Remainder.RECORDS, Remainder.MARKERS_ONLY)
"""A column of remainders holds indexes into this tuple; 0 where the log was not checked."""

RECORDS, MARKERS_ONLY = REMAINDERS.index(Remainder.RECORDS), REMAINDERS.index(Remainder.MARKERS_ONLY)

_NO_COMMIT = problem_code(PartitionProblem.NO_COMMIT)
_UNREAD = (
    PartitionProblem.LEADERLESS, PartitionProblem.UNAUTHORIZED, PartitionProblem.TIMEOUT, PartitionProblem.ERROR,
)  # fmt: skip
UNREAD_CODES = np.array([problem_code(problem) for problem in _UNREAD], np.uint8)
"""Problems that leave an offset unread."""

WAITS = np.array(
    [STATUS_CODE[status] for status in (Status.STOPPED, Status.STALLED, Status.FALLING_BEHIND, Status.NO_MEMBERS)],
    np.uint8,
)
"""Statuses that say that records wait, which a check of the log may refute."""


def is_complete(problems: Sequence[Problem], groups: Sequence[GroupSnapshot], ends: EndOffsets) -> bool:
    """Whether a poll could read every broker, group and partition."""
    is_read = not problems and all(group.complete for group in groups)
    return is_read and not bool(np.isin(ends.problem, UNREAD_CODES).any())


WATCHED_FROM, WATCHED_SAMPLES = 1.1, 2
"""A row is watched from this many times its usual time on, and one poll; in at least this number of polls."""
LONG_SEEN_MS = 300_000
"""Where a commit record tells that the newest commit is older than usual, records need not wait for longer than this
from the first poll on."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The thresholds: `_records` in records, `_s` in seconds, `_samples` in polls.

    lag_floor        a lag of at most this many records counts as none
    min_samples      polls that a verdict about movement needs, and
    min_s            the time they must span (longer than 30 s, the commit interval of Kafka Streams)
    marker_records   up to this many unmoving records may be transaction markers until the log is checked; 0: stalled
    commit_gap_factor  a partition is quiet after this many times what it usually takes to commit, and one poll
    assumed_interval_s  what a group is taken to need for a commit as long as no commit tells it
    trend_samples    polls that "falling behind" and "catching up" need
    noise_records, noise_share, noise_s   a lag has changed if the change exceeds each of: this many records, this
                     share of the earlier lag, and the records that arrive in this many seconds
    rates_s          how far back rates look (at least `min_samples` polls)
    gain             a lag drains if the group consumes at least this many times as fast as producers write
    """

    lag_floor: int = 0
    min_samples: int = 3
    min_s: float = 45.0
    marker_records: int = 1
    commit_gap_factor: float = 1.25
    assumed_interval_s: float = 60.0
    trend_samples: int = 6
    noise_records: int = 10
    noise_share: float = 0.05
    noise_s: float = 5.0
    rates_s: float = 180.0
    gain: float = rates.GAIN


class CurrentRows(NamedTuple):
    """Rows of the newest snapshot: [n_rows] each.

    Offsets and `lag` are int64 in records, -1 = unknown; `problem` is uint8 (PROBLEM_CODES), `remainder` uint8
    (REMAINDERS).
    """

    committed: Ints
    lag: Ints
    problem: Problems
    log_start: Ints
    log_end: Ints
    last_stable: Ints
    remainder: RemainderCodes


class WindowStats(NamedTuple):
    """What the window shows of each row: [n_rows] each, int64 (-1 = never), bool, or float64 (NaN = unknown).

    samples        polls with a known lag, the first at `first_ms`
    run_samples    polls at the end of the window, since `run_since_ms`, in which the lag was above the floor, the
                   committed offset did not move, and an open transaction held it (`held`) in all of them or in none; in
                   that time `arrived` records were produced
    run_is_whole   the run began at the first poll with a known lag, or earlier
    held           an open transaction keeps the newest lag from being read
    quiet          the run is long enough for a verdict
    silent_ms      how long records have waited without a commit that moved the offset; 0 if none wait
    usual_ms       how long the group usually takes for that; -1 where no commit tells it
    undecided      records have waited in every poll, not for long enough to be quiet, and nothing tells whether before
    watched        it takes longer than usual, and is not quiet
    lately         a record tells that the newest commit is not overdue
    is_new         the partition was seen first so lately that the group need not have committed it
    jumped         with the newest poll the lag is higher than ever, and than what the group reads in its usual time
    moved_ms       the first poll that saw the newest committed offset
    peak           the highest committed offset
    consume, produce   records per second
    after_burst    the rates include a burst that now drains, and the lag was not growing before it
    falls          the lag is falling from a peak
    at_commit      the lag just after the last commit, where the group commits more rarely than every other poll; else
                   the lag
    early, late    median lag of the first and last third of the samples; NaN if too few, or if the lag is constant
    jitter         the lag that a group which keeps up may have
    noise          the change of a lag that does not count
    """

    samples: Ints
    first_ms: Ints
    run_samples: Ints
    run_since_ms: Ints
    run_is_whole: Flags
    arrived: Ints
    held: Flags
    quiet: Flags
    silent_ms: Ints
    usual_ms: Ints
    undecided: Flags
    watched: Flags
    lately: Flags
    is_new: Flags
    jumped: Flags
    moved_ms: Ints
    peak: Ints
    consume: Floats
    produce: Floats
    after_burst: Flags
    falls: Flags
    at_commit: Ints
    early: Floats
    late: Floats
    jitter: Floats
    noise: Floats


def current_rows(table: OffsetTable, rows: slice | Ints, remainders: RemainderCodes) -> CurrentRows:
    """These rows of the table, with the log offsets of their partitions."""
    end, ends = table.end[rows], table.ends
    return CurrentRows(
        table.committed[rows],
        table.lag[rows],
        table.problem[rows],
        ends.log_start[end],
        ends.log_end[end],
        ends.last_stable[end],
        remainders[rows],
    )


def window_stats(window: RowWindow, lag: Ints, current: CurrentRows, bounds: Ints, rules: Rules) -> WindowStats:
    """Everything that the rules need; `lag` is int64[n_samples, n_rows], from `rates.lags`.

    Group i has the rows `bounds[i]:bounds[i + 1]`.
    """
    times, known = window.times_ms, lag != UNKNOWN
    moved = _moves(window.committed)
    held = window.held if window.held is not None else np.zeros(lag.shape, np.bool_)
    run = _run(window.committed, lag, held, rules)
    run_samples, since_ms = run.sum(axis=0), _first_ms(run, times)
    whole = (since_ms != UNKNOWN) & ~(known & ~run).any(axis=0)
    rare = commit_habits.at_commits(window, lag, moved)
    judged = np.where(held, 0, lag)
    judged[:, rare.rows] = np.where(held[:, rare.rows], 0, rare.lag)
    usual_ms = commit_habits.usual_ms(window, bounds)
    poll_ms = commit_habits.poll_ms(times)
    silence = _silence(window, usual_ms, poll_ms, _Run(run_samples, since_ms, whole, held[-1]), rules)
    consume, produce, after_burst = _rates(window, judged, rules)
    still = ~moved[:, rare.rows].any(axis=0) & (silence.quiet | (usual_ms == UNKNOWN))[rare.rows]
    consume[rare.rows] = np.where(still, consume[rare.rows], rare.consume)
    produce[rare.rows] = np.where(np.isnan(rare.produce), produce[rare.rows], rare.produce)
    may_take_s = np.clip(usual_ms / 1000, rules.noise_s, max(rules.noise_s, 2 * poll_ms / 1000))
    may_take_s[rare.rows] = rules.noise_s
    jitter = np.maximum(rules.noise_records, may_take_s * np.nan_to_num(produce))
    early, late = _thirds(judged, times, rules)
    noise = np.maximum(jitter, rules.noise_share * np.nan_to_num(early))
    run_start = np.argmax(run, axis=0)
    longest_s = np.maximum(rules.min_s, rules.commit_gap_factor * _expected_ms(usual_ms, rules) / 1000)
    jumped = rates.jumped(window.committed, lag, longest_s * np.nan_to_num(consume), noise, rules.trend_samples)
    return WindowStats(
        samples=known.sum(axis=0),
        first_ms=_first_ms(known, times),
        run_samples=run_samples,
        run_since_ms=since_ms,
        run_is_whole=whole,
        arrived=current.log_end - np.take_along_axis(window.log_end, run_start[None], axis=0)[0],
        held=held[-1],
        quiet=silence.quiet,
        silent_ms=silence.ms,
        usual_ms=usual_ms,
        undecided=silence.undecided,
        watched=silence.watched,
        lately=silence.lately,
        is_new=silence.is_new,
        jumped=jumped & ~held[-1],
        moved_ms=_last_ms(moved, times[1:]),
        peak=window.committed.max(axis=0),
        consume=consume,
        produce=produce,
        after_burst=after_burst & ~((late - early > noise) & (early > jitter)),
        falls=rates.falls(judged, times, jitter, noise, rules.min_s),
        at_commit=judged[-1],
        early=early,
        late=late,
        jitter=jitter,
        noise=noise,
    )


def row_status(
    stats: WindowStats, current: CurrentRows, group_moved_ms: Ints, memberless: Flags, shared: Flags, rules: Rules
) -> StatusCodes:
    """uint8[n_rows]: the status of each row. `group_moved_ms`, `memberless` and `shared` are those of the row's group.

    A share group is never rewound: its start offset stays below records that were acknowledged out of order (KIP-932).
    """
    lag = current.lag
    enough = stats.samples >= rules.min_samples
    empty = (current.log_end != UNKNOWN) & (current.log_end == current.log_start)
    no_commit = current.problem == _NO_COMMIT
    abandoned = memberless & (group_moved_ms == UNKNOWN) & (stats.usual_ms == UNKNOWN) & ~stats.lately
    active = ((stats.moved_ms != UNKNOWN) | (stats.usual_ms != UNKNOWN) | stats.lately) & ~stats.quiet
    others_moved = group_moved_ms > stats.run_since_ms + rules.min_s * 1000
    change, behind = stats.late - stats.early, stats.at_commit > stats.jitter
    grows = (change > stats.noise) & ~stats.after_burst & ~stats.falls
    shrinks = (change < -stats.noise) & (stats.consume > stats.produce)
    return _first_of(
        (_has(current, PartitionProblem.BELOW_LOG_START), Status.LOST),
        (_has(current, PartitionProblem.BEYOND_END), Status.BEYOND_END),
        (_has(current, PartitionProblem.TOPIC_DELETED), Status.TOPIC_DELETED),
        (no_commit & empty, Status.OK),
        (no_commit & stats.is_new, Status.WATCHING),
        (no_commit & abandoned & (current.log_end != UNKNOWN), Status.NO_MEMBERS),
        (no_commit, Status.NEVER_COMMITTED),
        (np.isin(current.problem, UNREAD_CODES) | (lag == UNKNOWN), Status.UNKNOWN),
        (lag <= rules.lag_floor, Status.OK),
        (current.remainder == MARKERS_ONLY, Status.OK),
        (stats.quiet & stats.held, Status.HELD),
        ((stats.quiet | memberless & ~active) & maybe_markers(current, rules), Status.OK),
        (stats.quiet & ~memberless & others_moved, Status.STALLED),
        (stats.quiet & (~memberless | (group_moved_ms != UNKNOWN)), Status.STOPPED),
        (enough & (stats.peak > current.committed) & ~shared, Status.REWOUND),
        (memberless & ~active, Status.NO_MEMBERS),
        (grows & behind & (stats.produce > stats.consume), Status.FALLING_BEHIND),
        (stats.watched | stats.jumped, Status.WATCHING),
        (behind & (shrinks | stats.falls), Status.CATCHING_UP),
    )


def maybe_markers(current: CurrentRows, rules: Rules) -> Flags:
    """bool[n_rows]: the lag is so small that it may be transaction markers, and no check of the log found records."""
    few: Flags = (current.lag > rules.lag_floor) & (current.lag <= rules.marker_records)
    few &= current.remainder != RECORDS
    return few


def recent(times_ms: Ints, rules: Rules) -> slice:
    """The samples that rates use: the last `rates_s` seconds."""
    first = int(np.searchsorted(times_ms, times_ms[-1] - rules.rates_s * 1000))
    return slice(max(0, min(first, len(times_ms) - rules.min_samples)), None)


def _rates(window: RowWindow, lag: Ints, rules: Rules) -> Rates:
    last = recent(window.times_ms, rules)
    recently = RowWindow(window.times_ms[last], window.committed[last], window.log_start[last], window.log_end[last])
    noise = np.maximum(rules.noise_records, rules.noise_share * lag[last].max(axis=0))
    return rates.rates_after_burst(recently, lag[last], noise, rules.min_samples, rules.min_s)


def _has(current: CurrentRows, problem: PartitionProblem) -> Flags:
    has: Flags = current.problem == problem_code(problem)
    return has


def _first_of(*cases: tuple[Flags, Status]) -> StatusCodes:
    codes = np.select(
        [flags for flags, _ in cases], [STATUS_CODE[status] for _, status in cases], STATUS_CODE[Status.OK]
    )
    return codes.astype(np.uint8)


def _moves(committed: Ints) -> Flags:
    """bool[n_samples - 1, n_rows]: the committed offset differs from the last known one before it."""
    filled = rates.forward_fill(committed)
    moves: Flags = (filled[1:] != filled[:-1]) & (filled[:-1] != UNKNOWN)
    return moves


def _run(committed: Ints, lag: Ints, held: Flags, rules: Rules) -> Flags:
    """bool[n_samples, n_rows]: known samples at the end of the window with the newest commit and a lag above the floor.

    All are held, or none is: when an open transaction ends, the time begins in which the group could have read.
    Unknown samples neither end the run nor count. Without a known newest sample there is no run.
    """
    known = lag != UNKNOWN
    waits = (lag > rules.lag_floor) & (committed == committed[-1]) & (held == held[-1])
    unbroken = np.logical_and.accumulate((waits | ~known)[::-1], axis=0)[::-1]
    run: Flags = unbroken & known & known[-1]
    return run


def _silent_ms(window: RowWindow, since_ms: Ints, whole: Flags) -> Ints:
    """int64[n_rows]: how long records have waited under the newest commit; 0 where none wait.

    What filled the whole window began with the poll that `Waiting` has.
    """
    if window.waiting is not None:
        since_ms = window.waiting.run_since(since_ms, whole)
    return np.where(since_ms == UNKNOWN, 0, window.times_ms[-1] - since_ms)


class _Run(NamedTuple):
    """The samples at the end of the window with the newest commit: [n_rows] each, see WindowStats."""

    samples: Ints
    since_ms: Ints
    is_whole: Flags
    held: Flags


class _Silence(NamedTuple):
    """Whether records have waited for unusually long: [n_rows] each, see WindowStats."""

    ms: Ints
    quiet: Flags
    undecided: Flags
    watched: Flags
    lately: Flags
    is_new: Flags


def _silence(window: RowWindow, usual_ms: Ints, poll_ms: float, run: _Run, rules: Rules) -> _Silence:
    silent_ms, commit_age_ms = _silent_ms(window, run.since_ms, run.is_whole), _commit_age_ms(window)
    expected_ms, from_first = _expected_ms(usual_ms, rules), run.is_whole
    if window.waiting is not None:
        from_first = from_first & (window.waiting.since_ms <= window.waiting.first_ms)
    unusual_ms = rules.commit_gap_factor * expected_ms + poll_ms
    unusual_ms = np.where(from_first & (commit_age_ms >= unusual_ms), np.minimum(unusual_ms, LONG_SEEN_MS), unusual_ms)
    long_ms = np.maximum(rules.min_s * 1000, np.where(run.held, 0, unusual_ms))  # what is held, the group has read
    quiet = (run.samples >= max(1, rules.min_samples)) & (silent_ms >= long_ms)
    lately = (commit_age_ms != UNKNOWN) & (commit_age_ms <= rules.commit_gap_factor * expected_ms + poll_ms)
    undecided = from_first & ~quiet & ~lately
    watched = (run.samples >= WATCHED_SAMPLES) & (silent_ms >= WATCHED_FROM * expected_ms + poll_ms)
    watched &= ~quiet & ~undecided & ~run.held
    return _Silence(silent_ms, quiet, undecided, watched, lately, _is_new(window, unusual_ms))


def _is_new(window: RowWindow, most_ms: Floats) -> Flags:
    """bool[n_rows]: a poll after the first one of the window saw the row first, less than `most_ms` ago."""
    if window.waiting is None:
        return np.zeros(len(most_ms), np.bool_)
    first_ms = window.waiting.first_ms
    is_new: Flags = (first_ms > window.times_ms[0]) & (window.times_ms[-1] - first_ms < most_ms)
    return is_new


def _expected_ms(usual_ms: Ints, rules: Rules) -> Floats:
    return np.where(usual_ms == UNKNOWN, rules.assumed_interval_s * 1000, usual_ms)


def _commit_age_ms(window: RowWindow) -> Ints:
    """int64[n_rows]: how old the newest commit is by its record; -1 = not known."""
    if window.waiting is None:
        return np.full(window.committed.shape[1], UNKNOWN, np.int64)
    commit_ms = window.waiting.commit_ms
    return np.where(commit_ms == UNKNOWN, UNKNOWN, window.times_ms[-1] - commit_ms)


def _thirds(lag: Ints, times: Ints, rules: Rules) -> tuple[Floats, Floats]:
    """float64[n_rows] each: median lag of the first and last third of a row's samples; NaN if the lag is constant."""
    early, late = np.full(lag.shape[1], np.nan), np.full(lag.shape[1], np.nan)
    known = lag != UNKNOWN
    first = np.argmax(known, axis=0)
    oldest = lag[first, np.arange(len(first))]
    changed = (lag[-1] > rules.noise_records) & ((lag[-1] != oldest) | (lag.max(axis=0) != oldest))
    changed &= (known.sum(axis=0) >= rules.trend_samples) & (times[-1] - times[first] >= rules.min_s * 1000)
    for start in np.unique(first[changed]):
        rows = np.flatnonzero(changed & (first == start))
        third = (len(lag) - int(start)) // 3
        early[rows] = _median(lag[start : start + third, rows])
        late[rows] = _median(lag[-third:, rows])
    return early, late


def _median(lag: Ints) -> Floats:
    """float64[n_rows]: the lower median of the known samples; NaN without any."""
    known = (lag != UNKNOWN).sum(axis=0)
    ordered = np.sort(np.where(lag == UNKNOWN, np.iinfo(np.int64).max, lag), axis=0)
    middle = ordered[np.maximum(known - 1, 0) // 2, np.arange(lag.shape[1])]
    return np.where(known > 0, middle, np.nan)


def _first_ms(flags: Flags, times: Ints) -> Ints:
    return np.where(flags.any(axis=0), times[np.argmax(flags, axis=0)], UNKNOWN)


def _last_ms(flags: Flags, times: Ints) -> Ints:
    if not len(flags):
        return np.full(flags.shape[1], UNKNOWN, np.int64)
    return np.where(flags.any(axis=0), times[rates.last_true(flags)], UNKNOWN)
