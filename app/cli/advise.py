"""`groupscope advise`: findings on a properties file."""

from pathlib import Path
from typing import Annotated

import typer

from app import properties_advice
from app.cli.shared.options import Json, WithArguments, new_command
from app.cli.shared.output import emit, emit_json, note
from app.documents.advice import advice_document
from app.properties_advice import Kind, PropertiesAdvice
from app.ui.advice.verdict import verdict
from app.ui.formats import listing
from assignors.advice import Severity, Workload
from lag.cluster.connection.properties import read_properties

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
    kind = Kind.BROKER if broker else Kind.CONSUMER
    advice = properties_advice.advise(read_properties(file), kind, workload)
    if json:
        emit_json({"file": str(file), **advice_document(advice)})
    else:
        _print(file, advice)
    if advice.count(Severity.ERROR):
        raise typer.Exit(1)


def _print(file: Path, advice: PropertiesAdvice) -> None:
    for located in advice.findings:
        finding = located.finding
        where = str(file) if located.line is None else f"{file}:{located.line}"
        better = f" Better: {finding.better}." if finding.better else ""
        emit(f"{where}: {finding.severity.value}: {finding.key}: {finding.reason}{better} [{finding.source}]")
    skipped = ((advice.unknown_lines, "not a setting"), (advice.placeholder_lines, "a placeholder, not checked"))
    for lines, why in skipped:
        if lines:
            note(f"{file}: {'line' if len(lines) == 1 else 'lines'} {listing(list(lines))}: {why}")
    if advice.other_kind:
        note(f"{file}: looks like the file of a {'broker' if advice.kind is Kind.CONSUMER else 'consumer'}")
    note(f"{file}: {verdict(advice)}")
