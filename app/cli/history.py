"""Commands that fill the history of a cluster and look after it."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Bootstrap, Config, Deadline, Json

pipeline_cli = typer.Typer(
    name="pipeline", help="Record the history of a cluster and look after it (needs Spark).", no_args_is_help=True
)
HistoryPath = Annotated[
    str,
    typer.Option("--history", metavar="PATH", help="Where the Delta tables are: a folder, or an object store's URL."),
]


@pipeline_cli.command()
def stream(
    history: HistoryPath,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    once: Annotated[bool, typer.Option("--once", help="End when all that is there has been read.")] = False,
    json: Json = False,
) -> None:
    """Record what __consumer_offsets says.

    Every commit and every event of a group, each exactly once, however often it is stopped or killed. Without --once
    it runs until Ctrl-C.
    """
    from app.cli import pipeline as command

    command.stream(history, bootstrap_server, config, once, json)


@pipeline_cli.command()
def rollup(
    history: HistoryPath,
    slo: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Service levels to measure, TOML or JSON; else GROUPSCOPE_SLO.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when all that was recorded is rolled up.")] = False,
    json: Json = False,
) -> None:
    """Compute lag, health and error budgets from what was recorded.

    Rows come late: what new ones belong to is computed anew, up to two hours back. Without --once it runs every minute
    until Ctrl-C.
    """
    from app.cli import pipeline as command

    command.rollup(history, slo, once, json)


@pipeline_cli.command()
def compact(history: HistoryPath, json: Json = False) -> None:
    """Make few files of many, and drop what is too old."""
    from app.cli import pipeline as command

    command.compact(history, json)


@pipeline_cli.command()
def status(history: HistoryPath, json: Json = False) -> None:
    """Say what each table holds."""
    from app.cli import pipeline as command

    command.status(history, json)


def sweep(
    history: HistoryPath,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    snapshot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Instead of a cluster: the JSON of groupscope snapshot.")
    ] = None,
    fleet: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead of a cluster: scenarios, one a line as JSON, or a folder of files."),
    ] = None,
    assignor: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this one, not all that fit. Repeatable.")
    ] = None,
    members: Annotated[
        str, typer.Option(metavar="LIST", help="How many: 1..20, 3,6,12, or times as many as now: x0.5,x1,x2.")
    ] = "x0.5,x1,x1.5,x2",
    failure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="And what if crash, third, rack or restart happens then. Repeatable."),
    ] = None,
    observe: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, max=3600, help="Watch the cluster so long first, for rates.")
    ] = 0.0,
    runner: Annotated[
        str | None, typer.Option(metavar="spark|local", help="Where to run; by default Spark when it takes long.")
    ] = None,
    sweep_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Name it; one of that name is replaced. Else from what is asked."),
    ] = None,
    deadline: Deadline = 5.0,
    json: Json = False,
) -> None:
    """Try every assignor and number of members on every group.

    Each case is a row in the history: what moves, who idles, who is busiest, when the lag drains. Without --snapshot
    or --fleet the groups are read from a cluster; nothing is changed there.
    """
    from lag.sweeps.plan import LOCAL, SPARK, Asked, parse_assignors, parse_failures, parse_sizes

    if sum(its is not None for its in (bootstrap_server or config, snapshot, fleet)) > 1:
        raise typer.BadParameter("only one of a cluster, --snapshot and --fleet", param_hint="--fleet")
    if runner not in (None, SPARK, LOCAL):
        raise typer.BadParameter(f"{runner!r} is neither spark nor local", param_hint="--runner")
    asked = Asked(parse_assignors(assignor or ()), parse_sizes(members), parse_failures(failure or ()))
    from app.cli import sweep as command  # pandas and all: not for a word that is wrong

    source = command.Source(bootstrap_server, config, snapshot, fleet, observe, deadline)
    command.run(source, asked, history, runner, sweep_id, json)
