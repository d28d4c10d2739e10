"""What the history relies on in delta-rs without a documented promise.

Checked against deltalake 1.6.6:
- `DeltaTable.create_write_transaction` in mode "append" also takes `RemoveAction`. Unnecessary once deltalake replaces
  named files in one commit; `write_deltalake` can only replace the rows of a predicate, and rewrites them.
- Errors of the disk, of the protocol and of conflicts differ only in their text. Unnecessary once deltalake has an
  exception class for each.
"""

from collections.abc import Mapping, Sequence

from deltalake import CommitProperties, DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from lag.history.files import DataFile
from lag.history.schemas import DAY, Table
from lag.times import wall_clock_ms

ERROR_CAUSES: Mapping[str, tuple[str, str]] = {
    "No space left on device": ("the disk is full", "Free space there; nothing was half written"),
    "File too large": ("a file has reached the size limit", "Raise the file size limit; nothing was half written"),
    "Permission denied": ("reading or writing there is not permitted", "Grant access, or use another history"),
    "Not a directory": ("it is not a folder", "Name a folder"),
    "Read-only file system": ("the file system is read-only", "Use another history"),
    "reader version": ("it was written by a newer Delta Lake", "Upgrade groupscope here, or use another history"),
    "reader feature": ("it was written by a newer Delta Lake", "Upgrade groupscope here, or use another history"),
    "concurrent transaction": ("other writers kept changing the same rows", "Try again; nothing was half written"),
}
"""Part of an error's text -> cause and hint."""


def commit_files(
    table: DeltaTable,
    of: Table,
    new: Sequence[DataFile],
    properties: CommitProperties,
    old: Sequence[tuple[str, int, str]] = (),
    data_change: bool = True,
) -> None:
    """Add the files and remove others in one commit. `old`: path, size in bytes and day of each.

    `data_change` False: the rows stay the same (Delta's `dataChange`). Raises CommitFailedError.
    """
    now_ms = wall_clock_ms()
    added = [
        AddAction(file.path, file.size_bytes, {DAY: file.day}, file.written_ms, data_change, file.stats) for file in new
    ]
    removed = [RemoveAction(path, data_change, now_ms, size_bytes, {DAY: day}) for path, size_bytes, day in old]
    table.create_write_transaction([*added, *removed], "append", of.schema, [DAY], commit_properties=properties)
