"""Replaces some files of a table by new ones in one commit."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

from lag.history.compat import commit_files
from lag.history.files import DataFile
from lag.history.schemas import DAY, Table
from lag.history.store import COMMIT_RETRIES


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a table. `rows` None: the Delta log has no statistics of it."""

    path: str
    day: date
    size_bytes: int
    rows: int | None

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> "StoredFile":
        """From an add action."""
        return cls(action["path"], action[f"partition.{DAY}"], action["size_bytes"], action["num_records"])

    def has_prefix(self, prefix: str) -> bool:
        """Whether the name of the file starts with `prefix`."""
        return self.path.rsplit("/", 1)[-1].startswith(prefix)


def stored_files(table: DeltaTable) -> list[StoredFile]:
    """All files of the table."""
    return [StoredFile.of(action) for action in add_actions(table)]


def add_actions(table: DeltaTable) -> list[dict[str, Any]]:
    """The add actions of the Delta log: path, size, day, and bounds of columns as `min.<column>` and `max.<column>`."""
    actions: list[dict[str, Any]] = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return actions


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
