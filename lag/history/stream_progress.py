"""How far the stream has come in time: until when all that a cluster's groups recorded is in the tables.

Kept in PATH/_checkpoints/read_until.json, a time for each cluster. Without a commit nobody can tell whether a group has
stopped or the stream has: what is judged by commits is judged only up to here.
"""

import json
from datetime import UTC, datetime

from pyarrow.fs import FileType

from lag.errors import HistoryError
from lag.history.files import file_system, write_whole
from lag.history.store import History, told

PLACE = "_checkpoints/read_until.json"
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""A stream has begun, and not yet come to the end of what was there."""


def read_until(history: History) -> dict[str, datetime]:
    """The time of each cluster that has a stream, in UTC; one that does not is not named. Raises HistoryError."""
    place = f"{history.root}/{PLACE}"
    with told(place):
        files, path = file_system(place)
        if files.get_file_info(path).type == FileType.NotFound:
            return {}
        with files.open_input_stream(path) as stream:
            text = stream.read().decode()
    try:
        return {cluster: datetime.fromisoformat(at).astimezone(UTC) for cluster, at in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        raise HistoryError(f"{place} is damaged", "Delete it; the stream writes it anew") from None


def mark_read(history: History, cluster: str, until: datetime) -> None:
    """Say that everything from before `until` is in the tables. Raises HistoryError."""
    marks = read_until(history) | {cluster: until}
    place = f"{history.root}/{PLACE}"
    with told(place):
        write_whole(*file_system(place), json.dumps({name: at.isoformat() for name, at in marks.items()}).encode())
