"""How far the stream has read: for each cluster the time before which all commits are stored.

Stored in <root>/_checkpoints/read_until.json. A group that stopped looks like a stream that stopped, so commits are
judged only up to this time.
"""

import json
from datetime import UTC, datetime

from lag.errors import HistoryError
from lag.history.files import read_file, write_atomically
from lag.history.store import History, history_errors
from lag.times import EPOCH

PATH = "_checkpoints/read_until.json"
NEVER = EPOCH
"""The stream has started and has not yet read up to the log end of its start."""


def read_until(history: History) -> dict[str, datetime]:
    """The time for each cluster with a stream, in UTC. Raises HistoryError."""
    place = f"{history.root}/{PATH}"
    with history_errors(place):
        data = read_file(place)
    if data is None:
        return {}
    try:
        return {cluster: datetime.fromisoformat(at).astimezone(UTC) for cluster, at in json.loads(data).items()}
    except (ValueError, TypeError, AttributeError):
        raise HistoryError(f"{place} is damaged", "Delete it; the stream writes it again") from None


def mark_read(history: History, cluster: str, until: datetime) -> None:
    """Store that all commits before `until` are in the tables. Raises HistoryError."""
    times = read_until(history) | {cluster: until}
    place = f"{history.root}/{PATH}"
    with history_errors(place):
        write_atomically(place, json.dumps({name: at.isoformat() for name, at in times.items()}).encode())
