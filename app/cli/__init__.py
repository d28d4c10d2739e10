"""`groupscope`: the command line. Each command lives in `app/commands`; this package holds its flags and its manners.

Results go to stdout, one JSON document with --json; progress and errors go to stderr. Exit 0 ok, 1 a problem in what
was asked, 2 wrong usage.
"""

import logging
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from app.cli import history, offline
from app.cli.options import Bootstrap, Browser, Config, Deadline, Json, JsonLine, Plugins, Port, WithArguments
from app.cli.output import tell
from lag.errors import GroupscopeError

cli = typer.Typer(
    name="groupscope",
    help="See, predict and explain Kafka consumer groups.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
    from app.cli import up as command

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
    from app.cli import serve as command

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
    from app.cli import snapshot as command

    command.run(bootstrap_server, config, command.Filter(group or (), state or (), lag_at_least), deadline, json)


@cli.command()
def doctor(
    bootstrap_server: Bootstrap = None, config: Config = None, deadline: Deadline = 5.0, json: Json = False
) -> None:
    """Check what is needed; each line says ok or the mend.

    Versions, Java, jars, the port; and of a cluster, if one is named: the connection and what we may read.
    """
    from app.cli import doctor as command

    command.run(bootstrap_server, config, deadline, json)


for with_arguments in (offline.assign, offline.simulate, offline.advise):
    cli.command(cls=WithArguments)(with_arguments)
cli.command()(history.sweep)
for family in (offline.scenario_cli, offline.offsets_cli, history.pipeline_cli):
    cli.add_typer(family)


@cli.command()
def jars(json: Json = False) -> None:
    """Fetch and verify the jars of Kafka and Spark.

    Says where Java and the jars are, for tests, benchmarks and spark-submit.
    """
    from app.cli import jars as command

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
