"""How far the roll-up has come, for its next run: until when each cluster is done, and the last commits before that.

Kept in PATH/_checkpoints/rolled_up.arrow, whole or not at all. Without it a run reads more: every commit that is kept,
to find the last ones.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa
from pyarrow.fs import FileType

from lag.history.files import file_system, write_whole
from lag.history.schemas import BYTES, COMMITS, LAG_1M, TEXT, TIME
from lag.history.store import History, told

PLACE = "_checkpoints/rolled_up.arrow"
LAST_COMMITS = pa.schema(
    [
        ("cluster", TEXT), ("topic", TEXT), ("partition", pa.int32()), ("group_id", TEXT), ("at", TIME),
        ("src_offset", pa.int64()), ("committed", pa.int64()), ("topic_id", BYTES), ("bootstrap", pa.bool_()),
    ]
)  # fmt: skip
"""Of each series the last commit before some time, unless it ended it; `at` is its own time, or else its record's."""


@dataclass(frozen=True, slots=True, eq=False)
class Rolled:
    """`until`: of each cluster the minutes before it are done. `commits`: the last ones before `known_until`.

    `files`: those recorded files whose rows of the last hours were there already.
    """

    until: Mapping[str, datetime]
    known_until: datetime
    commits: pa.Table
    files: frozenset[str] = frozenset()


def rolled_up(history: History) -> Rolled | None:
    """None: it never ran, or what it left is damaged or of tables that are no more. Raises HistoryError."""
    place = f"{history.root}/{PLACE}"
    with told(place):
        files, path = file_system(place)
        if files.get_file_info(path).type == FileType.NotFound:
            return None
        with files.open_input_file(path) as file:
            data = file.read()
    try:
        rows = pa.ipc.open_file(data).read_all()
        about = json.loads(rows.schema.metadata[b"about"])
        until = {cluster: _time(at) for cluster, at in about["until"].items()}
        is_of_these = about["tables"] == _ids(history) and rows.schema.equals(LAST_COMMITS)
        known_until, files = _time(about["known_until"]), frozenset(map(str, about["files"]))
        return Rolled(until, known_until, rows, files) if is_of_these else None
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError, AttributeError):
        return None


def keep(history: History, made: Rolled) -> None:
    """Remember it. Raises HistoryError."""
    about = {
        "until": {cluster: at.isoformat() for cluster, at in made.until.items()},
        "known_until": made.known_until.isoformat(),
        "files": sorted(made.files),
        "tables": _ids(history),
    }
    rows = made.commits.replace_schema_metadata({"about": json.dumps(about)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(rows)
    with told(f"{history.root}/{PLACE}"):
        write_whole(*file_system(f"{history.root}/{PLACE}"), sink.getvalue().to_pybytes())


def _ids(history: History) -> list[str]:
    """Which tables these are: one that was deleted and made anew has another id."""
    tables = [history.open(name) for name in (COMMITS.name, LAG_1M.name)]
    return ["" if table is None else str(table.metadata().id) for table in tables]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
