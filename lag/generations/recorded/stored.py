"""The generations of a group as the history has them: also those older than what is read from the brokers."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import pyarrow as pa

from lag.generations.recorded.model import Recorded, Timed
from lag.generations.recorded.recorder import Recorder
from lag.history.store import History, literal
from lag.records import Blobs, decode

MOST_STORED = 500
"""So many generations of a group are told, the newest ones."""


def stored(
    history: History,
    cluster: str,
    group_id: str,
    names: Mapping[UUID, str],
    since: datetime,
    until: datetime,
) -> list[Recorded]:
    """The generations between two times, oldest first; empty where the history tells of none. Raises HistoryError.

    `cluster` is Kafka's id of it, `names` its topics by their ids. Records before `since` are read too: they are how
    the group came to be as it was.
    """
    rows = _rows(history, cluster, group_id, until) if history.exists("group_events") else []
    recorder = Recorder(names.get, MOST_STORED)
    for _, same in groupby(_events(rows), key=lambda timed: timed.at_ms):  # one write of the coordinator
        recorder.take(same, whole=rows[0]["key"] is not None)
    since_ms = since.timestamp() * 1000
    return [one for one in recorder.recorded(group_id) if one.generation.at_ms >= since_ms]


def joined(older: Sequence[Recorded], newer: Sequence[Recorded]) -> list[Recorded]:
    """Both as one course. The first of `newer` is the group as it was before the rest: `older` tells how that came."""
    if not older or len(newer) < 2:
        return list(newer or older)
    begins_ms = newer[1].generation.at_ms
    before = [one for one in older if one.generation.at_ms < begins_ms]
    return [*before, *newer[1:]] if before else list(newer)


def _rows(history: History, cluster: str, group_id: str, until: datetime) -> list[dict[str, Any]]:
    """The group's records in order, each once. Those from before keys and values were kept have none."""
    where = f"cluster = {literal(cluster)} AND group_id = {literal(group_id)} AND ts < {literal(until)}"
    days = f"dt <= '{until.astimezone(UTC).date().isoformat()}'"
    rows = history.query(
        f"SELECT src_offset, ts, key, value FROM group_events WHERE {where} AND {days} ORDER BY src_offset, key",
        "group_events",
    )
    at_us = rows["ts"].cast(pa.int64()).to_pylist()
    made = [row | {"at_ms": us // 1000} for row, us in zip(rows.drop_columns(["ts"]).to_pylist(), at_us, strict=True)]
    return [next(same) for _, same in groupby(made, key=lambda row: row["src_offset"])]


def _events(rows: list[dict[str, Any]]) -> list[Timed]:
    kept = [row for row in rows if row["key"] is not None]
    decoded = decode(Blobs.of(row["key"] for row in kept), Blobs.of(row["value"] for row in kept))
    return [Timed(kept[event.row]["at_ms"], event) for event in decoded.events]
