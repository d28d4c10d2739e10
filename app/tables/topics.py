"""Topics of one snapshot: who reads them, who is behind, how fast they grow; and one topic, partition by group."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app import formats, words
from app.tables.overview import is_internal
from lag.health import Health, Status
from lag.model import FOREVER, ClusterSnapshot, PartitionLag, Topic
from lag.offsets import PROBLEM_CODES, UNKNOWN, OffsetTable, known


@dataclass(frozen=True, slots=True)
class Reader:
    """One group's standing in one topic."""

    group: str
    status: Status
    lag: int | None
    known: int
    partitions: int


def readers(snapshot: ClusterSnapshot, health: Health) -> dict[str, list[Reader]]:
    """Topic -> the groups with a position in it, most lag first. One pass over the offset table's columns."""
    table = snapshot.offsets
    out: dict[str, list[Reader]] = defaultdict(list)
    groups = np.repeat(np.arange(len(snapshot.groups)), np.diff(table.bounds)[: len(snapshot.groups)])
    if not len(groups):
        return out
    width = len(table.ends.topics)
    key = groups * width + table.ends.topic[table.end]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    has = table.lag != UNKNOWN
    sums, counted = np.add.reduceat(np.where(has, table.lag, 0), starts), np.add.reduceat(has.astype(np.int64), starts)
    sizes = np.diff(np.append(starts, len(key)))
    for at, total, n, size in zip(key[starts], sums, counted, sizes, strict=True):
        group, topic = divmod(int(at), width)
        reader = Reader(
            snapshot.groups[group].group_id,
            health.groups[group].finding.status,
            int(total) if n else None,
            int(n),
            int(size),
        )
        out[table.ends.topics[topic]].append(reader)
    for those in out.values():
        those.sort(key=lambda r: -1 if r.lag is None else r.lag, reverse=True)
    return out


def build(snapshot: ClusterSnapshot, health: Health) -> pd.DataFrame:
    """One row per topic, the one with most lag first; topics that only commits still name are marked as deleted."""
    by_topic, ends = readers(snapshot, health), _records(snapshot.offsets)
    produced = produce_rates(snapshot, health, by_topic)
    names = sorted({*snapshot.topics, *by_topic})
    rows = [_row(snapshot, name, by_topic.get(name, []), ends.get(name), produced.get(name)) for name in names]
    frame = pd.DataFrame(rows, columns=_COLUMNS)
    for column in ("partitions", "records", "worst_lag", "lag"):
        frame[column] = frame[column].astype("Int64")
    frame["produce"] = frame["produce"].astype(float)
    order = frame.sort_values(["rank", "worst_lag", "topic"], ascending=[True, False, True], na_position="last")
    return order.reset_index(drop=True)


_COLUMNS = [
    "topic",
    "state",
    "rank",
    "partitions",
    "groups",
    "records",
    "produce",
    "worst_lag",
    "worst_group",
    "worst_status",
    "lag",
    "retention_s",
    "internal",
    "leaderless",
    "note",
]
MOST_OPENED = 200
"""Groups whose partitions are judged to learn the produce rates; topics beyond them show none."""


def produce_rates(
    snapshot: ClusterSnapshot, health: Health, by_topic: Mapping[str, Sequence[Reader]]
) -> dict[str, float | None]:
    """Topic -> records per second, read off the group that covers most of its partitions; None where not known."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for topic, those in by_topic.items():
        if those and len(wanted) < MOST_OPENED:
            wanted[max(those, key=lambda r: r.partitions).group].add(topic)
    out: dict[str, float | None] = {}
    for group_id, topics in wanted.items():
        group = snapshot.groups[snapshot.by_group[group_id]]
        sums: dict[str, list[float | None]] = defaultdict(list)
        for row, judged in zip(group.partitions, health.partitions(group), strict=True):
            sums[row.tp.topic].append(judged.produce_rate)
        for topic in topics:
            whole = topic in snapshot.topics and len(sums[topic]) == snapshot.topics[topic].partitions
            rates = [rate for rate in sums[topic] if rate is not None]
            out[topic] = sum(rates) if whole and len(rates) == len(sums[topic]) else None
    return out


def _records(table: OffsetTable) -> dict[str, int | None]:
    """Topic -> records in the log, None when any partition's offsets are unknown."""
    ends = table.ends
    out: dict[str, int | None] = {}
    for code, name in enumerate(ends.topics):
        at = ends.topic == code
        start, end = ends.log_start[at], ends.log_end[at]
        out[name] = (
            int((end - start).sum()) if len(end) and (end != UNKNOWN).all() and (start != UNKNOWN).all() else None
        )
    return out


def _row(
    snapshot: ClusterSnapshot, name: str, those: Sequence[Reader], records: int | None, produced: float | None
) -> list[object]:
    topic = snapshot.topics.get(name)
    shown = [r for r in those if not is_internal(snapshot.groups[snapshot.by_group[r.group]])]
    worst = next((r for r in shown if r.lag is not None), None)
    state = _state(topic)
    return [
        name,
        state,
        _STATES.index(state),
        topic.partitions if topic else None,
        len(shown),
        None if topic is None else records,
        produced,
        worst.lag if worst else None,
        worst.group if worst else None,
        words.VERDICTS[worst.status].label if worst else None,
        sum(r.lag for r in shown if r.lag is not None) if worst else None,
        topic.retention_ms / 1000 if topic and topic.retention_ms is not None and topic.retention_ms > 0 else np.nan,
        (topic.internal if topic else False) or name.startswith("__"),
        len(topic.leaderless) if topic else 0,
        _note(topic),
    ]


STATES: tuple[tuple[str, str], ...] = (
    ("■ Leaderless", "red"),
    ("◌ Unknown", "violet"),
    ("● OK", "green"),
    ("○ Deleted", "gray"),
)
_STATES = [label for label, _ in STATES]


def _state(topic: Topic | None) -> str:
    if topic is None:
        return "○ Deleted"
    return "■ Leaderless" if topic.leaderless else "◌ Unknown" if topic.problem else "● OK"


def _note(topic: Topic | None) -> str:
    if topic is None:
        return "not in the cluster's metadata; only commits still name it"
    if topic.leaderless:
        return f"no leader: {formats.listing(list(topic.leaderless))}"
    return topic.problem or ("kept for ever" if topic.retention_ms == FOREVER else "")


def groups_of(snapshot: ClusterSnapshot, health: Health, topic: str) -> pd.DataFrame:
    """The groups that read `topic`, most urgent first."""
    those = readers(snapshot, health).get(topic, [])
    frame = pd.DataFrame(
        {
            "group": [r.group for r in those],
            "verdict": [words.VERDICTS[r.status].label for r in those],
            "rank": [words.RANK[r.status] for r in those],
            "lag": pd.array([r.lag for r in those], dtype="Int64"),
            "known": [formats.known_for(r.known, r.partitions) for r in those],
        }
    )
    return frame.sort_values(["rank", "lag"], ascending=[True, False], na_position="last").reset_index(drop=True)


def matrix(snapshot: ClusterSnapshot, topic: str) -> pd.DataFrame:
    """Partitions of `topic` (rows) with leader and offsets, and the lag of every group that reads it (a column each).

    The columns of groups are called "lag: <group id>".
    """
    ends, table = snapshot.offsets.ends, snapshot.offsets
    rows = np.flatnonzero(ends.topic == ends.topics.index(topic)) if topic in ends.topics else np.array([], int)
    frame = pd.DataFrame(
        {
            "partition": ends.partition[rows],
            "leader": pd.array([known(v) for v in ends.leader[rows]], dtype="Int64"),
            "log_start": pd.array([known(v) for v in ends.log_start[rows]], dtype="Int64"),
            "last_stable": pd.array([known(v) for v in ends.last_stable[rows]], dtype="Int64"),
            "log_end": pd.array([known(v) for v in ends.log_end[rows]], dtype="Int64"),
            "problem": [words.PROBLEMS[p] if (p := PROBLEM_CODES[code]) else "" for code in ends.problem[rows]],
        }
    )
    at = {int(row): i for i, row in enumerate(rows)}
    hits = np.flatnonzero(np.isin(table.end, rows))
    owners = np.searchsorted(table.bounds, hits, side="right") - 1
    for group in np.unique(owners):
        lags: list[int | None] = [None] * len(rows)
        for hit in hits[owners == group]:
            lags[at[int(table.end[hit])]] = known(table.lag[hit])
        frame[f"lag: {snapshot.groups[int(group)].group_id}"] = pd.array(lags, dtype="Int64")
    return frame


def risks(snapshot: ClusterSnapshot, health: Health, topic: str) -> pd.DataFrame:
    """Per partition and group of `topic`: how far its position stands above the log start, and what is lost already.

    `lead_records` is what retention would have to delete before it reaches the group's position; `lead_share` is that
    as a share of the records in the log. A share near 0 with lag means that data loss is near.
    """
    rows = []
    for reader in readers(snapshot, health).get(topic, []):
        group = snapshot.groups[snapshot.by_group[reader.group]]
        rows += [_risk(reader.group, row) for row in group.partitions if row.tp.topic == topic]
    return pd.DataFrame(rows, columns=["group", "partition", "lead_records", "lead_share", "lost_records", "lag"])


def _risk(group_id: str, row: PartitionLag) -> list[object]:
    known_all = row.committed is not None and row.log_start is not None and row.log_end is not None
    lead = row.committed - row.log_start if known_all else None  # type: ignore[operator]
    size = row.log_end - row.log_start if known_all else None  # type: ignore[operator]
    share = max(0.0, min(1.0, lead / size)) * 100 if lead is not None and size else None
    return [group_id, row.tp.partition, lead, share, row.lost_records, row.lag_records]
