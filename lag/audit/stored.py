"""The table `audit_events`: what an audit log has, copied into the history, where it is kept longer."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.history.schemas import AUDIT_EVENTS, TIME
from lag.history.store import History, literal, timestamp
from lag.times import from_ms, ms, wall_clock_ms

LATE_MS = 86_400_000
"""Processes append to one log, and the clock of one may be that much behind, or have been that much ahead."""

_TABLE = AUDIT_EVENTS.name


class AuditCopy:
    """Copies the events of a log to the history, each once: ids show which ones the table already has.

    `now_ms` is the wall clock.
    """

    def __init__(self, log: AuditLog, history: History, now_ms: Callable[[], int] = wall_clock_ms) -> None:
        self._log, self._history, self._now_ms = log, history, now_ms
        self._version: object = None

    def copy(self) -> int:
        """Append the events that are new; returns their number. Raises HistoryError and ConfigError.

        What an error leaves out is copied by a later call, as long as the log has it.
        """
        version = self._log.version
        if version == self._version:
            return 0
        since_ms = self._since_ms()  # read each time: another server may copy the same log
        new = list(self._missing(since_ms, self._stored(since_ms)))
        if new:
            self._history.append(_TABLE, _rows(new, self._log.place))
        self._version = version
        return len(new)

    def _since_ms(self) -> int:
        """LATE_MS before this log's newest event in the table; 0 without one.

        An event from a clock that was far ahead does not count: after it, all others would be too old.
        """
        until = timestamp(from_ms(self._now_ms() + LATE_MS))
        query = f"SELECT max(at) AS at {self._mine()} AND at <= {until}"
        (newest,) = self._history.query(query, _TABLE)["at"].to_pylist()
        return 0 if newest is None else ms(newest) - LATE_MS

    def _stored(self, since_ms: int) -> frozenset[str]:
        """The ids of this log's events in the table from that time on."""
        rows = self._history.query(f"SELECT event_id {self._mine()} AND at >= {timestamp(from_ms(since_ms))}", _TABLE)
        return frozenset(rows["event_id"].to_pylist())

    def _mine(self) -> str:
        return f"FROM {_TABLE} WHERE log = {literal(self._log.place)}"

    def _missing(self, since_ms: int, copied: frozenset[str]) -> Iterator[AuditEvent]:
        for event in self._log.newest_first():
            if event.at_ms < since_ms - LATE_MS:
                return
            if event.at_ms >= since_ms and event.event_id not in copied:
                yield event


def _rows(events: Sequence[AuditEvent], log: str) -> pa.Table:
    """Rows of `audit_events`, without `dt`."""
    documents = [event.document() for event in events]
    columns = {name: pa.array([document[name] for document in documents], pa.string()) for name in _TEXTS}
    times = pa.array([from_ms(event.at_ms) for event in events], TIME)
    groups = pa.array([document["group"] for document in documents], pa.string())
    return pa.table(columns | {"at": times, "group_id": groups, "log": pa.array([log] * len(events))})


_TEXTS = ("event_id", "action", "outcome", "actor", "address", "cluster", "plan_id", "detail")


def stored_events(history: History, before_ms: int, most: int) -> list[AuditEvent]:
    """The newest events of all logs before that time, newest first. Raises HistoryError.

    An event that two servers copied at the same moment is returned once.
    """
    until = timestamp(from_ms(before_ms))
    columns = ", ".join(f'"{name}"' for name in (*_TEXTS, "at", "group_id"))
    query = f"SELECT DISTINCT {columns} FROM {_TABLE} WHERE at < {until} ORDER BY at DESC LIMIT {most}"
    return [_event(row) for row in history.query(query, _TABLE).to_pylist()]


def _event(row: dict[str, Any]) -> AuditEvent:
    texts = {name: row[name] for name in _TEXTS}
    return AuditEvent(ms(row["at"]), group=row["group_id"], **{**texts, "outcome": Outcome(texts["outcome"])})
