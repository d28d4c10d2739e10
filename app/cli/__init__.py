"""`groupscope`: the command line, one module for each command; `shared` holds what several of them use.

Results go to stdout, one JSON document with --json; progress and errors go to stderr. Exit code 0: ok, 1: a problem in
the request, 2: wrong usage; `snapshot --strict` and `reset` have further ones (docs/commands.md, docs/reset.md).
"""

import logging
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperGroup

from app.cli.shared.output import report_error
from lag.errors import GroupscopeError

COMMANDS = {
    "up": "Start a real Kafka with demo groups, and the dashboard.",
    "serve": "Serve the dashboard of your clusters.",
    "mcp": "Answer the tool calls of agents (Model Context Protocol).",
    "snapshot": "Read every group once: state, members, offsets and lag.",
    "reset": "Plan, apply, verify and undo a change of a group's offsets.",
    "doctor": "Check what groupscope needs, and say how to fix it.",
    "assign": "Predict who gets which partition, step by step.",
    "simulate": "Simulate a scenario second by second.",
    "advise": "Check a properties file of a consumer or a broker.",
    "sweep": "Try every assignor and number of members on every group.",
    "scenario": "Check scenario files; print their schema, or examples.",
    "offsets": "Read records of __consumer_offsets.",
    "pipeline": "Record the history of a cluster and maintain it (needs Spark).",
    "export": "Print files for Grafana, Prometheus and the Prometheus operator.",
    "token": "Create, list and revoke API tokens.",
    "notices": "Check the notices file, and send a test notice.",
    "jars": "Download and verify the jars of Kafka and Spark.",
}
"""Each command, its module under `app.cli`, and the sentence that the help shows."""


class LazyCommands(TyperGroup):
    """Imports the module of a command only when that command runs: `--help` answers at once."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        return typer.main.get_command(import_module(f"app.cli.{cmd_name}").command)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


cli = typer.Typer(
    name="groupscope",
    cls=LazyCommands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@cli.callback()
def groupscope() -> None:
    """See, predict and explain Kafka consumer groups."""


def main() -> None:
    """Entry point: errors that we raise on purpose become one line and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter of a group's name
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        cli()
    except GroupscopeError as error:
        report_error(error, as_json="--json" in sys.argv)
        sys.exit(1)
