"""The tables of the Group page: partitions, members, and differences from the assignor's result."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from app.ui import formats, verdicts
from app.ui.group_table import seconds_or_never, sparkline
from app.ui.groups.member_names import full_member_names
from app.views.group.view import NOBODY, GroupView, is_reconciling
from assignors.model import TopicPartition
from lag.generations.explanation import Difference
from lag.model import GroupType, Member, Remainder
from lag.offsets import PartitionLag
from lag.verdict.catalogue import VERDICTS
from lag.verdict.health import PartitionHealth
from lag.verdict.rules.no_partitions import assigns_partitions
from lag.verdict.status import Status

IDLE, WAITING = "○ Idle", "◌ Waiting"
"""In the verdict column of a member without partitions: it gets none, or its target assignment is not there yet."""

MEMBER_NAMES = ("member", "client", "host", "instance", "member_id")
"""The columns of `members` that a text filter searches."""


def partitions(view: GroupView) -> pd.DataFrame:
    """One row per partition, most urgent first, then by lag."""
    rows = list(zip(view.lags, view.healths, strict=True))
    frame = pd.DataFrame(
        {
            "topic": [r.tp.topic for r, _ in rows],
            "partition": np.array([r.tp.partition for r, _ in rows], np.int64),
            "status": [h.finding.status.value for _, h in rows],
            "verdict": [VERDICTS[h.finding.status].label for _, h in rows],
            "rank": np.array([verdicts.RANK[h.finding.status] for _, h in rows], np.int64),
            "owner": owners(view, view.names),
            "owner_in_full": owners(view, full_member_names(view.group.members)),
            "lag": pd.array([r.lag_records for r, _ in rows], dtype="Int64"),
            "time_lag_s": np.array([h.time_lag.seconds for _, h in rows], float),
            "drain_s": np.array([h.drain_s for _, h in rows], float),
            "drains": [formats.drain(h.drain_s, r.lag_records) for r, h in rows],
            "produce": np.array([h.produce_rate for _, h in rows], float),
            "consume": np.array([h.consume_rate for _, h in rows], float),
            "committed": pd.array([r.committed for r, _ in rows], dtype="Int64"),
            "log_start": pd.array([r.log_start for r, _ in rows], dtype="Int64"),
            "last_stable": pd.array([r.last_stable for r, _ in rows], dtype="Int64"),
            "log_end": pd.array([r.log_end for r, _ in rows], dtype="Int64"),
            "lost": pd.array([r.lost_records for r, _ in rows], dtype="Int64"),
            "held": np.array([r.held_records for r, _ in rows], np.int64),
            "note": [note(r, h, view.group.type) for r, h in rows],
            "trend": [sparkline(h.lag_trend) for _, h in rows],
        }
    )
    return frame.sort_values(
        ["rank", "lag", "topic", "partition"], ascending=[True, False, True, True], na_position="last"
    )


def owners(view: GroupView, names: Mapping[str, str]) -> list[str | None]:
    """The owner's name of each row of `view.lags`; in a share group up to two members, or their number."""
    if view.group.type != GroupType.SHARE:
        return [names.get(row.member_id or "") for row in view.lags]
    readers: dict[TopicPartition, list[str]] = defaultdict(list)
    for member in view.group.members:
        for tp in member.assigned:
            readers[tp].append(names[member.member_id])
    named = [sorted(readers[row.tp]) for row in view.lags]
    return [(", ".join(both) or None) if len(both) <= 2 else f"{len(both)} members" for both in named]


def note(row: PartitionLag, health: PartitionHealth, type_: GroupType) -> str:
    """The problem, losses and evidence of a partition as text, for a group of that type."""
    parts = []
    if row.problem is not None:
        parts.append(verdicts.problem(row.problem, type_))
    if row.lost_records:
        parts.append(f"{formats.plural(row.lost_records, 'record')} lost")
    if row.held_records:
        parts.append(f"{formats.plural(row.held_records, 'record')} held by an open transaction")
    if health.finding.evidence and (health.finding.status != Status.OK or health.remainder is Remainder.MARKERS_ONLY):
        parts.append(health.finding.evidence)
    if health.time_lag.seconds is None and health.time_lag.reason and row.lag_records:
        parts.append(f"time lag unknown: {health.time_lag.reason}")
    return "; ".join(dict.fromkeys(parts))


def members(view: GroupView) -> pd.DataFrame:
    """One row per member, most urgent first, then by lag."""
    at = {row.tp: number for number, row in enumerate(view.lags)}
    rows = [_member(view, m, [at[tp] for tp in m.assigned if tp in at]) for m in view.group.members]
    frame = pd.DataFrame(rows, columns=list(_member(view, Member("-"), [])))
    frame = frame.astype({"lag": "Int64", "partitions": "Int64"})
    total = frame["lag"].sum()
    frame["share"] = (frame["lag"].astype(float) / total * 100) if total else np.nan
    return frame.sort_values(["rank", "lag", "member"], ascending=[True, False, True], na_position="last")


def _member(view: GroupView, m: Member, rows: list[int]) -> dict[str, object]:
    known = [lag for at in rows if (lag := view.lags[at].lag_records) is not None]
    worst = min((view.healths[at].finding.status for at in rows), key=verdicts.RANK.__getitem__, default=None)
    moved = [ms for at in rows if (ms := view.healths[at].last_moved_ms) is not None]
    return {
        "member": view.names.get(m.member_id, m.member_id),
        "verdict": _idle_label(view, m) if worst is None else VERDICTS[worst].label,
        "rank": len(verdicts.RANK) if worst is None else verdicts.RANK[worst],
        "partitions": len(m.assigned) if m.assigned or m.problem is None else None,
        "lag": sum(known) if known else None,
        "last_moved_s": (view.group.at_ms - max(moved)) / 1000 if moved else np.nan,
        "client": m.client_id,
        "host": m.host.lstrip("/"),
        "rack": m.rack,
        "instance": m.instance_id,
        "epoch": _epoch(m, view.group.epoch),
        "note": _member_note(m, view.group.epoch),
        "member_id": m.member_id,
    }


def _idle_label(view: GroupView, m: Member) -> str:
    """The verdict column of a member none of whose partitions has a verdict."""
    if m.assigned or not assigns_partitions(view.group):
        return VERDICTS[Status.OK].label
    if m.problem is not None:
        return VERDICTS[Status.UNKNOWN].label
    return WAITING if m.target else IDLE


def _epoch(m: Member, group_epoch: int | None) -> str | None:
    if m.epoch is None:
        return None
    return f"{m.epoch}" if group_epoch is None or m.epoch == group_epoch else f"{m.epoch} of {group_epoch}"


def _member_note(m: Member, group_epoch: int | None) -> str:
    if m.problem:
        return m.problem
    if not is_reconciling(m, group_epoch):
        return ""
    coming, leaving = set(m.target or ()) - set(m.assigned), set(m.assigned) - set(m.target or ())
    parts = [f"{len(coming)} to take" if coming else "", f"{len(leaving)} to revoke" if leaving else ""]
    return "reconciling: " + (", ".join(p for p in parts if p) or "its epoch is behind the group's")


def differences(found: Sequence[Difference], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per difference: topic, partition, actual and computed owners."""

    def owners(members: Sequence[str]) -> str:
        return ", ".join(names[member] for member in members) or NOBODY

    rows = [(d.tp.topic, d.tp.partition, owners(d.assigned), owners(d.recomputed)) for d in found]
    return pd.DataFrame(rows, columns=["topic", "partition", "actual", "computed"])


def export(frame: pd.DataFrame) -> pd.DataFrame:
    """The partitions for CSV and JSON, with units in the column names."""
    columns = (
        "topic partition status owner_in_full lag time_lag_s drain_s produce consume committed log_start "
        "last_stable log_end lost held note"
    )
    names = {
        "owner_in_full": "owner",
        "lag": "lag_records",
        "produce": "produced_per_s",
        "consume": "committed_per_s",
        "lost": "lost_records",
        "held": "held_records",
    }
    out = frame[columns.split()].rename(columns=names)
    return out.assign(drain_s=seconds_or_never(out["drain_s"]))
