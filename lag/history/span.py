"""What a question about the history covers: a time, and a group, topic or partition. Times are UTC."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from lag.offsets import Ints
from lag.times import MICROSECOND, micros

MINUTE, TEN_MINUTES, HOUR, DAY = timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(days=1)
MAX_MINUTE_SPAN = timedelta(days=3)
"""A longer span has one point for each hour instead of each minute."""

MAX_TEN_MINUTE_CELLS, MAX_HOUR_CELLS = timedelta(hours=6), timedelta(days=7)
"""The longest spans whose health is shown in cells of ten minutes, and of an hour; longer ones have days."""


@dataclass(frozen=True, slots=True)
class Span:
    """The time from `since` (inclusive) to `until` (exclusive), in UTC."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        return self.until - self.since

    @property
    def step(self) -> timedelta:
        """The time between two points of a lag series."""
        return MINUTE if self.length <= MAX_MINUTE_SPAN else HOUR

    @property
    def cell(self) -> timedelta:
        """The length of a cell of the health map."""
        if self.length <= MAX_TEN_MINUTE_CELLS:
            return TEN_MINUTES
        return HOUR if self.length <= MAX_HOUR_CELLS else DAY

    def days(self) -> "Iterator[Span]":
        """The span split at midnight (UTC)."""
        since = self.since
        while since < self.until:
            midnight = full_hour(since).replace(hour=0) + DAY
            yield Span(since, min(midnight, self.until))
            since = midnight

    def times(self, step: timedelta) -> Ints:
        """The starts of the steps in microseconds since 1970: int64[n_steps]."""
        size_us = step // MICROSECOND
        return np.arange(micros(self.since) // size_us * size_us, micros(self.until), size_us, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Scope:
    """A group, or one of its topics, or one partition of that topic."""

    group_id: str
    topic: str | None = None
    partition: int | None = None


def full_minute(at: datetime) -> datetime:
    """The start of its minute."""
    return at.astimezone(UTC).replace(second=0, microsecond=0)


def full_hour(at: datetime) -> datetime:
    """The start of its hour in UTC."""
    return full_minute(at).replace(minute=0)
