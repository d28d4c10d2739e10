"""False alarms and delays of verdicts on simulated groups, beside Burrow's rules and a threshold on the same traces.

Healthy groups: commit intervals x arrivals x members x polls. An opening is a poll at which a group gets a verdict that
may alarm and did not have one at the poll before. Faults: how long until such a verdict, and until Watching.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.report import Row
from lag.offsets import Flags
from lag.verdict.burrow.evaluator import BurrowSettings, BurrowStatus, group_statuses, partition_statuses
from lag.verdict.burrow.poll_windows import commit_windows
from lag.verdict.rules.status_rules import Rules
from lag.verdict.status import STATUS_CODE, Status
from lag.verdict.window.sample_window import RowWindow
from tests.support.group_traces import BEFORE_S, Arrivals, Fault, Floats, Population, polls
from tests.support.judged_traces import judged

INTERVALS_S = np.array([0.1, 1, 5, 30, 60, 300, 600, 3600])
GROUPS, HOURS = 4_000, 8.5
POLLS_S = (5.0, 10.0, 30.0)
FAULTY, FAULT_AFTER_S, FAULT_HOURS = 400, 1800.0, 1.5
THRESHOLD = 1_000
"""Records: the alarm of those who look at the lag alone."""
BURROW = BurrowSettings()
WATCHING = STATUS_CODE[Status.WATCHING]


def rows() -> Iterator[Row]:
    """Healthy groups, then each fault."""
    yield from _healthy()
    for fault in list(Fault)[1:]:
        yield from _faulty(fault)


class _Openings:
    """Counts openings: alarms of groups that had none at the poll before."""

    def __init__(self, groups: int) -> None:
        self._before, self.count = np.ones(groups, np.bool_), 0

    def add(self, alarms: Flags) -> None:
        self.count += int((alarms & ~self._before).sum())
        self._before = alarms


def _healthy() -> Iterator[Row]:
    hours, watched, seen = 0.0, 0, 0
    for number, every_s in enumerate(POLLS_S):
        of = _population(GROUPS, number)
        ours, burrow, threshold = (_Openings(GROUPS) for _ in range(3))
        for poll in judged(of, polls(of, every_s, HOURS, seed=number)):
            ours.add(poll.alarms)
            watched, seen = watched + int((poll.status == WATCHING).sum()), seen + GROUPS
            if every_s == 10:
                burrow.add(_burrow(poll.window, poll.at_ms, of.partitions))
                threshold.add(_over(poll.window, of.partitions))
        hours += GROUPS * HOURS
        what = f"{GROUPS * HOURS:,.0f} healthy group-hours, a poll every {every_s:g} s: false alarms"
        yield Row(what, f"{ours.count:,}", "goal 0")
        if every_s == 10:
            yield Row("the same, Burrow's rules", f"{burrow.count:,}", "WARN or ERR that begins")
            yield Row(f"the same, a lag of {THRESHOLD:,}", f"{threshold.count:,}", "")
    yield Row("healthy groups that are watched", f"{watched / seen:.2%}", f"of all polls in {hours:,.0f} group-hours")


class _Delays(NamedTuple):
    """Seconds from the fault: float64[n_groups], infinite where it was not found."""

    alarm: Floats
    watching: Floats
    burrow: Floats
    threshold: Floats


def _faulty(fault: Fault) -> Iterator[Row]:
    of = _population(FAULTY, 9, fault)
    found = _delays(of)
    frequent = of.interval_s <= 600
    rules = Rules()
    within = 2 * 10.0 + np.maximum(rules.min_s, 2 * rules.commit_gap_factor * (1 + of.jitter) * of.interval_s)
    for name, delays in (("alarm", found.alarm), ("Watching or alarm", found.watching), ("Burrow", found.burrow),
                         (f"a lag of {THRESHOLD:,}", found.threshold)):  # fmt: skip
        of_all = delays[frequent]
        share = float(np.isfinite(of_all).mean())
        median, late = (
            f"{value:,.0f} s" if np.isfinite(value) else "never"
            for value in np.quantile(of_all, (0.5, 0.99), method="lower")
        )
        in_time = float((of_all <= within[frequent]).mean())
        yield Row(
            f"{fault.name.lower().replace('_', ' ')}: {name}",
            f"{median}, p99 {late}",
            f"found {share:.0%}; within two polls and twice its usual time, or 45 s: {in_time:.0%}",
        )


def _delays(of: Population) -> _Delays:
    found = _Delays(*(np.full(len(of), np.inf) for _ in _Delays._fields))
    for poll in judged(of, polls(of, 10.0, FAULT_HOURS, seed=10)):
        after_s = poll.at_ms / 1000 - of.fault_s
        if after_s < 0:
            continue
        flags = (
            poll.alarms,
            poll.status <= WATCHING,
            _burrow(poll.window, poll.at_ms, of.partitions),
            _over(poll.window, of.partitions),
        )
        for delays, found_now in zip(found, flags, strict=True):
            delays[found_now] = np.minimum(delays[found_now], after_s)
    return found


def _population(groups: int, seed: int, fault: Fault = Fault.NONE) -> Population:
    random = np.random.default_rng(seed)
    is_healthy = fault is Fault.NONE
    return Population(
        interval_s=random.choice(INTERVALS_S, groups),
        arrivals=random.integers(0, 3, groups) if is_healthy else np.full(groups, Arrivals.STEADY, np.int64),
        memberless=random.random(groups) < 0.3,
        fault=np.full(groups, fault, np.int64),
        rate_per_s=10 ** random.uniform(-1 if is_healthy else 0.5, 2.5, groups),
        fault_s=np.inf if is_healthy else BEFORE_S + FAULT_AFTER_S,
    )


def _burrow(window: RowWindow, now_ms: int, partitions: int) -> Flags:
    """bool[n_groups]: WARN or ERR."""
    of_rows = partition_statuses(commit_windows(window, BURROW.intervals), now_ms, BURROW)
    bounds = np.arange(0, window.committed.shape[1] + 1, partitions)
    found: Flags = group_statuses(of_rows, bounds).status > BurrowStatus.OK
    return found


def _over(window: RowWindow, partitions: int) -> Flags:
    lag = (window.log_end[-1] - window.committed[-1]).reshape(-1, partitions).sum(axis=1)
    over: Flags = lag > THRESHOLD
    return over
