"""The last stored verdict of each group and its onset, from which a starting process continues."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from lag.errors import HistoryError
from lag.history.span import DAY
from lag.history.status_codes import rank_sql
from lag.history.store import History, literal, timestamp
from lag.offsets import UNKNOWN
from lag.times import from_ms, ms
from lag.verdict.catalogue import STORED
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.openings.stored_verdicts import StoredVerdicts
from lag.verdict.rules.group_onsets import GroupOnsets, stored
from lag.verdict.status import STATUS_CODE, Status

log = logging.getLogger(__name__)

LONGEST_GAP = timedelta(minutes=2)
"""The longest time between the last stored poll and the first of this process: a restart takes less. After a longer
one, a stored onset counts only if commits or members prove that the verdict was not interrupted."""

SEARCHED = timedelta(minutes=10)
"""The time up to the last stored poll in which a group's last verdict is looked for."""

SEARCHED_DAYS = 7
_TABLE = "group_snapshots"
_NO_VERDICT = STORED[Status.UNKNOWN]


def last_verdicts(history: History, cluster: str, at_ms: int, openings_s: float) -> StoredVerdicts:
    """The last verdict of each group before `at_ms` (ms since 1970), and what opened within `openings_s` before.

    Raises HistoryError.
    """
    at = from_ms(at_ms)
    newest = history.query(
        f"SELECT max(poll_ts) AS at FROM group_snapshots WHERE {_polls(cluster, at, SEARCHED_DAYS * DAY)}", _TABLE
    )
    last = newest["at"][0].as_py() if len(newest) else None
    if last is None:
        return StoredVerdicts()
    sql = f"""SELECT group_id, {rank_sql("open_status")} AS hidden, {rank_sql("status")} AS rank, onset, onset_is_exact
        FROM (SELECT *, row_number() OVER (PARTITION BY group_id ORDER BY poll_ts DESC) AS newest FROM group_snapshots
        WHERE {_polls(cluster, at, at - last + SEARCHED)}
        AND {rank_sql("status")} IS NOT NULL AND status <> {_NO_VERDICT}) AS ranked WHERE newest = 1"""
    openings = _openings(history, cluster, at, timedelta(seconds=openings_s))
    rows = [_without_flapping(row, openings) for row in history.query(sql, _TABLE).to_pylist()]
    return StoredVerdicts(_onsets(rows, is_unbroken=at - last <= LONGEST_GAP), openings)


def last_verdicts_or_none(history: History, cluster: str, at_ms: int, openings_s: float) -> StoredVerdicts:
    """`last_verdicts`; none, with a warning, if the history cannot be read: polling continues without it."""
    try:
        return last_verdicts(history, cluster, at_ms, openings_s)
    except HistoryError as error:
        log.warning("The verdicts before this start are not known: %s", error)
        return StoredVerdicts()


def _polls(cluster: str, at: datetime, before: timedelta) -> str:
    """The condition (SQL) for the polls of a cluster in the time `before` that ends `at`."""
    since = at - before
    days = f"dt BETWEEN DATE '{since.date()}' AND DATE '{at.date()}'"
    return f"{days} AND cluster = {literal(cluster)} AND poll_ts >= {timestamp(since)} AND poll_ts < {timestamp(at)}"


def _openings(history: History, cluster: str, at: datetime, before: timedelta) -> Mapping[str, tuple[int, ...]]:
    """When verdicts opened (ms since 1970), in ascending order, by group."""
    if not before:
        return {}
    sql = f"SELECT group_id, poll_ts FROM group_snapshots WHERE {_polls(cluster, at, before)} AND opened ORDER BY 1, 2"
    found: dict[str, tuple[int, ...]] = {}
    for row in history.query(sql, _TABLE).to_pylist():
        found[row["group_id"]] = (*found.get(row["group_id"], ()), ms(row["poll_ts"]))
    return found


def _without_flapping(row: dict[str, Any], openings: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """A flapping group has the verdict that flapping hides, which held when it opened, or earlier."""
    if row["hidden"] is None:
        return row
    opened_ms = openings.get(row["group_id"], ())[-1:]
    onset = from_ms(opened_ms[0]) if opened_ms and row["hidden"] != STATUS_CODE[Status.OK] else None
    return row | {"rank": row["hidden"], "onset": onset, "onset_is_exact": False}


def _onsets(rows: Sequence[dict[str, Any]], is_unbroken: bool) -> GroupOnsets:
    onsets = OnsetColumns(
        np.array([UNKNOWN if row["onset"] is None else ms(row["onset"]) for row in rows], np.int64),
        np.array([bool(row["onset_is_exact"]) for row in rows], np.bool_),
        np.full(len(rows), SOURCE_CODE[OnsetSource.HISTORY], np.uint8),
    )
    status = np.array([row["rank"] for row in rows], np.int8)
    groups = [row["group_id"] for row in rows]
    return stored(groups, status, onsets, np.full(len(rows), is_unbroken, np.bool_))
