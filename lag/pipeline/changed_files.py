"""Finds recorded files with recent rows. Minutes without rows in new files need not be computed again."""

from datetime import UTC, datetime

from deltalake import DeltaTable

from lag.history.rewrites.span_replacement import files_in_span
from lag.history.schemas import COMMITS, END_OFFSETS, GROUP_EVENTS, GROUP_SNAPSHOTS
from lag.history.store import History

TIMES = {
    COMMITS.name: ("commit_ts", "src_ts"),
    **{table.name: (table.time,) for table in (END_OFFSETS, GROUP_EVENTS, GROUP_SNAPSHOTS)},
}
"""The recorded tables, with the columns that hold the time of a row."""

_NO_END = datetime.max.replace(tzinfo=UTC)


def recent(history: History, since: datetime) -> dict[str, datetime]:
    """Files that may have a row at `since` or later -> the earliest such time in the file.

    Compacted files count as new, because they may contain new rows.
    """
    found: dict[str, datetime] = {}
    for name, columns in TIMES.items():
        table = DeltaTable(history.table_path(name))
        for file in (file for column in columns for file in files_in_span(table, column, since, _NO_END)):
            place, first = f"{name}/{file.path}", max(since, file.first or since)
            found[place] = min(first, found.get(place, first))
    return found
