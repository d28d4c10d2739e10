"""Burrow's rules once more, in plain Python and one partition at a time, and random windows to compare with.

It is written from the rules in Burrow's documentation and source (commit ced55ba), apart from `lag.verdict.burrow`, and
shares no code with it. What Burrow itself answered for some thousand windows is in `tests/fixtures/burrow.jsonl`.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lag.verdict.burrow.evaluator import (
    BurrowGroups,
    BurrowPartitions,
    BurrowSettings,
    BurrowStatus,
    CommitWindows,
    group_statuses,
    partition_statuses,
)
from tests.oracle.tally import Checked, generator

NAME = "burrow"
GROUPS = 50
"""Of one number; the windows of one number have the same settings and the same time."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit; `lag` is None where it was not known."""

    offset: int
    timestamp_ms: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class Partition:
    """The kept commits of a partition, newest last, and its last log ends."""

    commits: tuple[Commit, ...]
    log_ends: tuple[int, ...]
    current_lag: int


Group = tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Groups that are evaluated at one time with the same settings."""

    settings: BurrowSettings
    now_ms: int
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Of one group: its status, `complete`, `maxlag` (current lag; None = no partition), `totallag`; and of its
    partitions the statuses and `complete`."""

    status: str
    complete: float
    maxlag: int | None
    totallag: int
    partitions: tuple[tuple[str, float], ...]


def evaluate(case: Case, group: Group) -> Answer:
    """What Burrow says of the group."""
    partitions = tuple(_partition(case, one) for one in group)
    statuses = {status for status, _ in partitions}
    is_error = statuses & {"STOP", "STALL", "REWIND"}
    full = [share for _, share in partitions if share == 1]
    return Answer(
        status="ERR" if is_error else "WARN" if "WARN" in statuses else "OK",
        complete=_float32(len(full) / len(partitions)) if partitions else 0.0,
        maxlag=max((one.current_lag for one in group), default=None),
        totallag=sum(one.current_lag for one in group),
        partitions=partitions,
    )


def _partition(case: Case, one: Partition) -> tuple[str, float]:
    share = _float32(len(one.commits) / case.settings.intervals)
    enough = share >= _float32(case.settings.minimum_complete)
    allowed = case.settings.allowed_lag
    if not one.commits or not enough or one.current_lag <= allowed:
        return "OK", share
    return _lagging(one, case.now_ms // 1000, allowed), share


def _lagging(one: Partition, now_s: int, allowed: int) -> str:
    offsets = [commit.offset for commit in one.commits]
    lags = [commit.lag for commit in one.commits if commit.lag is not None]
    first, last = one.commits[0], one.commits[-1]
    age_ms, span_ms = now_s * 1000 - last.timestamp_ms, last.timestamp_ms - first.timestamp_ms
    if age_ms > span_ms and all(end > last.offset for end in one.log_ends):
        return "STOP"
    if _rewinds(offsets):
        return "REWIND"
    if any(lag <= allowed for lag in lags):
        return "OK"
    if len(set(offsets)) == 1:
        return "STALL"
    return "WARN" if lags == sorted(lags) else "OK"


def _rewinds(offsets: Sequence[int]) -> bool:
    for at, (before, after) in enumerate(pairwise(offsets)):
        if after < before:
            return max(offsets[at + 1 :]) < before
    return False


def windows(case: Case, partitions: Sequence[Partition]) -> CommitWindows:
    """The partitions as columns."""
    slots, ends = case.settings.intervals, max([len(one.log_ends) for one in partitions], default=0)
    return CommitWindows(
        offset=_column([[commit.offset for commit in one.commits] for one in partitions], slots),
        timestamp_ms=_column([[commit.timestamp_ms for commit in one.commits] for one in partitions], slots),
        lag=_column(
            [[-1 if commit.lag is None else commit.lag for commit in one.commits] for one in partitions], slots
        ),
        log_end=_column([one.log_ends for one in partitions], ends),
        current_lag=np.array([one.current_lag for one in partitions], np.int64),
    )


def _column(rows: Sequence[Sequence[int]], slots: int) -> np.ndarray:
    """int64[slots, len(rows)]: each row fills the last slots."""
    filled = [[-1] * (slots - len(row)) + list(row) for row in rows]
    return np.array(filled, np.int64).reshape(len(rows), slots).T


def document(case: Case) -> dict[str, Any]:
    """The case as JSON: a commit is [offset, age in ms, lag], a partition [commits, log ends, current lag]."""
    return {
        "settings": list(astuple(case.settings)),
        "now_ms": case.now_ms,
        "groups": [
            [
                [[[c.offset, case.now_ms - c.timestamp_ms, c.lag] for c in one.commits], one.log_ends, one.current_lag]
                for one in group
            ]
            for group in case.groups
        ],
    }


def case_of(given: Mapping[str, Any]) -> Case:
    """The case of a document."""
    now_ms = given["now_ms"]

    def partition(commits: Sequence[Any], log_ends: Sequence[int], current_lag: int) -> Partition:
        made = tuple(Commit(offset, now_ms - age_ms, lag) for offset, age_ms, lag in commits)
        return Partition(made, tuple(log_ends), current_lag)

    groups = tuple(tuple(partition(*one) for one in group) for group in given["groups"])
    return Case(BurrowSettings(*given["settings"]), now_ms, groups)


def answer_of(given: Sequence[Any]) -> Answer:
    """An answer as [status, complete, maxlag, totallag, [[status, complete] of each partition]]."""
    status, complete, maxlag, totallag, partitions = given
    return Answer(
        status, _float32(complete), maxlag, totallag, tuple((name, _float32(share)) for name, share in partitions)
    )


def _float32(share: float) -> float:
    return float(np.float32(share))


def ours(case: Case) -> list[Answer]:
    """What `lag.verdict.burrow` says of all groups at once."""
    partitions = [one for group in case.groups for one in group]
    bounds = np.cumsum([0, *map(len, case.groups)], dtype=np.int64)
    of_rows = partition_statuses(windows(case, partitions), case.now_ms, case.settings)
    return list(_answers(of_rows, group_statuses(of_rows, bounds), bounds))


def _answers(rows: BurrowPartitions, groups: BurrowGroups, bounds: np.ndarray) -> Iterator[Answer]:
    names = [BurrowStatus(code).name for code in rows.status]
    for at, (first, end) in enumerate(pairwise(bounds.tolist())):
        yield Answer(
            BurrowStatus(groups.status[at]).name,
            float(groups.complete[at]),
            int(rows.current_lag[groups.maxlag[at]]) if groups.maxlag[at] >= 0 else None,
            int(groups.totallag[at]),
            tuple(zip(names[first:end], rows.complete[first:end].tolist(), strict=True)),
        )


def draw(r: random.Random, now_ms: int | None = None) -> Case:
    """Random groups; small numbers, so that what the rules compare is often equal."""
    settings = BurrowSettings(
        intervals=r.choice((10, 10, 10, 1, 2, 3, 5, 20)),
        allowed_lag=r.choice((0, 0, 1, 5)),
        minimum_complete=r.choice((0.0, 0.0, 0.1, 0.3, 0.7, 1.0)),
    )
    now_ms = r.randrange(10**12, 2 * 10**12) if now_ms is None else now_ms
    groups = tuple(tuple(_draw(r, settings, now_ms) for _ in range(r.randrange(6))) for _ in range(GROUPS))
    return Case(settings, now_ms, groups)


def _draw(r: random.Random, settings: BurrowSettings, now_ms: int) -> Partition:
    count = r.choice((0, 1, settings.intervals, settings.intervals, r.randrange(settings.intervals + 1)))
    offsets, lags = _offsets(r, count), _lags(r, count, settings.allowed_lag)
    times = _times(r, count, now_ms)
    commits = tuple(map(Commit, offsets, times, lags))
    last = offsets[-1] if offsets else 20
    ends = tuple(sorted(max(0, last + r.choice((-1, 0, 1, 1, 2, 9))) for _ in range(r.choice((0, 1, 10)))))
    lag = max(0, ends[-1] - last) if ends and r.random() < 0.7 else r.choice((0, 1, 2, 5, 6, 400))
    return Partition(commits, ends, lag if offsets else 0)


def _offsets(r: random.Random, count: int) -> list[int]:
    """Constant, rising, or with steps back of which some are made good."""
    steps = r.choice(((0,), (1, 7), (0, 3), (0, 1, 2, -2), (5, 5, 5, -9), (-1, 0)))
    offsets = [r.randrange(200, 220)]
    for _ in range(1, count):
        offsets.append(max(0, offsets[-1] + r.choice(steps)))
    return offsets[:count]


def _lags(r: random.Random, count: int, allowed: int) -> list[int | None]:
    """Rising, falling once, now and then allowed, now and then not known."""
    steps = r.choice(((0,), (0, 1, 3), (0, 2, -1), (1, 1, 1, 1, 1, 1, -1)))
    lags = [allowed + r.choice((1, 1, 2, 30))]
    for _ in range(1, count):
        lags.append(max(0, lags[-1] + r.choice(steps)))
    unknown = r.choice((0, 0, 0, 0.3, 1))
    return [None if r.random() < unknown else lag for lag in lags[:count]]


def _times(r: random.Random, count: int, now_ms: int) -> list[int]:
    """The age of the last is around the time that all of them span: just below, equal, or just above."""
    gaps = [r.choice((0, 1, 500, 1000, 5000)) for _ in range(max(0, count - 1))]
    span = sum(gaps)
    age = max(0, span + r.choice((-1000, -999, -1, 0, 0, 1, 999, 1000, -span, 60_000)))
    times = [now_ms - age]
    for gap in gaps:
        times.insert(0, times[0] - gap)
    return times


def check(seed: int, number: int) -> Iterator[Checked]:
    """The groups of one number, ours beside the plain ones: a case for each partition, and one for each group."""
    case = draw(generator(seed, number))
    for group, our in zip(case.groups, ours(case), strict=True):
        plain = evaluate(case, group)
        difference = "" if our == plain else f"{case.settings} at {case.now_ms}, {group}: ours {our}, plain {plain}"
        yield from (Checked(NAME, difference) for _ in range(1 + len(group)))
