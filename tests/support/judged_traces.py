"""The verdicts on simulated groups, poll by poll, by the rules that the server uses."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lag.offsets import UNKNOWN, Flags, Ints
from lag.verdict.onset import RowCommits
from lag.verdict.rules.group_verdicts import judge_groups
from lag.verdict.rules.row_verdicts import GroupFlags, judge_rows
from lag.verdict.rules.status_rules import CurrentRows, Rules
from lag.verdict.status import STATUS_CODE, Status, StatusCodes
from lag.verdict.waiting import Waiting
from lag.verdict.window.sample_window import MAX_SAMPLES, RowWindow
from tests.support.group_traces import Population, Seen

LEAST_ALARM = STATUS_CODE[Status.NO_MEMBERS]
"""Verdicts up to this code are alarms: Watching and Catching up are not."""


class Judged(NamedTuple):
    """The statuses of the groups, uint8[n], at a poll, and the window that led to them."""

    at_ms: int
    status: StatusCodes
    window: RowWindow

    @property
    def alarms(self) -> Flags:
        """bool[n]: groups with a verdict that may alarm."""
        alarms: Flags = self.status <= LEAST_ALARM
        return alarms


def judged(
    of: Population, seen: Iterable[Seen], reads_records: bool = True, rules: Rules | None = None
) -> Iterator[Judged]:
    """The verdicts at each poll; without `reads_records`, polls alone tell how often a group commits."""
    rows, kept, rules = len(of) * of.partitions, deque[tuple[Seen, Flags]](maxlen=MAX_SAMPLES), rules or Rules()
    waiting, zeros, codes = Waiting.none(rows), np.zeros(rows, np.int64), np.zeros(rows, np.uint8)
    bounds = np.arange(0, rows + 1, of.partitions)
    groups = GroupFlags(of.memberless, np.zeros(len(of), np.bool_))
    for poll in seen:
        commits = _records(poll.interval_ms) if reads_records else None
        waiting = waiting.after(poll.at_ms, poll.committed, poll.last_stable, poll.log_end, commits)
        kept.append((poll, waiting.is_held == 1))
        window = RowWindow(
            np.array([each.at_ms for each, _ in kept]),
            np.stack([each.committed for each, _ in kept]),
            np.zeros((len(kept), rows), np.int64),
            np.stack([each.log_end for each, _ in kept]),
            np.stack([held for _, held in kept]),
            waiting,
        )
        lag = poll.log_end - poll.committed
        current = CurrentRows(poll.committed, lag, codes, zeros, poll.log_end, poll.last_stable, codes)
        found = judge_rows(window, current, bounds, groups, rules)
        yield Judged(poll.at_ms, judge_groups(found, bounds, np.zeros(len(of), np.bool_)).status, window)


def _records(interval_ms: Ints) -> RowCommits:
    none, no = np.full(len(interval_ms), UNKNOWN, np.int64), np.zeros(len(interval_ms), np.bool_)
    return RowCommits(none, none, no, no, none, interval_ms)
