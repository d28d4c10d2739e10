"""How far the roll-up has computed, for its next run: a time for each cluster, and the last commits before it.

Stored in <root>/_checkpoints/rolled_up.arrow. Without it the next run reads all stored commits to find the last ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from lag.history.files import read_file, write_atomically
from lag.history.schemas import BYTES, COMMITS, LAG_1M, TEXT, TIME
from lag.history.store import History, history_errors

PATH = "_checkpoints/rolled_up.arrow"
LAST_COMMITS = pa.schema(
    [
        ("cluster", TEXT), ("topic", TEXT), ("partition", pa.int32()), ("group_id", TEXT), ("at", TIME),
        ("src_offset", pa.int64()), ("committed", pa.int64()), ("topic_id", BYTES), ("bootstrap", pa.bool_()),
    ]
)  # fmt: skip
"""The last commit of each series before some time, unless it is a tombstone. `at`: commit time, else record time."""


@dataclass(frozen=True, slots=True, eq=False)
class RollupProgress:
    """`until`: for each cluster, minutes before it are computed. `commits`: LAST_COMMITS before `known_until`.

    `files`: paths of recorded files with rows of the last hours that are rolled up.
    """

    until: Mapping[str, datetime]
    known_until: datetime
    commits: pa.Table
    files: frozenset[str] = frozenset()


def load_progress(history: History) -> RollupProgress | None:
    """The stored progress. None: never stored, damaged, or of tables that were deleted. Raises HistoryError."""
    place = f"{history.root}/{PATH}"
    with history_errors(place):
        data = read_file(place)
    if data is None:
        return None
    try:
        rows = pa.ipc.open_file(data).read_all()
        about = json.loads(rows.schema.metadata[b"about"])
        until = {cluster: _time(at) for cluster, at in about["until"].items()}
        is_same = about["tables"] == _ids(history) and rows.schema.equals(LAST_COMMITS)
        known_until, files = _time(about["known_until"]), frozenset(map(str, about["files"]))
        return RollupProgress(until, known_until, rows, files) if is_same else None
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError, AttributeError):
        return None


def save_progress(history: History, progress: RollupProgress) -> None:
    """Store the progress. Raises HistoryError."""
    about = {
        "until": {cluster: at.isoformat() for cluster, at in progress.until.items()},
        "known_until": progress.known_until.isoformat(),
        "files": sorted(progress.files),
        "tables": _ids(history),
    }
    rows = progress.commits.replace_schema_metadata({"about": json.dumps(about)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(rows)
    with history_errors(f"{history.root}/{PATH}"):
        write_atomically(f"{history.root}/{PATH}", sink.getvalue().to_pybytes())


def _ids(history: History) -> list[str]:
    """The ids of the tables; a table that is deleted and created again has a new id."""
    tables = [history.open(name) for name in (COMMITS.name, LAG_1M.name)]
    return ["" if table is None else str(table.metadata().id) for table in tables]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
