"""Options that several commands have."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from app.exports.links import DEFAULT_URL
from app.http_urls import dashboard_url
from app.log_format import LogFormat
from lag.errors import ConfigError

STDIN = "-"
"""As FILE: standard input."""

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout, for programs.")]
JsonLine = Annotated[bool, typer.Option("--json", help="Print one line of JSON on stdout once everything is ready.")]
Bootstrap = Annotated[
    str | None,
    typer.Option("--bootstrap-server", metavar="HOST:PORT", help="Brokers to connect to first, separated by commas."),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A client.properties file, with TLS, SASL and other settings."),
]
Deadline = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.5, max=300, help="How long to wait for a broker that does not answer.")
]
Port = Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port of the dashboard; 0 takes a free one.")]
Plugins = Annotated[
    list[str] | None,
    typer.Option("--plugin", metavar="MODULE:CLASS", help="Your own assignor, beside Kafka's. Repeatable."),
]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Open the dashboard in a browser, if this is a desktop.")
]
Logs = Annotated[
    LogFormat,
    typer.Option(
        "--log-format", metavar="text|json", help="How the log on stderr is written: text, or one JSON object per line."
    ),
]
HistoryPath = Annotated[
    str,
    typer.Option(
        "--history", metavar="PATH", help="Where the Delta tables are: a folder, or a URL of an object store."
    ),
]


def checked_dashboard(option: str, url: str) -> str:
    """The address of the dashboard that this option gives, without a slash at the end. Raises ConfigError."""
    try:
        return dashboard_url(url)
    except ValueError as error:
        raise ConfigError(f"{option}: {error}", f"Give for example {option} {DEFAULT_URL}") from None


class WithArguments(TyperCommand):
    """Its help names arguments without their Python types."""

    def get_help(self, ctx: Any) -> str:
        return re.sub(r" <[^>\n]+>", lambda found: " " * len(found[0]), super().get_help(ctx))


def new_command(**options: Any) -> typer.Typer:
    """A command, or a family of commands, with plain help and plain errors."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **options)
