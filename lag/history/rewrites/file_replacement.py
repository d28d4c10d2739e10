"""Replaces some files of a table by new ones in one commit."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

from lag.history.compat import commit_files
from lag.history.files import DataFile
from lag.history.schemas import DAY, Table
from lag.history.store import COMMIT_RETRIES

STATS_RESOLUTION = timedelta(milliseconds=1)
"""Delta's statistics truncate times to milliseconds."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a table, with its number of rows and its lowest and highest time.

    None: the Delta log has no statistics of it.
    """

    path: str
    day: date
    size_bytes: int
    rows: int | None
    first: datetime | None = None
    last: datetime | None = None

    def has_prefix(self, prefix: str) -> bool:
        """Whether the name of the file starts with `prefix`."""
        return self.path.rsplit("/", 1)[-1].startswith(prefix)

    def may_overlap(self, since: datetime, until: datetime) -> bool:
        """Whether the file may have a row in [since, until)."""
        return (self.first is None or self.first < until) and (
            self.last is None or self.last + STATS_RESOLUTION >= since
        )

    def is_within(self, since: datetime, until: datetime) -> bool:
        """Whether all rows of the file are in [since, until)."""
        if self.first is None or self.last is None:
            return False
        return self.first >= since and self.last + STATS_RESOLUTION < until


def stored_files(table: DeltaTable, time: str = "") -> list[StoredFile]:
    """All files of the table; with the bounds of the column `time`, if given."""
    return [
        StoredFile(
            *(action[name] for name in ("path", f"partition.{DAY}", "size_bytes", "num_records")),
            *(action.get(f"{bound}.{time}") for bound in ("min", "max")),
        )
        for action in pa.table(table.get_add_actions(flatten=True)).to_pylist()
    ]


def replace_files(
    table: DeltaTable, of: Table, new: Sequence[DataFile], old: Sequence[StoredFile], data_change: bool
) -> None:
    """Replace `old` by `new`; files added by others meanwhile stay. `data_change` False: the rows stay the same.

    Raises CommitFailedError if another writer removed one of `old`. delta-rs does not detect this if it was compaction,
    and the rows would be in the table twice.
    """
    for _ in range(COMMIT_RETRIES):
        with suppress(CommitFailedError):
            try_replace_files(table, of, new, old, data_change)
            return
        table.update_incremental()
        if not {file.path for file in old} <= {file.path for file in stored_files(table)}:
            raise CommitFailedError("A concurrent transaction removed files that this one was to replace.")
    try_replace_files(table, of, new, old, data_change)


def try_replace_files(
    table: DeltaTable, of: Table, new: Sequence[DataFile], old: Sequence[StoredFile], data_change: bool
) -> None:
    """`replace_files` without retries. Raises CommitFailedError after any commit since the table was opened."""
    removed = [(one.path, one.size_bytes, one.day.isoformat()) for one in old]
    commit_files(table, of, new, CommitProperties(max_commit_retries=0), removed, data_change)
