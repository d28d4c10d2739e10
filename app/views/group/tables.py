"""One group as the Group page shows it: partitions worst first, members with their share, who owns what."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from app.ui import formats, verdicts
from app.ui.group_table import drains, sparkline
from app.ui.member_names import member_names
from assignors.model import TopicPartition
from lag.generations.explanation import Difference
from lag.model import ClusterSnapshot, GroupSnapshot, GroupType, Member, Remainder
from lag.offsets import PartitionLag, PartitionProblem
from lag.verdict.health import GroupHealth, Health, PartitionHealth, Status

NOBODY = "nobody"
"""The lane of partitions that no member owns."""


class Tile(StrEnum):
    """What a tile of the assignment picture says about its partition."""

    OK = "ok"
    BAD = "bad"
    UNKNOWN = "unknown"
    COMING = "coming"  # in the member's target, not yet in its hands (KIP-848)
    LEAVING = "leaving"  # still in its hands, no longer in its target


@dataclass(frozen=True, slots=True, eq=False)
class GroupView:
    """A group, its judgement, and both by partition in the same order: (topic, partition)."""

    group: GroupSnapshot
    health: GroupHealth
    lags: Sequence[PartitionLag]
    healths: Sequence[PartitionHealth]
    times_ms: NDArray[np.int64]
    names: Mapping[str, str]

    @property
    def topics(self) -> list[str]:
        """The topics of the group's partitions, sorted."""
        return sorted({row.tp.topic for row in self.lags})

    @property
    def worst(self) -> PartitionLag | None:
        """The partition that the group's finding is about."""
        return None if self.health.worst is None else self.lags[self.health.worst]

    def partitions_with(self, status: Status) -> list[TopicPartition]:
        """The partitions whose own finding is `status`."""
        return [row.tp for row, judged in zip(self.lags, self.healths, strict=True) if judged.finding.status == status]

    def idle_members(self) -> list[Member]:
        """Members that have no partition and are not about to get one."""
        return [m for m in self.group.members if not m.assigned and not m.target]

    def reconciling(self) -> list[Member]:
        """KIP-848 members whose assignment is not yet their target."""
        return [m for m in self.group.members if is_reconciling(m, self.group.epoch)]


def view(group: GroupSnapshot, snapshot: ClusterSnapshot, health: Health) -> GroupView:
    """Everything the page needs of one group; makes its rows once."""
    at = snapshot.by_group[group.group_id]
    return GroupView(
        group,
        health.groups[at],
        tuple(group.partitions),
        tuple(health.partitions(group)),
        health.times_ms,
        member_names(group.members),
    )


def is_reconciling(member: Member, epoch: int | None) -> bool:
    """Whether the member still has to give up or take partitions, or is behind the group's epoch (KIP-848)."""
    if member.target is None:
        return False
    return set(member.target) != set(member.assigned) or (
        member.epoch is not None and epoch is not None and member.epoch != epoch
    )


def partitions(view: GroupView) -> pd.DataFrame:
    """One row per partition, most urgent first, then by lag."""
    rows = list(zip(view.lags, view.healths, strict=True))
    frame = pd.DataFrame(
        {
            "topic": [r.tp.topic for r, _ in rows],
            "partition": np.array([r.tp.partition for r, _ in rows], np.int64),
            "status": [h.finding.status.value for _, h in rows],
            "verdict": [verdicts.VERDICTS[h.finding.status].label for _, h in rows],
            "rank": np.array([verdicts.RANK[h.finding.status] for _, h in rows], np.int64),
            "owner": owners(view),
            "lag": pd.array([r.lag_records for r, _ in rows], dtype="Int64"),
            "time_lag_s": np.array([_number(h.time_lag.seconds) for _, h in rows], float),
            "drain_s": np.array([_number(h.drain_s) for _, h in rows], float),
            "drains": [drains(h.drain_s, r.lag_records) for r, h in rows],
            "produce": np.array([_number(h.produce_rate) for _, h in rows], float),
            "consume": np.array([_number(h.consume_rate) for _, h in rows], float),
            "committed": pd.array([r.committed for r, _ in rows], dtype="Int64"),
            "log_start": pd.array([r.log_start for r, _ in rows], dtype="Int64"),
            "last_stable": pd.array([r.last_stable for r, _ in rows], dtype="Int64"),
            "log_end": pd.array([r.log_end for r, _ in rows], dtype="Int64"),
            "lost": np.array([r.lost_records for r, _ in rows], np.int64),
            "held": np.array([r.held_records for r, _ in rows], np.int64),
            "note": [note(r, h) for r, h in rows],
            "trend": [sparkline(h.trend) for _, h in rows],
        }
    )
    return frame.sort_values(
        ["rank", "lag", "topic", "partition"], ascending=[True, False, True, True], na_position="last"
    )


def owners(view: GroupView) -> list[str | None]:
    """Row by row the owner's name; in a share group all members that read the partition, or how many they are."""
    if view.group.type != GroupType.SHARE:
        return [view.names.get(row.member_id or "") for row in view.lags]
    readers: dict[TopicPartition, list[str]] = defaultdict(list)
    for member in view.group.members:
        for tp in member.assigned:
            readers[tp].append(view.names[member.member_id])
    named = {tp: ", ".join(sorted(who)) if len(who) <= 2 else f"{len(who)} members" for tp, who in readers.items()}
    return [named.get(row.tp) for row in view.lags]


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def note(row: PartitionLag, health: PartitionHealth) -> str:
    """Everything about a partition that its numbers do not say, in words."""
    said = []
    if row.problem is not None:
        said.append(verdicts.PROBLEMS[row.problem])
    if row.lost_records:
        said.append(f"{formats.plural(row.lost_records, 'record')} lost")
    if row.held_records:
        said.append(f"{formats.plural(row.held_records, 'record')} held by an open transaction")
    if health.finding.evidence and (health.finding.status != Status.OK or health.left is Remainder.MARKERS_ONLY):
        said.append(health.finding.evidence)
    if health.time_lag.seconds is None and health.time_lag.reason and row.lag_records:
        said.append(f"time lag unknown: {health.time_lag.reason}")
    return "; ".join(dict.fromkeys(said))


def members(view: GroupView) -> pd.DataFrame:
    """One row per member, the one with the most lag first."""
    at = {row.tp: number for number, row in enumerate(view.lags)}
    rows = [_member(view, m, [at[tp] for tp in m.assigned if tp in at]) for m in view.group.members]
    frame = pd.DataFrame(rows, columns=list(_member(view, Member("-"), [])))
    frame["lag"] = frame["lag"].astype("Int64")
    total = frame["lag"].sum()
    frame["share"] = (frame["lag"].astype(float) / total * 100) if total else np.nan
    return frame.sort_values(["rank", "lag", "member"], ascending=[True, False, True], na_position="last")


MEMBER_NAMES = ("member", "client", "host", "instance", "member_id")
"""The columns of `members` that say who it is."""


def _member(view: GroupView, m: Member, rows: list[int]) -> dict[str, object]:
    known = [lag for at in rows if (lag := view.lags[at].lag_records) is not None]
    worst = min((view.healths[at].finding.status for at in rows), key=verdicts.RANK.__getitem__, default=None)
    moved = [ms for at in rows if (ms := view.healths[at].last_moved_ms) is not None]
    return {
        "member": view.names.get(m.member_id, m.member_id),
        "verdict": idle_label(m) if worst is None else verdicts.VERDICTS[worst].label,
        "rank": len(verdicts.RANK) if worst is None else verdicts.RANK[worst],
        "partitions": len(m.assigned),
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


IDLE, WAITING = "○ Idle", "◌ Waiting"
"""What stands in the verdict column of a member without partitions: it gets none, or has yet to take them."""


def idle_label(m: Member) -> str:
    """The word for a member without a judged partition."""
    return WAITING if m.target and not m.assigned else IDLE if not m.assigned else "● OK"


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
    parts = [f"{len(coming)} to take" if coming else "", f"{len(leaving)} to give up" if leaving else ""]
    return "reconciling: " + (", ".join(p for p in parts if p) or "epoch behind the group's")


def lanes(view: GroupView) -> dict[str, list[tuple[TopicPartition, Tile]]]:
    """Member name -> its tiles, in order of (topic, partition); `NOBODY` holds what no member owns."""
    judged = {row.tp: tile(row, h) for row, h in zip(view.lags, view.healths, strict=True)}
    held = {tp for m in view.group.members for tp in m.assigned}
    out: dict[str, list[tuple[TopicPartition, Tile]]] = {}
    for m in sorted(view.group.members, key=lambda m: view.names[m.member_id]):
        target = None if m.target is None else set(m.target)
        mine = [
            (tp, Tile.LEAVING if target is not None and tp not in target else judged.get(tp, Tile.OK))
            for tp in m.assigned
        ]
        mine += [(tp, Tile.COMING) for tp in (target or set()) - set(m.assigned)]
        out[view.names[m.member_id]] = sorted(mine)
    free = [(row.tp, judged[row.tp]) for row in view.lags if row.tp not in held]
    coming = {tp for mine in out.values() for tp, kind in mine if kind == Tile.COMING}
    if left := [(tp, kind) for tp, kind in free if tp not in coming]:
        out[NOBODY] = sorted(left)
    return out


def differences(found: Sequence[Difference], names: Mapping[str, str]) -> pd.DataFrame:
    """Where the assignor, run again, would have it otherwise: topic, partition, has, would (have)."""

    def called(members: Sequence[str]) -> str:
        return ", ".join(names[member] for member in members) or NOBODY

    rows = [(it.tp.topic, it.tp.partition, called(it.assigned), called(it.recomputed)) for it in found]
    return pd.DataFrame(rows, columns=["topic", "partition", "has", "would"])


def tile(row: PartitionLag, health: PartitionHealth) -> Tile:
    """How a partition looks in the assignment picture."""
    if health.finding.status == Status.UNKNOWN or row.problem in {
        PartitionProblem.TIMEOUT,
        PartitionProblem.LEADERLESS,
    }:
        return Tile.UNKNOWN
    return Tile.BAD if verdicts.needs_attention(health.finding.status) else Tile.OK


def export(frame: pd.DataFrame) -> pd.DataFrame:
    """The partition rows in plain units, for CSV and JSON."""
    columns = [
        "topic",
        "partition",
        "status",
        "owner",
        "lag",
        "time_lag_s",
        "drain_s",
        "produce",
        "consume",
        "committed",
        "log_start",
        "last_stable",
        "log_end",
        "lost",
        "held",
        "note",
    ]
    names = {
        "lag": "lag_records",
        "produce": "produced_per_s",
        "consume": "committed_per_s",
        "lost": "lost_records",
        "held": "held_records",
    }
    out = frame[columns].rename(columns=names)
    return out.assign(drain_s=out["drain_s"].map(lambda s: "never" if np.isinf(s) else None if np.isnan(s) else s))
