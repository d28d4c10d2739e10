"""Since when records wait under the same committed offset: by the polls and the commit records seen so far."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lag.model import Unread
from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource, RowCommits

LONGEST_WAIT_MS = 5_400_000
"""A longer time between two commits is no habit: there was nothing to commit, or nobody who could."""
FADES_BY = 0.95
"""What a long wait counts after each later one."""

_COMMIT, _WINDOW = SOURCE_CODE[OnsetSource.COMMIT], SOURCE_CODE[OnsetSource.WINDOW]


class Waiting(NamedTuple):
    """int64[n_rows] each, -1 = unknown or none.

    committed     the last known committed offset
    unmoved_ms    the first poll that saw it
    seen_ms       the last poll that knew a committed offset
    before_ms     the last poll that saw another one before it
    is_held       1: the last poll that knows found it at the last stable offset, below the log end: an open transaction
                  keeps the records after it from being read
    since_ms      the first poll since which records wait under it, held or not, in every poll that knows
    first_ms      the first poll that had the row
    commit_ms     its first commit record
    commit_is_exact  1: it became the committed offset with that record
    back_ms       the last poll that saw it go back, and
    back_after_ms    the poll before that one
    back_commit_ms   the commit record that went back
    passed        a check of the log found nothing from the committed offset to below this one that a read_committed
                  consumer reads, and
    has_records      1: a record that it reads comes next, and
    record_ms        its timestamp
    failed_ms     the last poll whose check could not read on
    waits         how often a poll saw the committed offset move, and
    wait_ms          the longest time that records waited for it, each counted FADES_BY times less for each later one
    interval_ms      the same for the time since the move before
    record_interval_ms  the same by commit records (`RowCommits`)
    """

    committed: Ints
    unmoved_ms: Ints
    seen_ms: Ints
    before_ms: Ints
    is_held: Ints
    since_ms: Ints
    first_ms: Ints
    commit_ms: Ints
    commit_is_exact: Ints
    back_ms: Ints
    back_after_ms: Ints
    back_commit_ms: Ints
    passed: Ints
    has_records: Ints
    record_ms: Ints
    failed_ms: Ints
    waits: Ints
    wait_ms: Ints
    interval_ms: Ints
    record_interval_ms: Ints

    @classmethod
    def none(cls, rows: int) -> "Waiting":
        """The state of rows that no poll has seen."""
        unknown = np.full(rows, UNKNOWN, np.int64)
        return cls(*(unknown for _ in cls._fields))

    def after(
        self, at_ms: int, committed: Ints, last_stable: Ints, log_end: Ints, commits: RowCommits | None = None
    ) -> "Waiting":
        """The state after one more poll. The offsets are int64[n_rows]; `commits` None: no records are read."""
        polled = self._polled(at_ms, committed, last_stable, log_end)
        return polled if commits is None else polled._with_commits(commits)

    def _polled(self, at_ms: int, committed: Ints, last_stable: Ints, log_end: Ints) -> "Waiting":
        read = committed != UNKNOWN
        known = read & (log_end != UNKNOWN)
        moved = read & (committed != self.committed)
        back = moved & (committed < self.committed)
        passed = np.where(moved, UNKNOWN, self.passed)
        position = np.maximum(committed, passed)
        held = (position >= last_stable) & (last_stable < log_end)
        is_held = np.where(known & (last_stable != UNKNOWN), held, np.where(moved, 0, self.is_held == 1))
        goes_on = ~moved & (is_held == self.is_held) & (self.since_ms != UNKNOWN)
        waits = np.where(goes_on, self.since_ms, at_ms)
        waited_ms = np.where(self.since_ms == UNKNOWN, 0, at_ms - self.since_ms)
        ahead = (committed > self.committed) & (self.committed != UNKNOWN)
        has_waited = ahead & (self.is_held != 1) & (waited_ms <= LONGEST_WAIT_MS)
        lasted_ms = at_ms - self.unmoved_ms
        is_interval = ahead & (self.before_ms != UNKNOWN) & (lasted_ms <= LONGEST_WAIT_MS)
        return Waiting(
            committed=np.where(read, committed, self.committed),
            unmoved_ms=np.where(moved, at_ms, self.unmoved_ms),
            seen_ms=np.where(read, at_ms, self.seen_ms),
            before_ms=np.where(moved, self.seen_ms, self.before_ms),
            is_held=is_held,
            since_ms=np.where(known, np.where(log_end > position, waits, UNKNOWN), self.since_ms),
            first_ms=np.where(self.first_ms == UNKNOWN, at_ms, self.first_ms),
            commit_ms=np.where(moved, UNKNOWN, self.commit_ms),
            commit_is_exact=np.where(moved, 0, self.commit_is_exact),
            back_ms=np.where(back, at_ms, self.back_ms),
            back_after_ms=np.where(back, self.seen_ms, self.back_after_ms),
            back_commit_ms=np.where(back, UNKNOWN, self.back_commit_ms),
            passed=passed,
            has_records=np.where(moved, UNKNOWN, self.has_records),
            record_ms=np.where(moved, UNKNOWN, self.record_ms),
            failed_ms=np.where(moved, UNKNOWN, self.failed_ms),
            waits=np.where(has_waited, np.maximum(self.waits, 0) + 1, self.waits),
            wait_ms=np.where(has_waited, _longest(self.wait_ms, waited_ms), self.wait_ms),
            interval_ms=np.where(is_interval, _longest(self.interval_ms, lasted_ms), self.interval_ms),
            record_interval_ms=self.record_interval_ms,
        )

    def checked(self, at_ms: int, rows: Ints, found: Sequence[Unread]) -> "Waiting":
        """The state after checks of the logs of these rows (int64[n]) in the poll `at_ms`."""
        passed, has_records, failed_ms = self.passed.copy(), self.has_records.copy(), self.failed_ms.copy()
        record_ms = self.record_ms.copy()
        record_ms[rows] = [UNKNOWN if its.record_ms is None else its.record_ms for its in found]
        passed[rows] = [its.passed for its in found]
        has_records[rows] = [its.has_records for its in found]
        failed_ms[rows] = [UNKNOWN if its.reason is None else at_ms for its in found]
        return self._replace(passed=passed, has_records=has_records, record_ms=record_ms, failed_ms=failed_ms)

    def _with_commits(self, commits: RowCommits) -> "Waiting":
        """A record counts if it has the polled offset: the records read may be older or newer than the poll.

        A run that begins later than the known one, and after another offset, is another commit of the same offset.
        Without the other offset, earlier records of the run are only no longer read.
        """
        found = (commits.offset == self.committed) & (self.committed != UNKNOWN)
        earlier = (self.commit_ms == UNKNOWN) | (commits.first_ms < self.commit_ms)
        taken = found & (earlier | commits.follows)
        went_back = (commits.back_ms > self.back_after_ms) & (commits.back_ms <= self.back_ms)
        return self._replace(
            commit_ms=np.where(taken, commits.first_ms, self.commit_ms),
            commit_is_exact=np.where(taken, commits.is_exact, self.commit_is_exact),
            back_commit_ms=np.where(went_back, commits.back_ms, self.back_commit_ms),
            record_interval_ms=commits.interval_ms,
        )

    def run_since(self, since_ms: Ints, whole: Flags) -> Ints:
        """When runs of polls began (int64[n_rows]): perhaps before the window, where one fills it (`whole`)."""
        longer = whole & (self.since_ms != UNKNOWN)
        return np.where(longer, np.minimum(self.since_ms, since_ms), since_ms)

    def onsets(self, run_ms: Ints, is_exact: Flags) -> OnsetColumns:
        """The onset of rows whose records wait since the poll `run_ms` (int64[n_rows]), `is_exact` (bool[n_rows]) or
        earlier: the commit of the offset, unless records began to wait only later.
        """
        at_commit = (run_ms != UNKNOWN) & (self.commit_ms != UNKNOWN) & (run_ms <= self.unmoved_ms)
        commits = self.last_commits()
        return OnsetColumns(
            np.where(at_commit, np.minimum(commits.at_ms, run_ms), run_ms),
            np.where(at_commit, commits.is_exact, is_exact),
            np.where(at_commit, _COMMIT, _WINDOW).astype(np.uint8),
        )

    def last_commits(self) -> OnsetColumns:
        """Since when each row has its committed offset: its record, else the first poll that saw it.

        A record's time is kept between the polls that saw the change, whatever the clock of the broker says.
        """
        by_record = self.commit_ms != UNKNOWN
        seen_moving = self.before_ms != UNKNOWN
        clipped = np.clip(self.commit_ms, self.before_ms, np.maximum(self.before_ms, self.unmoved_ms))
        return OnsetColumns(
            np.where(by_record, clipped, self.unmoved_ms),
            np.where(by_record, (self.commit_is_exact == 1) | seen_moving, self.unmoved_ms > self.first_ms),
            np.where(by_record, _COMMIT, _WINDOW).astype(np.uint8),
        )

    def rewinds(self) -> OnsetColumns:
        """When each row last went back; -1 where it did not."""
        by_record = self.back_commit_ms != UNKNOWN
        return OnsetColumns(
            np.where(by_record, self.back_commit_ms, self.back_ms),
            np.ones(len(self.back_ms), np.bool_),
            np.where(by_record, _COMMIT, _WINDOW).astype(np.uint8),
        )

    def of_rows(self, rows: slice | Ints) -> "Waiting":
        """The state of these rows."""
        return Waiting(*(column[rows] for column in self))

    def reindexed(self, rows: Ints) -> "Waiting":
        """For the rows of another table; `rows` is int64[n_new_rows], the old row or -1."""
        if not len(self.committed):
            return Waiting.none(len(rows))
        return Waiting(*(np.where(rows < 0, UNKNOWN, column[rows]) for column in self))

    def forgotten(self, where: Flags) -> "Waiting":
        """The state without what is known of these rows: their topic was created again."""
        return Waiting(*(np.where(where, UNKNOWN, column) for column in self))


def _longest(known_ms: Ints, lasted_ms: Ints) -> Ints:
    return np.maximum(lasted_ms, np.maximum(known_ms, 0) * FADES_BY).astype(np.int64)
