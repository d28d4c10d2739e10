"""`groupscope assign`: the generations of a scenario under one or more assignors."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from app.cli.shared.difference import clipped, lines
from app.cli.shared.files import read_or_refuse
from app.cli.shared.options import Json, Plugins, WithArguments, new_command
from app.cli.shared.output import emit, emit_json, note, printable
from app.documents.whatif import Outcome, outcome_document
from app.plugins import MEMORY_MB, fold_any
from app.whatif_limits import TIMES_FOR_COMMAND, excess
from assignors.model import AssignorError
from assignors.whatif.comparison import compatible_assignors
from assignors.whatif.events import Scenario
from lag.errors import ConfigError

ALL = "all"

command = new_command()


@command.command(cls=WithArguments)
def assign(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file, YAML or JSON; - reads it from stdin.")
    ],
    assignor: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Instead of the scenario's own; `all` runs every suitable one. Repeatable."),
    ] = None,
    plugin: Plugins = None,
    plugin_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=3600, help="Time limit for your own assignor.")
    ] = 30.0,
    plugin_memory: Annotated[
        int,
        typer.Option(
            metavar="MB",
            min=50,
            max=1_000_000,
            envvar="GROUPSCOPE_PLUGIN_MEMORY_MB",
            help="Memory that your own assignor may allocate.",
        ),
    ] = MEMORY_MB,
    json: Json = False,
) -> None:
    """Predict who gets which partition, step by step.

    Runs the events of a scenario through one or more assignors and prints what changes. No cluster is contacted.
    """
    its, plugins = read_or_refuse(scenario), plugin or ()
    if (size := excess(its, TIMES_FOR_COMMAND)) is not None:
        raise ConfigError(f"{size} are too many", "Remove events, or divide them into several scenarios")
    names = wanted(its, assignor or (), plugins)
    outcomes = {name: _outcome(its, name, plugins, plugin_timeout, plugin_memory) for name in names}
    if json:
        emit_json({"assignors": {name: outcome_document(outcome) for name, outcome in outcomes.items()}})
    else:
        _print(its, outcomes)
    if any(isinstance(outcome, AssignorError) for outcome in outcomes.values()):
        raise typer.Exit(1)


def wanted(scenario: Scenario, assignors: Sequence[str], plugins: Sequence[str]) -> list[str]:
    """The assignors to run, each once: those named, `all` that suit it, or the scenario's own; then the plugins."""
    named = [
        name
        for asked in assignors or [scenario.assignor]
        for name in (compatible_assignors(scenario) if asked == ALL else [asked])
    ]
    return list(dict.fromkeys([*named, *plugins]))


def _outcome(scenario: Scenario, name: str, plugins: Sequence[str], plugin_timeout_s: float, memory_mb: int) -> Outcome:
    try:
        return fold_any(scenario, name, plugins, plugin_timeout_s, memory_mb=memory_mb)
    except AssignorError as error:
        return error


def _print(scenario: Scenario, outcomes: Mapping[str, Outcome]) -> None:
    for name, outcome in outcomes.items():
        if isinstance(outcome, AssignorError):
            note(f"error: {name}: {outcome}")
            continue
        emit(clipped(printable(f"{scenario.name} with {name}")))
        for generation in outcome:
            for line in lines(generation):
                emit(line)
