"""The generations of a group from the history, which reaches further back than the brokers' log."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import pyarrow as pa

from lag.generations.recorded.model import RecordedGeneration, TimedEvent
from lag.generations.recorded.recorder import GenerationRecorder
from lag.history.store import History, literal
from lag.records import BytesColumn, decode
from lag.times import ms

MAX_GENERATIONS = 500
"""The most generations of one group: the newest."""


def stored_generations(
    history: History,
    cluster: str,
    group_id: str,
    names: Mapping[UUID, str],
    since: datetime,
    until: datetime,
) -> list[RecordedGeneration]:
    """The generations between two times, oldest first. Raises HistoryError.

    `cluster` is the cluster id, `names` maps topic ids to names. Records before `since` are read too, for the state at
    `since`.
    """
    rows = _rows(history, cluster, group_id, until) if history.exists("group_events") else []
    recorder = GenerationRecorder(names.get, MAX_GENERATIONS)
    take_rows(recorder, [row for row in rows if row["key"] is not None], whole=all(row["key"] for row in rows[:1]))
    since_ms = ms(since)
    return [one for one in recorder.recorded(group_id) if one.generation.at_ms >= since_ms]


def take_rows(recorder: GenerationRecorder, rows: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
    """Add the records of one group, with `at_ms`, `key` and `value`, in the order of their offsets.

    `whole` is that of `GenerationRecorder.take`.
    """
    decoded = decode(BytesColumn.of(row["key"] for row in rows), BytesColumn.of(row["value"] for row in rows))
    events = [TimedEvent(rows[event.row]["at_ms"], event) for event in decoded.events]
    for _, same in groupby(events, key=lambda timed: timed.at_ms):  # one coordinator write
        recorder.take(same, whole=whole)


def join(older: Sequence[RecordedGeneration], newer: Sequence[RecordedGeneration]) -> list[RecordedGeneration]:
    """Older and newer generations as one list. The first of `newer` is its starting point: `older` replaces it."""
    if not older or len(newer) < 2:
        return list(newer or older)
    begins_ms = newer[1].generation.at_ms
    before = [one for one in older if one.generation.at_ms < begins_ms]
    return [*before, *newer[1:]] if before else list(newer)


def _rows(history: History, cluster: str, group_id: str, until: datetime) -> list[dict[str, Any]]:
    """The group's records in order, each once. Rows of an older groupscope have no key and value."""
    where = f"cluster = {literal(cluster)} AND group_id = {literal(group_id)} AND ts < {literal(until)}"
    days = f"dt <= '{until.astimezone(UTC).date().isoformat()}'"
    rows = history.query(
        f"SELECT src_offset, ts, key, value FROM group_events WHERE {where} AND {days} ORDER BY src_offset, key",
        "group_events",
    )
    at_us = rows["ts"].cast(pa.int64()).to_pylist()
    made = [row | {"at_ms": us // 1000} for row, us in zip(rows.drop_columns(["ts"]).to_pylist(), at_us, strict=True)]
    return [next(same) for _, same in groupby(made, key=lambda row: row["src_offset"])]
