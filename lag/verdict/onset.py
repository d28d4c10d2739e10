"""Since when a verdict holds: a time, whether it is exact, and where it was read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Flags, Ints

SourceCodes = NDArray[np.uint8]
"""Indexes into SOURCES."""


class OnsetSource(StrEnum):
    """Where an onset was read."""

    COMMIT = "commit_timestamp"  # a commit in `__consumer_offsets`
    GENERATION = "generation"  # a record about the group's members
    HISTORY = "history"  # stored history, from before this process started
    WINDOW = "window"  # the polls of this process


SOURCES: tuple[OnsetSource, ...] = tuple(OnsetSource)
SOURCE_CODE: Mapping[OnsetSource, int] = {source: i for i, source in enumerate(SOURCES)}


@dataclass(frozen=True, slots=True)
class Onset:
    """Since when a verdict holds, in ms since 1970. Not `is_exact`: it may have begun earlier."""

    at_ms: int
    is_exact: bool
    source: OnsetSource


class OnsetColumns(NamedTuple):
    """Onsets of n rows or groups. `at_ms` int64[n], -1 = none; `is_exact` bool[n]; `source` uint8[n]."""

    at_ms: Ints
    is_exact: Flags
    source: SourceCodes

    @classmethod
    def none(cls, n: int) -> "OnsetColumns":
        """The columns of n rows without onsets."""
        return cls.constant(n, UNKNOWN, OnsetSource.WINDOW)

    @classmethod
    def constant(cls, n: int, at_ms: int, source: OnsetSource) -> "OnsetColumns":
        """The same time n times, not exact."""
        return cls(np.full(n, at_ms, np.int64), np.zeros(n, np.bool_), np.full(n, SOURCE_CODE[source], np.uint8))

    def of_rows(self, rows: Ints) -> "OnsetColumns":
        """The onsets of these rows, in their order."""
        return OnsetColumns(self.at_ms[rows], self.is_exact[rows], self.source[rows])

    def where(self, chosen: Flags, other: "OnsetColumns") -> "OnsetColumns":
        """`other` where not `chosen` (bool[n])."""
        return OnsetColumns(
            np.where(chosen, self.at_ms, other.at_ms),
            np.where(chosen, self.is_exact, other.is_exact),
            np.where(chosen, self.source, other.source),
        )

    def at(self, row: int) -> Onset | None:
        """The onset of one row."""
        at_ms = int(self.at_ms[row])
        return None if at_ms == UNKNOWN else Onset(at_ms, bool(self.is_exact[row]), SOURCES[self.source[row]])


class RowCommits(NamedTuple):
    """What commit records tell about the rows of an offset table; int64[n_rows] unless stated, -1 = not known.

    offset       of the last commit record
    first_ms     of the first record of the present run: the records with this offset, up to the last
    is_exact     bool: the run began at `first_ms`
    follows      bool: a record with another offset precedes the run
    back_ms      of the last record with a lower offset than the one before it
    interval_ms  the longest of the last times between two commits that moved the offset
    """

    offset: Ints
    first_ms: Ints
    is_exact: Flags
    follows: Flags
    back_ms: Ints
    interval_ms: Ints


class GroupRecords(Protocol):
    """What records about the members of a group tell. Times in ms since 1970."""

    def emptied_ms(self, group_id: str) -> int | None:
        """The record that left the group without members; None if it was not read or the group has members."""

    def joined_ms(self, group_id: str) -> int | None:
        """The record of the first member after the group was last empty; None if it was not read."""
