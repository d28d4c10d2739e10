"""All topics of a snapshot: their groups, lag, size and produce rate."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.ui import formats, verdicts
from app.ui.groups.deletion import SOON_S, Countdown, countdowns
from lag.model import FOREVER, ClusterSnapshot, Topic, is_internal
from lag.offsets import UNKNOWN, EndOffsets, Ints
from lag.verdict import topic_rates
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import Health
from lag.verdict.status import Status
from lag.verdict.window import time_to_loss
from lag.verdict.window.rates import MIN_SPAN_MS
from lag.verdict.window.sample_window import Window

MIN_POLLS = 2
"""Polls that a rate needs."""


@dataclass(frozen=True, slots=True)
class Reader:
    """The lag of a group in a topic, known for `known` of `partitions`, and the time until records are deleted."""

    group: str
    status: Status
    lag: int | None
    known: int
    partitions: int
    deletion: Countdown


def readers(snapshot: ClusterSnapshot, health: Health, window: Window) -> dict[str, list[Reader]]:
    """Topic -> the groups with offsets in it, highest lag first, without internal groups.

    One pass over the columns of the offset table.
    """
    table = snapshot.offsets
    out: dict[str, list[Reader]] = defaultdict(list)
    groups = np.repeat(np.arange(len(snapshot.groups)), np.diff(table.bounds)[: len(snapshot.groups)])
    if not len(groups):
        return out
    width = len(table.ends.topics)
    key = groups * width + table.ends.topic[table.end]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    left = countdowns(snapshot, *time_to_loss.of_segments(snapshot, window, starts))
    for at, its, total, n, size in zip(key[starts], left, *totals(table.lag, starts), strict=True):
        group, topic = divmod(int(at), width)
        if is_internal(snapshot.groups[group]):
            continue
        reader = Reader(
            snapshot.groups[group].group_id,
            health.groups[group].finding.status,
            int(total) if n else None,
            int(n),
            int(size),
            its,
        )
        out[table.ends.topics[topic]].append(reader)
    for found in out.values():
        found.sort(key=lambda r: -1 if r.lag is None else r.lag, reverse=True)
    return out


def by_group(by_topic: Mapping[str, Sequence[Reader]]) -> dict[str, dict[str, Reader]]:
    """Group -> its readers by topic; most urgent group first, then by the sum of their lags."""
    out: dict[str, dict[str, Reader]] = defaultdict(dict)
    for topic, found in by_topic.items():
        for reader in found:
            out[reader.group][topic] = reader
    return {group: out[group] for group in sorted(out, key=lambda group: _urgency(out[group].values()))}


def reader_rows(rows: Mapping[str, Mapping[str, Reader]]) -> pd.DataFrame:
    """One row per group and topic: the groups in their order, of each the topic with the highest lag first."""
    found = [
        (group, VERDICTS[reader.status].symbol, topic, reader.lag)
        for group, its in rows.items()
        for topic, reader in sorted(its.items(), key=lambda of: -1 if of[1].lag is None else of[1].lag, reverse=True)
    ]
    frame = pd.DataFrame(found, columns=["group", "symbol", "topic", "lag"])
    return frame.assign(name=frame["symbol"] + " " + frame["group"]).astype({"lag": "Int64"})


def _urgency(readers: Collection[Reader]) -> tuple[int, int]:
    return min(verdicts.RANK[r.status] for r in readers), -sum(r.lag or 0 for r in readers)


def totals(lag: Ints, starts: Ints) -> tuple[Ints, Ints, Ints]:
    """Per segment of `lag` (int64[n_rows], UNKNOWN if not known): sum of known lags, known rows, rows.

    `starts`: int64[n_segments], the first row of each segment.
    """
    has = lag != UNKNOWN
    sums, counted = np.add.reduceat(np.where(has, lag, 0), starts), np.add.reduceat(has.astype(np.int64), starts)
    return sums, counted, np.diff(np.append(starts, len(lag)))


def build(snapshot: ClusterSnapshot, by_topic: Mapping[str, Sequence[Reader]], window: Window) -> pd.DataFrame:
    """One row per topic, most urgent first: by its state, then the verdict and lag of its most urgent group.

    A topic that only has offsets of groups is marked as deleted.
    """
    sized = sizes(snapshot.offsets.ends, window)
    names = sorted({*snapshot.topics, *by_topic})
    gone, unread = Size(None, None), Size(None, None, "its offsets were not read")
    size = {name: sized.get(name, unread) if name in snapshot.topics else gone for name in names}
    rows = [_row(snapshot, name, by_topic.get(name, []), size[name]) for name in names]
    frame = pd.DataFrame(rows, columns=list(_row(snapshot, "", [], gone)))
    whole = ("partitions", "records", "worst_lag", "urgent_lag", "lag")
    frame = frame.astype(dict.fromkeys(whole, "Int64") | {"produce": float, "deleted_in_s": float})
    by = ["rank", "urgency", "urgent_lag", "topic"]
    return frame.sort_values(by, ascending=[True, True, False, True], na_position="last").reset_index(drop=True)


@dataclass(frozen=True, slots=True)
class Size:
    """The records of all partitions, and those produced per second; None if one partition is unknown."""

    records: int | None
    produce: float | None
    produce_why: str = ""


def sizes(ends: EndOffsets, window: Window) -> dict[str, Size]:
    """Topic -> its size. One pass over the columns."""
    rates, polls = topic_rates.produce_rates(window), len(window.times_ms)
    no_end = ends.log_end == UNKNOWN
    no_log = no_end | (ends.log_start == UNKNOWN)
    records, unsized = _per_topic(ends, ends.log_end - ends.log_start), _per_topic(ends, no_log)
    produced, no_rate = _per_topic(ends, rates), _per_topic(ends, np.isnan(rates))
    unread = _per_topic(ends, no_end)
    partitions = _per_topic(ends, np.ones(len(ends)))
    return {
        name: Size(
            None if unsized[at] else int(records[at]),
            None if no_rate[at] else float(produced[at]),
            _no_rate(polls, int(no_rate[at]), int(unread[at]), int(partitions[at])),
        )
        for at, name in enumerate(ends.topics)
    }


def _per_topic(ends: EndOffsets, values: NDArray[Any]) -> NDArray[np.float64]:
    return np.bincount(ends.topic, values, len(ends.topics)).astype(np.float64)


def _no_rate(polls: int, no_rate: int, unread: int, partitions: int) -> str:
    if not no_rate:
        return ""
    if polls < MIN_POLLS:
        return "two polls are needed, and there was one"
    of_all = f"of {formats.plural(partitions, 'partition')}"
    if unread:
        return f"the last poll did not read the log end of {unread:,} {of_all}"
    return f"two polls at least {MIN_SPAN_MS // 1000} s apart have not yet read the log end of {no_rate:,} {of_all}"


def _row(snapshot: ClusterSnapshot, name: str, readers: Sequence[Reader], size: Size) -> dict[str, object]:
    topic = snapshot.topics.get(name)
    worst = next((r for r in readers if r.lag is not None), None)
    urgent = min(readers, key=lambda r: verdicts.RANK[r.status], default=None)
    first = min(readers, key=lambda r: r.deletion.order, default=None)
    state = _state(topic)
    retention_ms = topic.retention_ms if topic else None
    return {
        "topic": name,
        "state": state,
        "rank": list(STATES).index(state),
        "partitions": topic.partitions if topic else None,
        "groups": len(readers),
        "records": size.records,
        "produce": size.produce,
        "produce_why": size.produce_why,
        "worst_lag": worst.lag if worst else None,
        "worst_group": worst.group if worst else None,
        "urgent_group": urgent.group if urgent else None,
        "urgent_status": VERDICTS[urgent.status].label if urgent else None,
        "urgent_lag": urgent.lag if urgent else None,
        "urgency": verdicts.RANK[urgent.status] if urgent else len(verdicts.RANK),
        "deleted_in_s": first.deletion.seconds if first and isfinite(first.deletion.seconds) else np.nan,
        "deleted_in_group": first.group if first and isfinite(first.deletion.seconds) else None,
        "deleted_in_why": first.deletion.why if first else "no group reads it",
        "lag": sum(r.lag for r in readers if r.lag is not None) if worst else None,
        "retention_s": retention_ms / 1000 if retention_ms is not None and retention_ms > 0 else np.nan,
        "internal": (topic.internal if topic else False) or name.startswith("__"),
        "leaderless": len(topic.leaderless) if topic else 0,
        "note": "; ".join(part for part in [*_notes(topic, size), *_other_groups(urgent, worst, first)] if part),
    }


STATES: dict[str, Status] = {
    "■ Leaderless": Status.STOPPED,
    "◌ Unknown": Status.UNKNOWN,
    "● OK": Status.OK,
    "○ Deleted": Status.TOPIC_DELETED,
}
"""The states of a topic, worst first, each with the verdict whose symbol and colour it has."""


def _state(topic: Topic | None) -> str:
    if topic is None:
        return "○ Deleted"
    return "■ Leaderless" if topic.leaderless else "◌ Unknown" if topic.problem else "● OK"


def _notes(topic: Topic | None, size: Size) -> Iterator[str | None]:
    if topic is None:
        yield "deleted; groups still have committed offsets for it"
        return
    yield f"no leader: {formats.listing(list(topic.leaderless))}" if topic.leaderless else topic.problem
    yield "no time-based retention" if topic.retention_ms == FOREVER else ""
    yield f"produce rate unknown: {size.produce_why}" if size.produce_why else ""


def _other_groups(urgent: Reader | None, slowest: Reader | None, first: Reader | None) -> Iterator[str]:
    """The slowest group, and the `first` that loses records if that is soon, where they are not the most urgent one."""
    if slowest and slowest is not urgent:
        yield f"furthest behind: {slowest.group}, {formats.plural(slowest.lag or 0, 'record')}"
    if first and first is not urgent and first.deletion.seconds < SOON_S:
        yield f"first to lose unread records: {first.group}"
