"""The last stored verdict of each group and its onset, from which a process that starts goes on."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from lag.errors import HistoryError
from lag.history.span import DAY
from lag.history.status_codes import rank_sql
from lag.history.store import History, literal, timestamp
from lag.offsets import UNKNOWN
from lag.times import from_ms, ms
from lag.verdict.onset import SOURCE_CODE, OnsetColumns, OnsetSource
from lag.verdict.rules.group_onsets import GroupOnsets, stored
from lag.verdict.status import STORED, Status

log = logging.getLogger(__name__)

LONGEST_GAP = timedelta(minutes=2)
"""Between the last stored poll and the first of this process: a restart takes less. After a longer one, a stored onset
counts only if commits or members prove that the verdict was not interrupted."""

SEARCHED = timedelta(minutes=10)
"""The time up to the last stored poll in which a group's last verdict is looked for."""

SEARCHED_DAYS = 7
_NO_VERDICT = STORED[Status.UNKNOWN]


def last_verdicts(history: History, cluster: str, at_ms: int) -> GroupOnsets:
    """The last verdict of each group before `at_ms` (ms since 1970). Raises HistoryError."""
    at = from_ms(at_ms)
    days = f"dt BETWEEN DATE '{(at - SEARCHED_DAYS * DAY).date()}' AND DATE '{at.date()}'"
    of_cluster = f"{days} AND cluster = {literal(cluster)} AND poll_ts < {timestamp(at)}"
    newest = history.query(f"SELECT max(poll_ts) AS at FROM group_snapshots WHERE {of_cluster}", "group_snapshots")
    last = newest["at"][0].as_py() if len(newest) else None
    if last is None:
        return GroupOnsets.none()
    sql = f"""SELECT group_id, {rank_sql("status")} AS rank, onset, onset_is_exact FROM (
        SELECT *, row_number() OVER (PARTITION BY group_id ORDER BY poll_ts DESC) AS newest FROM group_snapshots
        WHERE {of_cluster} AND poll_ts >= {timestamp(last - SEARCHED)}
        AND {rank_sql("status")} IS NOT NULL AND status <> {_NO_VERDICT}) AS ranked WHERE newest = 1"""
    return _verdicts(history.query(sql, "group_snapshots").to_pylist(), is_unbroken=at - last <= LONGEST_GAP)


def last_verdicts_or_none(history: History, cluster: str, at_ms: int) -> GroupOnsets:
    """`last_verdicts`; none, with a warning, if the history cannot be read: polling goes on without it."""
    try:
        return last_verdicts(history, cluster, at_ms)
    except HistoryError as error:
        log.warning("The verdicts before this start are not known: %s", error)
        return GroupOnsets.none()


def _verdicts(rows: Sequence[dict[str, Any]], is_unbroken: bool) -> GroupOnsets:
    onsets = OnsetColumns(
        np.array([UNKNOWN if row["onset"] is None else ms(row["onset"]) for row in rows], np.int64),
        np.array([bool(row["onset_is_exact"]) for row in rows], np.bool_),
        np.full(len(rows), SOURCE_CODE[OnsetSource.HISTORY], np.uint8),
    )
    status = np.array([row["rank"] for row in rows], np.int8)
    groups = [row["group_id"] for row in rows]
    return stored(groups, status, onsets, np.full(len(rows), is_unbroken, np.bool_))
