"""How often a group was in trouble, since when and for how long: runs of such minutes among those that are known."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from lag.history.results import MINUTE, Verdicts
from lag.verdict.health import URGENCY, Status

_MINUTE_US = MINUTE.seconds * 1_000_000
_UNKNOWN = URGENCY.index(Status.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Spell:
    """Trouble from one known minute to another, in microseconds since 1970; `until_us` is the end of the last.

    `minutes` of it are known; there may be others in between. `worst` is the most urgent status in it. `begins_unseen`:
    it is older than what is known. `goes_on`: nothing newer than it is known.
    """

    since_us: int
    until_us: int
    minutes: int
    worst: Status
    begins_unseen: bool
    goes_on: bool


def spells(verdicts: Verdicts, trouble: Collection[Status]) -> list[Spell] | None:
    """Oldest first; None when no minute is known. One that is not known neither ends a spell nor begins one."""
    known = np.flatnonzero(verdicts.status != _UNKNOWN)
    if not len(known):
        return None
    status, at_us = verdicts.status[known], verdicts.at_us[known]
    bad = np.isin(status, [URGENCY.index(one) for one in trouble])
    edges = np.flatnonzero(np.diff(np.concatenate(([False], bad, [False])).astype(np.int8)))
    return [
        Spell(
            since_us=int(at_us[first]),
            until_us=int(at_us[end - 1]) + _MINUTE_US,
            minutes=int(end - first),
            worst=URGENCY[int(status[first:end].min())],
            begins_unseen=bool(first == 0),
            goes_on=bool(end == len(bad)),
        )
        for first, end in edges.reshape(-1, 2)
    ]
