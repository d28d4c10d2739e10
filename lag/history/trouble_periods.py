"""Periods of trouble of a group: runs of minutes in trouble among the minutes with a known status."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pandas as pd

from lag.history.span import MINUTE
from lag.times import MICROSECOND, micros
from lag.verdict.health import Finding
from lag.verdict.status import STATUS_CODE, URGENCY, Status

SILENT = timedelta(minutes=10)
"""A status that is older than this at the end of a span is not the status at the end."""

_MINUTE_US = MINUTE // MICROSECOND
_UNKNOWN = STATUS_CODE[Status.UNKNOWN]


@dataclass(frozen=True, slots=True)
class TroublePeriod:
    """A period of trouble in microseconds since 1970, from the start of its first minute to the end of its last.

    `minutes` of it have a known status. `worst` is its most urgent status. `starts_before_data`: no known minute
    precedes it; `ends_with_data`: none follows it. `is_ongoing`: nor is its last one long before the end of the span.
    """

    since_us: int
    until_us: int
    minutes: int
    worst: Status
    starts_before_data: bool
    ends_with_data: bool
    is_ongoing: bool


def with_onset(periods: Sequence[TroublePeriod], finding: Finding) -> list[TroublePeriod]:
    """The ongoing period begins at the onset of the live verdict, if that is its worst status and no other precedes."""
    if not periods or not periods[-1].is_ongoing or finding.onset is None or finding.status is not periods[-1].worst:
        return list(periods)
    since_us, last = finding.onset.at_ms * 1000, periods[-1]
    if since_us > last.since_us + _MINUTE_US:
        return list(periods)
    return [*periods[:-1], replace(last, since_us=since_us, starts_before_data=not finding.onset.is_exact)]


def trouble_periods(health: pd.DataFrame, trouble: Collection[Status], until: datetime) -> list[TroublePeriod] | None:
    """The periods in rows of `frames.HEALTH` of a span to `until`, oldest first; None if no minute has a known status.

    Unknown minutes neither start nor end a period; but a group whose last status is older than SILENT may be gone.
    """
    known = health[health["rank"] != _UNKNOWN]
    if known.empty:
        return None
    rank, at_us = known["rank"].to_numpy(np.int64), known["at_us"].to_numpy(np.int64)
    bad = np.isin(rank, [STATUS_CODE[one] for one in trouble])
    is_recent = int(at_us[-1]) + _MINUTE_US >= micros(until - SILENT)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], bad, [False])).astype(np.int8)))
    return [
        TroublePeriod(
            since_us=int(at_us[first]),
            until_us=int(at_us[end - 1]) + _MINUTE_US,
            minutes=int(end - first),
            worst=URGENCY[int(rank[first:end].min())],
            starts_before_data=bool(first == 0),
            ends_with_data=bool(end == len(bad)),
            is_ongoing=bool(end == len(bad)) and is_recent,
        )
        for first, end in edges.reshape(-1, 2)
    ]
