"""The files that a table consists of, and how new ones take the place of some of them in one commit."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import RemoveAction

from lag.history.files import DataFile
from lag.history.schemas import DAY, Table
from lag.history.store import COMMIT_RETRIES, added


@dataclass(frozen=True, slots=True)
class Stored:
    """A file of a table; `rows` None: the table does not tell."""

    path: str
    day: date
    size_bytes: int
    rows: int | None

    @classmethod
    def of(cls, action: Mapping[str, Any]) -> "Stored":
        """Of an add action."""
        return cls(action["path"], action[f"partition.{DAY}"], action["size_bytes"], action["num_records"])

    def is_named(self, beginning: str) -> bool:
        """Whether its name begins so."""
        return self.path.rsplit("/", 1)[-1].startswith(beginning)


def stored(table: DeltaTable) -> list[Stored]:
    """All of them."""
    return [Stored.of(action) for action in add_actions(table)]


def add_actions(table: DeltaTable) -> list[dict[str, Any]]:
    """What the table's log says of each of its files: path, size, day, and bounds of columns as `min.` and `max.`."""
    actions: list[dict[str, Any]] = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return actions


def exchange(table: DeltaTable, of: Table, new: Sequence[DataFile], old: Sequence[Stored], is_news: bool) -> None:
    """Make `new` part of the table in the place of `old`. `is_news` False: the rows are the same.

    What others add meanwhile stays. Raises CommitFailedError when they removed one of `old`: delta-rs itself would not
    see that when it was compaction, and `new` would stand beside what has the same rows.
    """
    for _ in range(COMMIT_RETRIES):
        with suppress(CommitFailedError):
            exchange_now(table, of, new, old, is_news)
            return
        table.update_incremental()
        if not {file.path for file in old} <= {file.path for file in stored(table)}:
            raise CommitFailedError("A concurrent transaction removed files that this one was to replace.")
    exchange_now(table, of, new, old, is_news)


def exchange_now(table: DeltaTable, of: Table, new: Sequence[DataFile], old: Sequence[Stored], is_news: bool) -> None:
    """The same, if nobody has committed anything since the table was looked at; else CommitFailedError is raised."""
    now_ms = time.time_ns() // 1_000_000
    removed = [RemoveAction(one.path, is_news, now_ms, one.size_bytes, {DAY: one.day.isoformat()}) for one in old]
    table.create_write_transaction(
        [*(added(file, is_news) for file in new), *removed],
        "append",
        of.schema,
        [DAY],
        commit_properties=CommitProperties(max_commit_retries=0),
    )
