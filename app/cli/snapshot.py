"""`groupscope snapshot`: reads every group once."""

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from app.cli.shared.options import Bootstrap, Config, Deadline, Json, new_command
from app.cli.shared.output import emit, emit_json, emit_table, note
from app.documents.snapshot import snapshot_document
from assignors.spelling import closest
from lag.cluster.connection.settings import load_settings
from lag.cluster.reader import open_reader
from lag.errors import GroupscopeError
from lag.model import ClusterSnapshot, GroupSnapshot, LagTotal
from lag.partition_lag import totals
from lag.polling.evaluation import Evaluator, default_policy
from lag.polling.report import Report
from lag.times import wall_clock_ms

DASH = "-"
INCOMPLETE = 3
"""The exit code of `--strict` when a broker, group or partition could not be read; the output says which."""

command = new_command()


@command.command()
def snapshot(
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help="Only this group, with its partitions. Repeatable.")
    ] = None,
    state: Annotated[
        list[str] | None, typer.Option(metavar="STATE", help="Only groups in this state, such as Empty. Repeatable.")
    ] = None,
    lag_at_least: Annotated[
        int | None, typer.Option(metavar="RECORDS", min=0, help="Only groups whose known lag is at least this.")
    ] = None,
    deadline: Deadline = 5.0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 3 when anything could not be read.")] = False,
    json: Json = False,
) -> None:
    """Read every group once: state, members, offsets and lag."""
    report, wanted = read_once(bootstrap_server, config, deadline), Filter(group or (), state or (), lag_at_least)
    cluster = report.snapshot
    if missing := [group_id for group_id in wanted.groups if cluster.group(group_id) is None]:
        raise _unknown(missing, cluster)
    shown = [(g, lag) for g, lag in zip(cluster.groups, totals(cluster), strict=True) if wanted.admits(g, lag)]
    if json:
        emit_json(snapshot_document(report.health, shown))
    else:
        listed = [(g, lag) for g, lag in shown if wanted.groups or not g.internal]
        _print(cluster, listed, detailed=bool(wanted.groups))
    if strict and not cluster.complete:
        raise typer.Exit(INCOMPLETE)


@dataclass(frozen=True, slots=True)
class Filter:
    """What to show; empty means all."""

    groups: Sequence[str] = ()
    states: Sequence[str] = ()
    lag_at_least: int | None = None

    def admits(self, group: GroupSnapshot, lag: LagTotal) -> bool:
        """Whether the group passes; an unknown lag passes no lag filter."""
        return (
            (not self.groups or group.group_id in self.groups)
            and (not self.states or group.state.lower() in {state.lower() for state in self.states})
            and (self.lag_at_least is None or (lag.records is not None and lag.records >= self.lag_at_least))
        )


def _unknown(missing: Sequence[str], snapshot: ClusterSnapshot) -> GroupscopeError:
    near = closest(missing[0], snapshot.by_group)
    return GroupscopeError(
        f"No group named {', '.join(missing)} among the {len(snapshot.groups)} that this client can see",
        "Check the spelling and the ACL DESCRIBE on the group" + (f". Did you mean {near}?" if near else ""),
    )


def read_once(bootstrap: str | None, config: Path | None, deadline_s: float) -> Report:
    """One poll over a connection of its own."""
    settings = load_settings(bootstrap, config, os.environ)
    with closing(open_reader(settings, settings.name, deadline_s)) as reader:
        return Evaluator(default_policy).evaluate(reader, 1, wall_clock_ms())


def _print(snapshot: ClusterSnapshot, shown: Sequence[tuple[GroupSnapshot, LagTotal]], detailed: bool) -> None:
    emit_table(*_groups_table(shown), right=(3, 4, 5))
    for group, _ in shown if detailed else ():
        emit()
        emit(group.group_id)
        emit_table(*_partitions_table(group), right=range(1, 8))
    asked_for = (problem for group, _ in shown if detailed for problem in group.problems)
    for problem in dict.fromkeys(map(str, (*snapshot.problems, *asked_for))):
        note(f"problem: {problem}")
    partial = "" if snapshot.complete else ", incomplete"
    size = f"{len(shown)} of {len(snapshot.groups)} groups, {len(snapshot.offsets):,} offsets"
    note(f"{size}, {snapshot.took_s:.2f} s{partial}")
    if not detailed and any(group.internal for group in snapshot.groups):
        note("groupscope's own groups are not listed; --json and --group show them")


Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def _groups_table(shown: Sequence[tuple[GroupSnapshot, LagTotal]]) -> Table:
    heads = ("GROUP", "TYPE", "STATE", "MEMBERS", "LAG", "LAG KNOWN", "LOST", "ASSIGNOR", "COORDINATOR")
    rows = [
        (
            group.group_id,
            str(group.type),
            group.state,
            str(len(group.members)),
            number(lag.records),
            f"{lag.known} of {lag.partitions}",
            number(lag.lost_records) if lag.lost_records else DASH,
            group.assignor or DASH,
            DASH if group.coordinator is None else str(group.coordinator),
        )
        for group, lag in sorted(shown, key=lambda pair: -(pair[1].records or 0))
    ]
    return heads, rows


def _partitions_table(group: GroupSnapshot) -> Table:
    heads = (
        "TOPIC",
        "PARTITION",
        "COMMITTED",
        "LOG START",
        "LOG END",
        "LAST STABLE",
        "LAG",
        "LOST",
        "PROBLEM",
        "MEMBER",
    )
    rows = [
        (
            p.tp.topic,
            str(p.tp.partition),
            *map(number, (p.committed, p.log_start, p.log_end, p.last_stable, p.lag_records)),
            number(p.lost_records) if p.lost_records else DASH,
            str(p.problem or DASH),
            p.member_id or DASH,
        )
        for p in group.partitions
    ]
    return heads, rows


def number(value: int | None) -> str:
    """With thousands separators; a dash where it is not known."""
    return DASH if value is None else f"{value:,}"
