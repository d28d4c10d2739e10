"""`groupscope`: the command line. Each command lives in `app/commands`; this file holds its flags and its manners.

Results go to stdout, one JSON document with --json; progress and errors go to stderr. Exit 0 ok, 1 a problem in what
was asked, 2 wrong usage.
"""

import logging
import re
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from app.commands.output import tell
from lag.errors import GroupscopeError

cli = typer.Typer(
    name="groupscope",
    help="See, predict and explain Kafka consumer groups.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, for programs.")]
JsonLine = Annotated[bool, typer.Option("--json", help="Print one line of JSON on stdout once all is ready.")]
Bootstrap = Annotated[
    str | None,
    typer.Option("--bootstrap-server", metavar="HOST:PORT", help="Brokers to begin with, parted by commas."),
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="A client.properties file: TLS, SASL and the rest.")
]
Deadline = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.5, max=300, help="How long a silent broker is waited for.")
]
Port = Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the dashboard; 0 takes a free one.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="MODULE:CLASS", help="An assignor of yours, beside Kafka's. Repeatable."),
]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the dashboard in a browser, at a terminal of a desktop.")
]


@cli.command()
def up(
    brokers: Annotated[int, typer.Option(metavar="1|3", help="How many brokers.")] = 1,
    workload: Annotated[bool, typer.Option(help="Run the demo producers and consumers.")] = True,
    dashboard: Annotated[bool, typer.Option(help="Serve the dashboard.")] = True,
    pipeline: Annotated[bool, typer.Option(help="Fill the dashboard's history with Spark, once it is up.")] = True,
    plugin: Plugins = None,
    port: Port = 8501,
    browser: Browser = True,
    json: JsonLine = False,
) -> None:
    """Start a real Kafka with demo groups, and the dashboard.

    Everything is on this machine; nothing is left of it. Runs until Ctrl-C.
    """
    from app.commands import up as command

    if brokers not in (1, 3):
        raise typer.BadParameter("1 or 3 brokers", param_hint="--brokers")
    command.run(brokers, workload, dashboard, pipeline, plugin or (), port, browser, json)


@cli.command()
def serve(
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FILE", help="A further cluster: a name and its client.properties. Repeatable."),
    ] = None,
    port: Port = 8501,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; the dashboard has no login.")
    ] = "127.0.0.1",
    interval: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, max=3600, help="How often each cluster is read.")
    ] = 10.0,
    plugin: Plugins = None,
    follow: Annotated[
        bool, typer.Option(help="Read __consumer_offsets too, for every rebalance as it was; else they are inferred.")
    ] = True,
    history: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Keep what is read: a folder, or an object store's URL, of Delta tables."),
    ] = None,
    browser: Browser = True,
    json: JsonLine = False,
) -> None:
    """Serve the dashboard of your clusters.

    It only ever reads from them. Runs until Ctrl-C.
    """
    from app.commands import serve as command

    command.run(
        bootstrap_server, config, cluster or [], port, host, interval, plugin or (), follow, history, browser, json
    )


@cli.command()
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
        int | None, typer.Option(metavar="RECORDS", min=0, help="Only groups that are known to be this far behind.")
    ] = None,
    deadline: Deadline = 5.0,
    json: Json = False,
) -> None:
    """Read every group once: state, members, offsets and lag."""
    from app.commands import snapshot as command

    command.run(bootstrap_server, config, command.Filter(group or (), state or (), lag_at_least), deadline, json)


@cli.command()
def doctor(
    bootstrap_server: Bootstrap = None, config: Config = None, deadline: Deadline = 5.0, json: Json = False
) -> None:
    """Check what is needed; each line says ok or the mend.

    Versions, Java, jars, the port; and of a cluster, if one is named: the connection and what we may read.
    """
    from app.commands import doctor as command

    command.run(bootstrap_server, config, deadline, json)


class WithArguments(TyperCommand):
    """Its help names arguments without their Python types."""

    def get_help(self, ctx: Any) -> str:
        return re.sub(r" <[^>\n]+>", lambda found: " " * len(found[0]), super().get_help(ctx))


@cli.command(cls=WithArguments)
def assign(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file, YAML or JSON; - reads it from stdin.")
    ],
    assignor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Instead of the scenario's own; all takes all that fit. Repeatable."),
    ] = None,
    plugin: Plugins = None,
    plugin_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="How long an assignor of yours may take.")
    ] = 30.0,
    json: Json = False,
) -> None:
    """Predict who gets which partition, step by step.

    Folds the events of a scenario through one or more assignors and prints what changes; nothing is contacted.
    """
    from app.commands import assign as command

    command.run(scenario, assignor or (), plugin or (), plugin_timeout, json)


@cli.command(cls=WithArguments)
def simulate(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file, YAML or JSON; - reads it from stdin.")
    ],
    protocol: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="eager, cooperative or consumer, instead of the scenario's own. Repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="What is chance in Kafka: ids and phases.")] = 0,
    latency_ms: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=60_000, help="How long a message takes, one way, in milliseconds."),
    ] = None,
    json: Json = False,
) -> None:
    """Play a scenario second by second.

    Clients, coordinator and messages with Kafka's own rules and timers: how long partitions are down and members
    wait. Nothing is contacted.
    """
    from app.commands import simulate as command

    unknown = [name for name in protocol or () if name not in command.PROTOCOLS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(command.PROTOCOLS)}", param_hint="--protocol")
    command.run(scenario, protocol or (), seed, latency_ms, json)


scenario_cli = typer.Typer(
    name="scenario", help="Check scenario files; print their schema, or examples.", no_args_is_help=True
)
cli.add_typer(scenario_cli)


@scenario_cli.command()
def schema(json: Json = False) -> None:
    """Print the JSON Schema of scenario files."""
    from app.commands import scenario as command

    command.print_schema(json)


@scenario_cli.command(cls=WithArguments)
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Scenario files; - reads stdin.")],
    json: Json = False,
) -> None:
    """Check scenario files; a line for each problem.

    Each line is FILE:LINE: path: sentence. Exit code 1 when a file is no scenario; warnings alone are fine.
    """
    from app.commands import scenario as command

    command.check(files, json)


@scenario_cli.command(cls=WithArguments)
def example(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one; without it all are listed.")] = None,
    json: Json = False,
) -> None:
    """List the bundled examples, or print one."""
    from app.commands import scenario as command

    command.example(name, json)


@cli.command(cls=WithArguments)
def advise(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A properties file of a consumer or a broker.")],
    broker: Annotated[bool, typer.Option("--broker", help="It is a broker's: judge its group coordinator.")] = False,
    record_p99_ms: Annotated[
        float | None, typer.Option(metavar="MS", min=0, help="How long 99 of 100 records take at most to process.")
    ] = None,
    restart_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="How long a restart takes.")] = None,
    gc_pause_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="The longest pause of a member.")] = None,
    async_workers: Annotated[
        bool, typer.Option("--async-workers", help="Records are processed outside the poll loop.")
    ] = False,
    grows: Annotated[
        bool, typer.Option("--grows", help="Topics get partitions, or are subscribed by pattern.")
    ] = False,
    members: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many members start together (with --broker).")
    ] = None,
    json: Json = False,
) -> None:
    """Judge a properties file of a consumer or a broker.

    Says for each setting why, who says so, and what would be better; exit code 1 when Kafka would refuse one. Values
    are not printed.
    """
    from app.advising import Kind
    from app.commands import advise as command
    from assignors.simulation.advice import Work

    work = Work(record_p99_ms, restart_ms, gc_pause_ms, async_workers, grows)
    command.run(file, Kind.BROKER if broker else Kind.CONSUMER, work, members, json)


offsets_cli = typer.Typer(name="offsets", help="Read records of __consumer_offsets.", no_args_is_help=True)
cli.add_typer(offsets_cli)


@offsets_cli.command(cls=WithArguments)
def decode(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Keys and values, each after its length; - is stdin.")],
    json_lines: Annotated[bool, typer.Option("--json-lines", help="Print a line of JSON for each record.")] = False,
    json: Json = False,
) -> None:
    """Say what a file of records holds.

    Each record is int32 key length, key, int32 value length (-1 = null), value; big-endian. Without --json-lines the
    records are counted by kind. Exit code 1 when the file ends within a record, after what could be read.
    """
    from app.commands import offsets as command

    command.decode(file, json_lines, json)


pipeline_cli = typer.Typer(
    name="pipeline", help="Record the history of a cluster and look after it (needs Spark).", no_args_is_help=True
)
cli.add_typer(pipeline_cli)

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
    from app.commands import pipeline as command

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

    The last two hours are computed anew each time, since rows come late. Without --once it runs every minute until
    Ctrl-C.
    """
    from app.commands import pipeline as command

    command.rollup(history, slo, once, json)


@pipeline_cli.command()
def compact(history: HistoryPath, json: Json = False) -> None:
    """Make few files of many, and drop what is too old."""
    from app.commands import pipeline as command

    command.compact(history, json)


@pipeline_cli.command()
def status(history: HistoryPath, json: Json = False) -> None:
    """Say what each table holds."""
    from app.commands import pipeline as command

    command.status(history, json)


@cli.command()
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
    from app.commands import sweep as command  # pandas and all: not for a word that is wrong

    source = command.Source(bootstrap_server, config, snapshot, fleet, observe, deadline)
    command.run(source, asked, history, runner, sweep_id, json)


@cli.command()
def jars(json: Json = False) -> None:
    """Fetch and verify the jars of Kafka and Spark.

    Says where Java and the jars are, for tests, benchmarks and spark-submit.
    """
    from app.commands import jars as command

    command.run(json)


def main() -> None:
    """Entry point: errors that we raise on purpose become one line and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter of a group's name
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        cli()
    except GroupscopeError as error:
        tell(error, as_json="--json" in sys.argv)
        sys.exit(1)
