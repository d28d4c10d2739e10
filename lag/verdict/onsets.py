"""Since when records wait under the same committed offset, as far back as our polls, not only in the window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lag.offsets import UNKNOWN, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Onsets:
    """int64[n_rows] each, -1 = unknown or none.

    committed: the last known committed offset. unmoved_ms: the first poll that saw it. since_ms: the first poll since
    which records wait under it in every poll that knows. first_ms: the first poll that had the row; an onset at that
    poll may be earlier.
    """

    committed: Ints
    unmoved_ms: Ints
    since_ms: Ints
    first_ms: Ints

    @classmethod
    def none(cls, rows: int) -> "Onsets":
        """Of rows that no poll has seen."""
        unknown = np.full(rows, UNKNOWN, np.int64)
        return cls(unknown, unknown, unknown, unknown)

    def after(self, at_ms: int, committed: Ints, log_end: Ints) -> "Onsets":
        """With one poll more; `committed` and `log_end` are int64[n_rows]."""
        known = (committed != UNKNOWN) & (log_end != UNKNOWN)
        unmoved = (committed == UNKNOWN) | (committed == self.committed)
        waits = np.where(unmoved & (self.since_ms != UNKNOWN), self.since_ms, at_ms)
        return Onsets(
            np.where(committed == UNKNOWN, self.committed, committed),
            np.where(unmoved, self.unmoved_ms, at_ms),
            np.where(known, np.where(log_end > committed, waits, UNKNOWN), self.since_ms),
            np.where(self.first_ms == UNKNOWN, at_ms, self.first_ms),
        )

    def of_rows(self, rows: slice | Ints) -> "Onsets":
        """Those of some rows."""
        return Onsets(*(column[rows] for column in self._columns))

    def reindexed(self, rows: Ints) -> "Onsets":
        """For the rows of another table; `rows` is int64[n_new_rows], the old row or -1."""
        if not len(self.committed):
            return Onsets.none(len(rows))
        return Onsets(*(np.where(rows < 0, UNKNOWN, column[rows]) for column in self._columns))

    def forgotten(self, where: NDArray[np.bool_]) -> "Onsets":
        """Without what is known of these rows: their topic was created again."""
        return Onsets(*(np.where(where, UNKNOWN, column) for column in self._columns))

    @property
    def _columns(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.committed, self.unmoved_ms, self.since_ms, self.first_ms
