"""The collector's snapshots -> `end_offsets` and `group_snapshots`, appended by a thread of its own.

A full disk or a slow one does not hold up polling: what cannot be written waits, up to `MOST_ROWS`, then the oldest is
given up, and said to be so. The size of what waits does not grow with time. Files are put together in another thread:
that may take longer than polls can wait.
"""

import logging
import math
import threading
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from uuid import UUID

import numpy as np
import pyarrow as pa

from lag.errors import HistoryError
from lag.history.maintenance import care
from lag.history.schemas import END_OFFSETS, GROUP_SNAPSHOTS, TIME, with_day
from lag.history.store import History
from lag.model import ClusterSnapshot, is_internal_group
from lag.offsets import UNKNOWN, Codes, Ints
from lag.verdict.health import TOO_EARLY, GroupColumns, Health

log = logging.getLogger(__name__)

FLUSH_S = 30.0
"""A Delta commit each; fewer make fewer small files, more make a page's newest minute younger."""

CARE_S = 3600.0
MOST_ROWS = 1_000_000
"""Some 60 MB."""

RECORDED = ("end_offsets", "group_snapshots")


class Recorder:
    """Keeps what the collectors of this process read, between `start` and `stop`."""

    def __init__(self, history: History, flush_s: float = FLUSH_S, care_s: float = CARE_S) -> None:
        self._history, self._flush_s, self._care_s = history, flush_s, care_s
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, pa.Table]] = deque()
        self._given_up = 0
        self._stopping = False
        self._said: dict[str, str] = {}
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (("history", self._run), ("history-care", self._look_after))
        ]

    def see(self, health: Health) -> None:
        """Take in one poll; one of a cluster that does not tell its id is not kept."""
        if health.snapshot.cluster_id is None:
            return
        made = {"end_offsets": end_offsets(health.snapshot), "group_snapshots": group_snapshots(health)}
        with self._changed:
            self._waiting += [(name, rows) for name, rows in made.items() if len(rows)]
            while self.waiting_rows() > MOST_ROWS:
                self._give_up(len(self._waiting.popleft()[1]))

    def waiting_rows(self) -> int:
        """Rows that are not written yet."""
        return sum(len(rows) for _, rows in self._waiting)

    def flush(self) -> None:
        """Write what waits, each table by itself. What fails is told once, and waits on."""
        with self._changed:
            waiting = list(self._waiting)
        for name in RECORDED:
            self._try(name, partial(self._write, name, [one for one in waiting if one[0] == name]))
        with self._changed:
            if self._given_up and not self._waiting:
                log.warning("The history is written again; %d rows of polls are missing", self._given_up)
                self._given_up = 0

    def _write(self, name: str, parts: list[tuple[str, pa.Table]]) -> None:
        if not parts:
            return
        self._history.append(name, pa.concat_tables([rows for _, rows in parts]))
        written = {id(rows) for _, rows in parts}
        with self._changed:
            self._waiting = deque(one for one in self._waiting if id(one[1]) not in written)

    def _give_up(self, rows: int) -> None:
        """Told when it begins, and with its number when it is over."""
        if not self._given_up:
            log.warning("The history is not written fast enough: the oldest polls are given up")
        self._given_up += rows

    def _try(self, what: str, do: Callable[[], object]) -> None:
        """Do it; a failure is told once, until it works again."""
        try:
            do()
        except HistoryError as error:
            if str(error) not in self._said.values():
                log.warning("%s", error)
            self._said[what] = str(error)
        else:
            self._said.pop(what, None)

    def _run(self) -> None:
        while not self._rest(self._flush_s):
            self.flush()
        self.flush()

    def _look_after(self) -> None:
        while not self._rest(self._care_s):
            for name in RECORDED:
                self._try(f"care of {name}", partial(care, self._history, name, datetime.now(UTC)))

    def _rest(self, seconds: float) -> bool:
        """Wait, and say whether this is the end."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopping, seconds)

    def __enter__(self) -> "Recorder":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._threads[0].join(10)  # the other one may be at a large day: what it does counts when it is done


def end_offsets(snapshot: ClusterSnapshot) -> pa.Table:
    """The partitions that any group has to do with: where their logs begin and end."""
    ends = snapshot.offsets.ends
    used = np.unique(snapshot.offsets.end)
    topics = ends.topic[used]
    ids = [snapshot.topics[name].topic_id if name in snapshot.topics else None for name in ends.topics]
    known_ids = pa.array([None if one is None else UUID(one).bytes for one in ids], pa.binary())
    columns = _when(snapshot, len(used)) | {
        "topic": pa.array(ends.topics, pa.string()).take(pa.array(topics)),
        "topic_id": known_ids.take(pa.array(topics)),
        "partition": pa.array(ends.partition[used]),
        "log_start": _known(ends.log_start[used]),
        "log_end": _known(ends.log_end[used]),
        "last_stable": _known(ends.last_stable[used]),
        "leader_epoch": _known(ends.leader_epoch[used]),
        "err": pa.array(ends.problem[used].astype(np.int16)),
    }
    return with_day(pa.table(columns), END_OFFSETS)


def group_snapshots(health: Health) -> pa.Table:
    """Each group that is not ours: who it is, how far behind, and what is the matter with it."""
    snapshot, rows = health.snapshot, []
    for number, group in enumerate(snapshot.groups):
        if is_internal_group(group.group_id):
            continue
        lag = snapshot.offsets.lag[snapshot.offsets.rows(number)]
        known = lag[lag != UNKNOWN]
        rows.append(
            {
                "group_id": group.group_id,
                "type": str(group.type),
                "state": group.state,
                "coordinator": group.coordinator,
                "assignor": group.assignor,
                "epoch": group.epoch,
                "members": len(group.members),
                "lag": int(known.sum()) if len(known) or not len(lag) else None,
                "lag_known": len(known),
                "lag_partitions": len(lag),
                "complete": group.complete,
                **_verdict(health.columns, number),
            }
        )
    own = [field for field in GROUP_SNAPSHOTS.file_schema if field.name not in ("cluster", "poll_ts")]
    made = pa.Table.from_pylist(rows, pa.schema(own))
    columns = _when(snapshot, len(rows)) | {name: made[name] for name in made.column_names}
    return with_day(pa.table(columns), GROUP_SNAPSHOTS)


def _verdict(columns: GroupColumns, number: int) -> dict[str, int | None]:
    code, time_lag_s = int(columns.status[number]), float(columns.time_lag_s[number])
    return {
        "status": None if code == TOO_EARLY else code,
        "time_lag_ms": None if math.isnan(time_lag_s) else round(time_lag_s * 1000),
        "markers": int(columns.markers[number]),
    }


def _when(snapshot: ClusterSnapshot, rows: int) -> dict[str, pa.Array]:
    at = pa.scalar(snapshot.at_ms * 1000, pa.int64()).cast(TIME)
    return {"cluster": pa.repeat(snapshot.cluster_id, rows), "poll_ts": pa.repeat(at, rows)}


def _known(offsets: Ints | Codes) -> pa.Array:
    return pa.array(offsets, mask=offsets == UNKNOWN)
