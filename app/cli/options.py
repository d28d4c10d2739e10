"""The flags that several commands have, and how a command with arguments shows its help."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

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
HistoryPath = Annotated[
    str,
    typer.Option("--history", metavar="PATH", help="Where the Delta tables are: a folder, or an object store's URL."),
]


class WithArguments(TyperCommand):
    """Its help names arguments without their Python types."""

    def get_help(self, ctx: Any) -> str:
        return re.sub(r" <[^>\n]+>", lambda found: " " * len(found[0]), super().get_help(ctx))


def new_command(**options: Any) -> typer.Typer:
    """A command, or a family of commands, with the manners of all of ours: plain help, plain errors."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **options)
