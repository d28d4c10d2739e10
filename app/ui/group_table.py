"""All groups of a snapshot as a table, most urgent first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.ui import formats, verdicts
from lag.model import ClusterSnapshot, GroupSnapshot, is_internal
from lag.offsets import topics_by_group
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import GroupHealth, Health
from lag.verdict.status import Status

SPARKLINE_POINTS = 30
MIN_SPARKLINE_PEAK = 1_000
"""A sparkline is scaled to its peak, or to this many records, so that small lags do not look like trouble."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupTable:
    """`frame` has one row per group, most urgent first; `topics[row]` are the topics that the group has offsets for.

    The lag is known for `known` of `partitions`, without those of internal groups.
    """

    frame: pd.DataFrame
    topics: Sequence[frozenset[str]]
    known: int
    partitions: int

    @property
    def attention(self) -> pd.DataFrame:
        """The rows that need attention now."""
        return self.frame[self.frame["attention"] & ~self.frame["hidden"]]


def build_group_table(snapshot: ClusterSnapshot, health: Health) -> GroupTable:
    """One row per group of `snapshot`, sorted by urgency, then lag."""
    topics = topics_by_group(snapshot.offsets, len(snapshot.groups))
    frame = pd.DataFrame(_columns(snapshot.groups, health.groups))
    frame["row"] = np.arange(len(frame))
    frame = frame.sort_values(["rank", "lag", "group"], ascending=[True, False, True], na_position="last")
    order = frame.pop("row").to_numpy()
    lags = [h.lag for g, h in zip(snapshot.groups, health.groups, strict=True) if not is_internal(g)]
    known, partitions = sum(lag.known for lag in lags), sum(lag.partitions for lag in lags)
    return GroupTable(frame.reset_index(drop=True), [topics[i] for i in order], known, partitions)


def _columns(groups: Sequence[GroupSnapshot], healths: Sequence[GroupHealth]) -> Mapping[str, object]:
    statuses = [h.finding.status for h in healths]
    lags = [h.lag.records if h.lag.partitions else None for h in healths]
    return {
        "group": [g.group_id for g in groups],
        "status": [s.value for s in statuses],
        "verdict": [VERDICTS[s].label for s in statuses],
        "rank": np.array([verdicts.RANK[s] for s in statuses], np.int8),
        "attention": np.array([verdicts.needs_attention(s) for s in statuses], bool),
        "hidden": np.array([is_internal(g) for g in groups], bool),
        "lag": pd.array(lags, dtype="Int64"),
        "known": [formats.known_for(h.lag.known, h.lag.partitions) if h.lag.partitions else None for h in healths],
        "time_lag_s": np.array([h.time_lag.seconds for h in healths], float),
        "drain_s": np.array([h.drain_s for h in healths], float),
        "drains": [formats.drain(h.drain_s, lag) for h, lag in zip(healths, lags, strict=True)],
        # without a description the number of members is unknown
        "members": pd.array([len(g.members) if g.members or not g.problems else None for g in groups], dtype="Int64"),
        "why": [why(g, h) for g, h in zip(groups, healths, strict=True)],
        "rule": [h.finding.rule for h in healths],
        "onset": pd.Series([h.finding.onset for h in healths], dtype=object),
        "state": [g.state or "Unknown" for g in groups],
        "type": [verdicts.TYPES[g.type] for g in groups],
        "coordinator": [formats.DASH if g.coordinator is None else f"broker {g.coordinator}" for g in groups],
        "trend": [h.lag_trend for h in healths],
    }


def seconds_or_never(seconds: pd.Series) -> pd.Series:
    """Seconds for CSV and JSON: "never" for infinity, None for NaN."""
    return seconds.map(lambda s: "never" if np.isinf(s) else None if np.isnan(s) else s)


def why(group: GroupSnapshot, health: GroupHealth) -> str:
    """The evidence of the verdict; for Unknown the reason; for OK why none waits or the time lag is unknown, if so."""
    if health.finding.status == Status.OK and health.is_markers_only:
        return health.finding.evidence
    if health.finding.status == Status.OK:
        return health.time_lag.reason or ""
    if health.finding.status == Status.UNKNOWN and group.problems:
        return group.problems[0].cause
    text = health.finding.evidence or VERDICTS[health.finding.status].meaning
    if health.time_lag.seconds is None and health.time_lag.at_least_s:
        text += f"; oldest record more than {formats.duration(health.time_lag.at_least_s)} old"
    return text


def sparkline(trend: NDArray[np.float64]) -> list[float] | None:
    """`trend` (lag in records, NaN: unknown) as at most 30 points in 0..1; None with fewer than two known samples."""
    seen = trend[~np.isnan(trend)]
    if len(seen) < 2:
        return None
    picked = seen[np.linspace(0, len(seen) - 1, min(SPARKLINE_POINTS, len(seen))).round().astype(int)]
    return [round(float(v), 3) for v in picked / max(float(seen.max()), MIN_SPARKLINE_PEAK)]
