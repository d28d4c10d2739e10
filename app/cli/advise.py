"""`groupscope advise`: what is to be said about a properties file."""

from pathlib import Path
from typing import Any

import typer

from app.cli.output import emit, emit_json, note
from app.ui.formats import listing
from app.ui.properties_advice import Advised, Kind, advise, row, verdict
from assignors.advice import Severity, Work
from lag.cluster.properties import read_properties


def run(file: Path, kind: Kind, work: Work, as_json: bool) -> None:
    """Print every finding, a line each; exit code 1 when Kafka would refuse something.

    Raises ConfigError when the file cannot be read, or holds no setting.
    """
    advised = advise(read_properties(file), kind, work)
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
        note(f"{file}: looks like the file of a {'broker' if advised.kind is Kind.CONSUMER else 'consumer'}")
    note(f"{file}: {verdict(advised)}")
