"""Appends the collector's snapshots to `end_offsets` and `group_snapshots` in its own thread.

A full or slow disk does not delay polling: rows wait, up to `MAX_WAITING_ROWS`; then the oldest are dropped with a
warning. Maintenance has a separate thread because it may take longer than rows can wait.
"""

import logging
import math
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

import numpy as np
import pyarrow as pa

from lag.errors import HistoryError
from lag.history.maintenance import maintain
from lag.history.schemas import END_OFFSETS, GROUP_SNAPSHOTS, TIME, with_day
from lag.history.store import History
from lag.model import ClusterSnapshot, is_described, is_internal_group
from lag.offsets import UNKNOWN, Codes, Ints
from lag.partition_lag import totals
from lag.verdict.catalogue import STORED
from lag.verdict.health import GroupColumns, Health, Openings
from lag.verdict.status import TOO_EARLY, URGENCY

log = logging.getLogger(__name__)

FLUSH_S = 30.0
"""The time between two commits: longer makes fewer small files, shorter makes a page's newest minute more recent."""

MAINTENANCE_S = 3600.0
MAX_WAITING_ROWS = 1_000_000
"""About 60 MB."""

RECORDED = ("end_offsets", "group_snapshots")
MAINTAINED = (*RECORDED, "audit_events")
"""What a server writes."""


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """`problems`: why rows cannot be written or maintained now, each once. `waiting` are the rows not written yet."""

    problems: tuple[str, ...] = ()
    waiting: int = 0


class SnapshotRecorder:
    """Records the snapshots of this process's collectors while it is open as a context manager.

    Each table is opened when it starts, so that a damaged one is known before the first rows are written.
    """

    def __init__(self, history: History, flush_s: float = FLUSH_S, maintenance_s: float = MAINTENANCE_S) -> None:
        self._history, self._flush_s, self._care_s = history, flush_s, maintenance_s
        self._changed = threading.Condition()
        self._waiting: deque[tuple[str, pa.Table]] = deque()
        self._dropped = 0
        self._stopping = False
        self._failures: dict[str, str] = {}
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for name, work in (("history", self._run), ("history-maintenance", self._run_maintenance))
        ]

    def observe(self, health: Health) -> None:
        """Add one poll; a poll of a cluster without an id is ignored."""
        if health.snapshot.cluster_id is None:
            return
        made = {"end_offsets": end_offsets(health.snapshot), "group_snapshots": group_snapshots(health)}
        with self._changed:
            self._waiting += [(name, rows) for name, rows in made.items() if len(rows)]
            while self.waiting_rows() > MAX_WAITING_ROWS:
                self._drop(len(self._waiting.popleft()[1]))

    def waiting_rows(self) -> int:
        """The number of rows that are not written yet."""
        return sum(len(rows) for _, rows in self._waiting)

    def status(self) -> RecorderStatus:
        """Whether the history is written."""
        with self._changed:
            return RecorderStatus(tuple(dict.fromkeys(self._failures.values())), self.waiting_rows())

    def flush(self) -> None:
        """Write the waiting rows, table by table. A failure is logged once, and its rows wait."""
        with self._changed:
            waiting = list(self._waiting)
        for name in RECORDED:
            self._try(name, partial(self._write, name, [one for one in waiting if one[0] == name]))
        with self._changed:
            if self._dropped and not self._waiting:
                log.warning("The history is being written again; %d rows of polls are missing", self._dropped)
                self._dropped = 0

    def _write(self, name: str, parts: list[tuple[str, pa.Table]]) -> None:
        if not parts:
            return
        self._history.append(name, pa.concat_tables([rows for _, rows in parts]))
        written = {id(rows) for _, rows in parts}
        with self._changed:
            self._waiting = deque(one for one in self._waiting if id(one[1]) not in written)

    def _drop(self, rows: int) -> None:
        """Logged when it starts, and with the number of rows when it ends."""
        if not self._dropped:
            log.warning("The history cannot be written fast enough: the oldest polls are dropped")
        self._dropped += rows

    def _try(self, what: str, do: Callable[[], object]) -> None:
        """Call `do`; a failure is logged once until it succeeds again."""
        try:
            do()
        except HistoryError as error:
            with self._changed:
                is_new = str(error) not in self._failures.values()
                self._failures[what] = str(error)
            if is_new:
                log.warning("%s", error)
        else:
            with self._changed:
                self._failures.pop(what, None)

    def _run(self) -> None:
        for name in RECORDED:
            self._try(name, partial(self._history.exists, name))
        while not self._wait(self._flush_s):
            self.flush()
        self.flush()

    def _run_maintenance(self) -> None:
        while not self._wait(self._care_s):
            for name in MAINTAINED:
                self._try(f"maintenance of {name}", partial(maintain, self._history, name, datetime.now(UTC)))

    def _wait(self, seconds: float) -> bool:
        """Wait for `seconds` or the stop; returns whether it is stopping."""
        with self._changed:
            return self._changed.wait_for(lambda: self._stopping, seconds)

    def __enter__(self) -> "SnapshotRecorder":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._threads[0].join(10)  # maintenance may be at a large day, and nothing of it is lost


def end_offsets(snapshot: ClusterSnapshot) -> pa.Table:
    """Rows of `end_offsets`: the partitions that a group has committed to or is assigned."""
    ends = snapshot.offsets.ends
    used = np.unique(snapshot.offsets.end)
    topics = ends.topic[used]
    ids = [snapshot.topics[name].topic_id if name in snapshot.topics else None for name in ends.topics]
    known_ids = pa.array([None if one is None else UUID(one).bytes for one in ids], pa.binary())
    columns = _poll_columns(snapshot, len(used)) | {
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
    """Rows of `group_snapshots`, without the groups of groupscope's own readers."""
    snapshot, rows = health.snapshot, []
    for number, (group, total) in enumerate(zip(snapshot.groups, totals(snapshot), strict=True)):
        if is_internal_group(group.group_id):
            continue
        rows.append(
            {
                "group_id": group.group_id,
                "type": str(group.type),
                "state": group.state,
                "coordinator": group.coordinator,
                "assignor": group.assignor,
                "epoch": group.epoch,
                "members": len(group.members) if is_described(group, snapshot.at_ms) else None,
                "lag": total.records,
                "lag_known": total.known,
                "lag_partitions": total.partitions,
                "complete": group.complete,
                **_verdict(health.columns, number),
                **_opening(health.openings, number),
            }
        )
    own = [field for field in GROUP_SNAPSHOTS.file_schema if field.name not in ("cluster", "poll_ts")]
    made = pa.Table.from_pylist(rows, pa.schema(own))
    columns = _poll_columns(snapshot, len(rows)) | {name: made[name] for name in made.column_names}
    return with_day(pa.table(columns), GROUP_SNAPSHOTS)


def _verdict(columns: GroupColumns, number: int) -> dict[str, object]:
    code, time_lag_s = int(columns.status[number]), float(columns.time_lag_s[number])
    onset = columns.onsets.at(number)
    return {
        "onset": None if onset is None else onset.at_ms * 1000,
        "onset_is_exact": None if onset is None else onset.is_exact,
        "onset_source": None if onset is None else str(onset.source),
        "status": None if code == TOO_EARLY else STORED[URGENCY[code]],
        "time_lag_ms": None if math.isnan(time_lag_s) else round(time_lag_s * 1000),
        "markers": int(columns.markers[number]),
    }


def _opening(openings: Openings | None, number: int) -> dict[str, object]:
    if openings is None:
        return {"opened": None, "open_status": None}
    hidden = openings.hidden.get(number)
    return {"opened": number in openings.opened, "open_status": None if hidden is None else STORED[hidden]}


def _poll_columns(snapshot: ClusterSnapshot, rows: int) -> dict[str, pa.Array]:
    at = pa.scalar(snapshot.at_ms * 1000, pa.int64()).cast(TIME)
    return {"cluster": pa.repeat(snapshot.cluster_id, rows), "poll_ts": pa.repeat(at, rows)}


def _known(offsets: Ints | Codes) -> pa.Array:
    return pa.array(offsets, mask=offsets == UNKNOWN)
