"""`groupscope scenario`: the schema of scenario files, checks of your files, and examples to start from."""

from collections.abc import Sequence
from dataclasses import asdict
from json import dumps
from typing import Annotated, Any

import typer

from app.cli.shared.files import placed, read
from app.cli.shared.options import Json, WithArguments, new_command
from app.cli.shared.output import emit, emit_json, emit_table, emit_text, note
from app.ui.formats import plural
from assignors import load_scenario
from assignors import scenario as scenario_file
from assignors.scenario import Problem, ScenarioError, examples
from assignors.scenario.dump import document
from assignors.spelling import suggestion
from lag.errors import GroupscopeError

command = new_command(
    name="scenario", help="Check scenario files; print their schema, or examples.", no_args_is_help=True
)


@command.command()
def schema(json: Json = False) -> None:
    """Print the JSON Schema of scenario files."""
    if json:
        emit_json(scenario_file.schema())
    else:
        emit_text(dumps(scenario_file.schema(), indent=2))


@command.command(cls=WithArguments)
def check(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Scenario files; - reads stdin.")],
    json: Json = False,
) -> None:
    """Check scenario files; a line for each problem.

    Each line is FILE:LINE: path: sentence. Exit code 1 if a file is invalid; warnings do not count.
    """
    found = {file: _checked(file) for file in files}
    failed = [file for file, (errors, _) in found.items() if errors]
    if json:
        emit_json({"ok": not failed, "files": [_document(file, *problems) for file, problems in found.items()]})
    else:
        for file, (errors, warnings) in found.items():
            _print(file, errors, warnings)
    if failed:
        raise typer.Exit(1)


@command.command(cls=WithArguments)
def example(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which example; without it, all are listed.")
    ] = None,
    json: Json = False,
) -> None:
    """List the bundled examples, or print one."""
    files = examples()
    if name is None:
        _list([(name, load_scenario(path).description) for name, path in files.items()], json)
    elif name not in files:
        raise GroupscopeError(f"No example is named {name!r}", suggestion(name, files).strip())
    elif json:
        emit_json(document(load_scenario(files[name])))
    else:
        emit_text(files[name].read_text(encoding="utf-8"))


def _checked(file: str) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """Errors and warnings."""
    try:
        return (), read(file).warnings
    except ScenarioError as error:
        return error.problems, ()


def _document(file: str, errors: Sequence[Problem], warnings: Sequence[Problem]) -> dict[str, Any]:
    return {
        "file": file,
        "ok": not errors,
        "errors": list(map(asdict, errors)),
        "warnings": list(map(asdict, warnings)),
    }


def _print(file: str, errors: Sequence[Problem], warnings: Sequence[Problem]) -> None:
    for problem in errors:
        emit(placed(file, problem))
    for problem in warnings:
        emit(placed(file, Problem(problem.line, problem.path, f"warning: {problem.message}")))
    note(f"{file}: {plural(len(errors), 'problem') if errors else 'ok'}")


def _list(described: Sequence[tuple[str, str]], as_json: bool) -> None:
    if as_json:
        emit_json({"examples": [{"name": name, "description": text} for name, text in described]})
        return
    emit_table(("EXAMPLE", "WHAT IT SHOWS"), described)
