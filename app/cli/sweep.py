"""`groupscope sweep`: many groups under every assignor, with more or fewer members, and after failures."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import typer

from app.cli.shared.options import Bootstrap, Config, Deadline, HistoryPath, Json, new_command
from app.cli.shared.output import emit, emit_json, emit_table, note
from app.cli.shared.signals import ignore_signals, until_stopped
from app.ui import formats
from app.ui.sweep_findings import conclusion, recommendation
from lag.errors import ConfigError, GroupscopeError
from lag.history.schemas import SWEEP_GROUPS
from lag.history.store import History
from lag.sweeps import fleet, local, snapshot_document, sweep_table
from lag.sweeps.fleet import Fleet
from lag.sweeps.gains import GAINING, gains, records
from lag.sweeps.plan import (
    LOCAL,
    SPARK,
    Plan,
    SweepRequest,
    parse_assignors,
    parse_failures,
    parse_member_counts,
)
from lag.sweeps.sweep_table import SweepHeader
from lag.times import wall_clock_ms
from lag.verdict.health import Health
from lag.verdict.judge import judge
from lag.verdict.window.sample_window import SampleRing

SPARK_FROM_S = 60.0
"""Spark takes about ten seconds to start."""
OBSERVE_EVERY_S = 5.0
SHOWN = 10


command = new_command()


@command.command()
def sweep(
    history: HistoryPath,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    snapshot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Instead of a cluster: the JSON of groupscope snapshot.")
    ] = None,
    fleet: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Instead of a cluster: scenarios as JSON lines, or a folder of scenario files."
        ),
    ] = None,
    assignor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this assignor; by default all that suit the group. Repeatable."),
    ] = None,
    members: Annotated[
        str,
        typer.Option(metavar="LIST", help="Member counts: 1..20, 3,6,12, or multiples of the present one: x0.5,x1,x2."),
    ] = "x0.5,x1,x1.5,x2",
    failure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also after this failure: crash, third, rack or restart. Repeatable."),
    ] = None,
    observe: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, max=3600, help="Watch the cluster first, to measure rates.")
    ] = 0.0,
    runner: Annotated[
        str | None, typer.Option(metavar="spark|local", help="Where to run; by default Spark for long sweeps.")
    ] = None,
    sweep_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Id of the sweep; one with the same id is replaced. By default derived from the request."
        ),
    ] = None,
    deadline: Deadline = 5.0,
    json: Json = False,
) -> None:
    """Try every assignor and number of members on every group.

    Each case is a row in the history: what moves, which members are idle, which is busiest, and when the lag drains.
    Without --snapshot or --fleet the groups are read from a cluster; nothing is changed there.
    """
    if sum(its is not None for its in (bootstrap_server or config, snapshot, fleet)) > 1:
        raise typer.BadParameter("give only one of a cluster, --snapshot and --fleet", param_hint="--fleet")
    if runner not in (None, SPARK, LOCAL):
        raise typer.BadParameter(f"{runner!r} is neither spark nor local", param_hint="--runner")
    asked = SweepRequest(parse_assignors(assignor or ()), parse_member_counts(members), parse_failures(failure or ()))
    source = Source(bootstrap_server, config, snapshot, fleet, observe, deadline)
    run(source, asked, history, runner, sweep_id, json)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the groups come from: a cluster, a snapshot or a fleet of scenarios."""

    bootstrap: str | None = None
    config: Path | None = None
    snapshot: Path | None = None
    fleet: Path | None = None
    observe_s: float = 0.0
    deadline_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Ran:
    """A finished sweep, as written."""

    header: SweepHeader
    runner: str
    cores: int
    took_s: float
    cells: pa.Table
    groups: pa.Table
    written: dict[str, int]


def run(
    source: Source, asked: SweepRequest, history: str, runner: str | None, sweep_id: str | None, as_json: bool
) -> None:
    """Run the sweep and write it. Exit code 1 when an input is wrong, after the others are done.

    Raises ConfigError, ConnectError, HistoryError; GroupscopeError when it is stopped; then nothing is written.
    """
    ran: Ran | None = None
    with until_stopped():
        its = _fleet(source)
        for trouble in its.problems:
            note(f"problem: {trouble}")
        if its.skipped:
            note(f"{formats.plural(len(its.skipped), 'group')} cannot be planned: {its.skipped[0]}")
        ran = _sweep(its, Plan(its.scenarios, asked), History(history), runner, sweep_id)
    if ran is None:
        raise GroupscopeError("The sweep was stopped before its end", "Nothing was written. Start it again.")
    if as_json:
        emit_json(_document(ran, its, history))
    else:
        _print(ran, history)
    if its.problems:
        raise typer.Exit(1)


def _fleet(source: Source) -> Fleet:
    if source.fleet is not None:
        return fleet.of_files(source.fleet)
    if source.snapshot is not None:
        found = snapshot_document.read_document(source.snapshot)
        note(snapshot_document.NOTE)
        return found
    return fleet.of_cluster(_observed(source))


def _observed(source: Source) -> Health:
    """The cluster now; rates need two polls."""
    from lag.cluster.connection.settings import load_settings
    from lag.cluster.reader import open_reader

    settings = load_settings(source.bootstrap, source.config, os.environ)
    with closing(open_reader(settings, settings.name, source.deadline_s)) as reader:
        trend, until = SampleRing(), time.monotonic() + source.observe_s
        if source.observe_s:
            note(f"Watching the cluster for {formats.duration(source.observe_s)}, for rates")
        for number in count(1):
            snapshot = reader.read(number, wall_clock_ms())
            window, left_s = trend.append(snapshot), until - time.monotonic()
            if left_s <= 0:
                break
            time.sleep(min(OBSERVE_EVERY_S, left_s))
        return judge(snapshot, window)


def _sweep(its: Fleet, plan: Plan, history: History, runner: str | None, asked_id: str | None) -> Ran | None:
    groups = sweep_table.groups(plan)
    header = SweepHeader(
        asked_id or sweep_table.sweep_id(its.cluster, groups, plan.request), its.cluster, datetime.now(UTC)
    )
    name, cores = _runner(runner, plan)
    started = time.monotonic()
    found = _on_spark(plan, header, cores) if name == SPARK else _with_progress(local.run(plan, header), len(plan))
    took_s = time.monotonic() - started
    if sum(map(len, found)) < len(plan):
        return None
    ignore_signals()  # a sweep is written whole or not at all
    written = dict(sweep_table.write(history, header, groups, found))
    return Ran(header, name, cores, took_s, pa.concat_tables(found), header.table(groups, SWEEP_GROUPS), written)


def _runner(asked: str | None, plan: Plan) -> tuple[str, int]:
    """Where to run, and on how many cores: Spark where it is installed and one core would take long."""
    cores = os.cpu_count() or 1
    if asked is None:
        alone_s = local.estimate_s(plan)
        asked = SPARK if alone_s > SPARK_FROM_S and find_spec("pyspark") else LOCAL
        estimate = f"{formats.plural(len(plan), 'case')}, about {formats.duration(alone_s)} on one core"
        where = f"on Spark, {cores} cores" if asked == SPARK else "in this process"
        note(f"{estimate}: {where} (--runner {LOCAL if asked == SPARK else SPARK} to change)")
    if asked == SPARK and find_spec("pyspark") is None:
        raise ConfigError("PySpark is not installed", "Install it: uv sync --extra pipeline; or use --runner local")
    return asked, cores if asked == SPARK else 1


def _on_spark(plan: Plan, header: SweepHeader, cores: int) -> list[pa.Table]:
    from lag.pipeline import sweep
    from lag.pipeline.session import session

    note("Spark is starting")
    with session(cores) as spark, until_stopped():  # again: Spark has installed its own signal handlers
        return _with_progress(sweep.run(spark, plan, header), len(plan))
    return []


def _with_progress(portions: Iterator[pa.Table], total: int) -> list[pa.Table]:
    """All portions, with a line of progress after each."""
    found: list[pa.Table] = []
    done, started = 0, time.monotonic()
    for portion in portions:
        found.append(portion)
        done += len(portion)
        per_s = done / max(1e-9, time.monotonic() - started)
        left = f", about {formats.duration((total - done) / per_s)} left" if done < total else ""
        note(f"{done:,} of {total:,} cases, {per_s:,.0f}/s{left}")
    return found


def _gains(ran: Ran) -> pd.DataFrame:
    """What each group would gain, as on the Sweeps page."""
    cells = ran.cells.filter(pc.equal(ran.cells["failure"], "none"))
    return gains(ran.groups.to_pandas(), cells.to_pandas())


def _most(found: pd.DataFrame) -> list[dict[str, Any]]:
    """The groups with most to gain."""
    return records(found[found["gain"].isin(list(GAINING))].head(SHOWN))


def _document(ran: Ran, its: Fleet, history: str) -> dict[str, Any]:
    return {
        "sweep_id": ran.header.sweep_id,
        "history": history,
        "cluster": its.cluster,
        "groups": len(its.scenarios),
        "cases": len(ran.cells),
        "rows": ran.written,
        "without_figures": len(ran.cells) - ran.cells["reason"].null_count,
        "runner": ran.runner,
        "cores": ran.cores,
        "took_s": round(ran.took_s, 3),
        "gains": [{"group_id": row["group_id"], "do": recommendation(row)} for row in _most(_gains(ran))],
        "problems": _troubles(its.problems),
        "skipped": _troubles(its.skipped),
    }


def _troubles(found: Sequence[fleet.InputProblem]) -> list[dict[str, str]]:
    return [asdict(its) for its in found]


def _print(ran: Ran, history: str) -> None:
    found = _gains(ran)
    emit(f"{conclusion(found)}.")
    best = [(row["group_id"], f"{row['assignor']} x {row['members']}", recommendation(row)) for row in _most(found)]
    if best:
        emit_table(("GROUP", "NOW", "WOULD GAIN FROM"), best)
    unknown = len(ran.cells) - ran.cells["reason"].null_count
    reason = f", {formats.count(unknown)} without a result" if unknown else ""
    took = f"{len(ran.cells):,} cases in {formats.duration(ran.took_s)} ({len(ran.cells) / ran.took_s:,.0f}/s)"
    note(f"{took}{reason}; written to {history} as sweep {ran.header.sweep_id}")
    note(f"To see it: groupscope serve --history {history} ..., page Sweeps")
