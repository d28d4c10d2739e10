"""Commands that contact nothing: plans, stories, scenario files, advice on settings, records in a file."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import Json, Plugins, WithArguments


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
    from app.cli import assign as command

    command.run(scenario, assignor or (), plugin or (), plugin_timeout, json)


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
    from app.cli import simulate as command

    unknown = [name for name in protocol or () if name not in command.PROTOCOLS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(command.PROTOCOLS)}", param_hint="--protocol")
    command.run(scenario, protocol or (), seed, latency_ms, json)


scenario_cli = typer.Typer(
    name="scenario", help="Check scenario files; print their schema, or examples.", no_args_is_help=True
)


@scenario_cli.command()
def schema(json: Json = False) -> None:
    """Print the JSON Schema of scenario files."""
    from app.cli import scenario as command

    command.print_schema(json)


@scenario_cli.command(cls=WithArguments)
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Scenario files; - reads stdin.")],
    json: Json = False,
) -> None:
    """Check scenario files; a line for each problem.

    Each line is FILE:LINE: path: sentence. Exit code 1 when a file is no scenario; warnings alone are fine.
    """
    from app.cli import scenario as command

    command.check(files, json)


@scenario_cli.command(cls=WithArguments)
def example(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which one; without it all are listed.")] = None,
    json: Json = False,
) -> None:
    """List the bundled examples, or print one."""
    from app.cli import scenario as command

    command.example(name, json)


def advise(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A properties file of a consumer or a broker.")],
    broker: Annotated[bool, typer.Option("--broker", help="It is a broker's: judge its group coordinator.")] = False,
    record_p99_ms: Annotated[
        float | None, typer.Option(metavar="MS", min=0, help="How long 99 of 100 records take at most to process.")
    ] = None,
    batch_ms: Annotated[
        int | None, typer.Option(metavar="MS", min=0, help="How long it is from one poll to the next.")
    ] = None,
    restart_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="How long a restart takes.")] = None,
    gc_pause_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="The longest pause of a member.")] = None,
    tolerated_outage_ms: Annotated[
        int | None, typer.Option(metavar="MS", min=0, help="How long the partitions of a dead member may wait.")
    ] = None,
    planned_outage_ms: Annotated[
        int | None, typer.Option(metavar="MS", min=0, help="How long the whole group may be down.")
    ] = None,
    async_workers: Annotated[
        bool, typer.Option("--async-workers", help="Records are processed outside the poll loop.")
    ] = False,
    closes_in_finally: Annotated[
        bool, typer.Option("--closes-in-finally", help="close() is called after a processing error too.")
    ] = False,
    grows: Annotated[
        bool, typer.Option("--grows", help="Topics get partitions, or are subscribed by pattern.")
    ] = False,
    members: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many members start together (with --broker).")
    ] = None,
    acks_all: Annotated[bool, typer.Option("--acks-all", help="Producers count on acks=all (with --broker).")] = False,
    json: Json = False,
) -> None:
    """Judge a properties file of a consumer or a broker.

    Says for each setting that Kafka would refuse, that will hurt or that it does not know why, who says so, and what
    would be better; exit code 1 when Kafka would refuse one. Whether a class exists is not looked at. Of values only
    numbers are printed.
    """
    from app.cli import advise as command
    from app.ui.properties_advice import Kind
    from assignors.advice import Work

    work = Work(
        record_p99_ms=record_p99_ms,
        batch_ms=batch_ms,
        restart_ms=restart_ms,
        gc_pause_ms=gc_pause_ms,
        tolerated_outage_ms=tolerated_outage_ms,
        planned_outage_ms=planned_outage_ms,
        async_workers=async_workers,
        closes_in_finally=closes_in_finally,
        grows=grows,
        members=members,
        acks_all=acks_all,
    )
    command.run(file, Kind.BROKER if broker else Kind.CONSUMER, work, json)


offsets_cli = typer.Typer(name="offsets", help="Read records of __consumer_offsets.", no_args_is_help=True)


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
    from app.cli import offsets as command

    command.decode(file, json_lines, json)
