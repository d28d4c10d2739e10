"""`groupscope assign`: the generations of a scenario under one or more assignors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer

from app.cli.difference import clipped, lines
from app.cli.files import read_or_refuse
from app.cli.options import Json, Plugins, WithArguments, new_command
from app.cli.output import emit, emit_json, note, printable
from app.plugins import fold_any
from assignors.layout import read_all
from assignors.model import AssignorError
from assignors.whatif.comparison import compatible_assignors
from assignors.whatif.events import Scenario
from assignors.whatif.generations import Generation
from assignors.whatif.moves import Move, MoveKind
from assignors.whatif.quality import Quality

ALL = "all"

Outcome = Sequence[Generation] | AssignorError


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
    json: Json = False,
) -> None:
    """Predict who gets which partition, step by step.

    Runs the events of a scenario through one or more assignors and prints what changes. No cluster is contacted.
    """
    its, plugins = read_or_refuse(scenario), plugin or ()
    names = wanted(its, assignor or (), plugins)
    outcomes = {name: _outcome(its, name, plugins, plugin_timeout) for name in names}
    if json:
        emit_json({"assignors": {name: _document(outcome) for name, outcome in outcomes.items()}})
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


def _outcome(scenario: Scenario, name: str, plugins: Sequence[str], plugin_timeout_s: float) -> Outcome:
    try:
        return fold_any(scenario, name, plugins, plugin_timeout_s)
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


def _document(outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, AssignorError):
        return {"error": str(outcome)}
    return {"generations": list(map(_generation, outcome))}


def _generation(made: Generation) -> dict[str, Any]:
    changed = made.moves.of(*(kind for kind in MoveKind if kind is not MoveKind.KEPT))
    return {
        "number": made.number,
        "event": made.event,
        "assignment": read_all(made.after.by_member),
        "moves": list(map(_move, changed)),
        "quality": _quality(made.quality),
    }


def _move(move: Move) -> dict[str, Any]:
    topic, partition = move.tp
    return {
        "topic": topic,
        "partition": partition,
        "source": move.source,
        "target": move.target,
        "kind": move.kind,
    }


def _quality(quality: Quality) -> dict[str, Any]:
    return {key: _finite(value) for key, value in asdict(quality).items()}


def _finite(value: Any) -> Any:
    """JSON has no infinity: a drain that never ends is null, with its reason beside it."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
