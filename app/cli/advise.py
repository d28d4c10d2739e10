"""`groupscope advise`: findings on a properties file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.options import Json, WithArguments, new_command
from app.cli.output import emit, emit_json, note
from app.ui import properties_advice
from app.ui.formats import listing
from app.ui.properties_advice import Advised, Kind, row, verdict
from assignors.advice import Severity, Workload
from lag.cluster.properties import read_properties

command = new_command()


@command.command(cls=WithArguments)
def advise(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A properties file of a consumer or a broker.")],
    broker: Annotated[
        bool, typer.Option("--broker", help="The file is a broker's: check its group coordinator.")
    ] = False,
    record_p99_ms: Annotated[
        float | None, typer.Option(metavar="MS", min=0, help="99th percentile of the time to process a record.")
    ] = None,
    batch_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="Time from one poll to the next.")] = None,
    restart_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="Time that a restart takes.")] = None,
    gc_pause_ms: Annotated[int | None, typer.Option(metavar="MS", min=0, help="The longest pause of a member.")] = None,
    tolerated_outage_ms: Annotated[
        int | None, typer.Option(metavar="MS", min=0, help="How long partitions of a dead member may have no owner.")
    ] = None,
    planned_outage_ms: Annotated[
        int | None, typer.Option(metavar="MS", min=0, help="Longest planned downtime of the whole group.")
    ] = None,
    async_workers: Annotated[
        bool, typer.Option("--async-workers", help="Records are processed outside the poll loop.")
    ] = False,
    closes_in_finally: Annotated[
        bool, typer.Option("--closes-in-finally", help="close() is also called after a processing error.")
    ] = False,
    grows: Annotated[
        bool, typer.Option("--grows", help="Topics get more partitions, or are subscribed by pattern.")
    ] = False,
    members: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many members start together (with --broker).")
    ] = None,
    acks_all: Annotated[bool, typer.Option("--acks-all", help="Producers rely on acks=all (with --broker).")] = False,
    json: Json = False,
) -> None:
    """Check a properties file of a consumer or a broker.

    Lists each setting that Kafka refuses, that is likely to hurt, or that Kafka does not know, with its reason, its
    source and a better value. Exit code 1 when Kafka refuses one. Classes are not looked up. Only numbers are printed.
    """
    workload = Workload(
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
    run(file, Kind.BROKER if broker else Kind.CONSUMER, workload, json)


def run(file: Path, kind: Kind, workload: Workload, as_json: bool) -> None:
    """Print every finding, a line each; exit code 1 when Kafka refuses a setting.

    Raises ConfigError when the file cannot be read, or holds no setting.
    """
    advised = properties_advice.advise(read_properties(file), kind, workload)
    if as_json:
        emit_json(_document(file, advised))
    else:
        _print(file, advised)
    if advised.count(Severity.ERROR):
        raise typer.Exit(1)


def _document(file: Path, advised: Advised) -> dict[str, Any]:
    return {
        "file": str(file),
        "kind": advised.kind.value,
        "settings": advised.settings,
        "findings": [row(placed) for placed in advised.found],
        "lines_without_a_setting": list(advised.unread),
        "lines_with_a_placeholder": list(advised.open),
    }


def _print(file: Path, advised: Advised) -> None:
    for placed in advised.found:
        its = placed.finding
        where = str(file) if placed.line is None else f"{file}:{placed.line}"
        better = f" Better: {its.better}." if its.better else ""
        emit(f"{where}: {its.severity.value}: {its.key}: {its.reason}{better} [{its.source}]")
    for lines, why in ((advised.unread, "no setting"), (advised.open, "a placeholder, not judged")):
        if lines:
            note(f"{file}: {'line' if len(lines) == 1 else 'lines'} {listing(list(lines))}: {why}")
    if advised.other_kind:
        note(f"{file}: looks like a file of a {'broker' if advised.kind is Kind.CONSUMER else 'consumer'}")
    note(f"{file}: {verdict(advised)}")
