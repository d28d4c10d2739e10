"""`groupscope token`: the tokens of programs that query a server with a login."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.shared.auditing import Audit, account, audit_log
from app.cli.shared.options import Json, new_command
from app.cli.shared.output import emit, emit_json, emit_table, note
from app.server.access import tokens
from app.server.access.visitor import EVERYTHING, Role
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import AuditLog
from lag.errors import ConfigError
from lag.times import from_ms, wall_clock_ms

DAY_MS = 86_400_000
MOST_DAYS = 3650

File = Annotated[
    Path | None,
    typer.Option("--tokens", metavar="FILE", help="The file of tokens, as for `serve --tokens`.", show_default=False),
]


command = new_command(help="Create, list and revoke API tokens.", no_args_is_help=True)


@command.command()
def create(
    name: Annotated[str, typer.Option(metavar="NAME", help="What the token is for, such as prometheus.")],
    role: Annotated[Role, typer.Option(help="What it may do.")] = Role.VIEWER,
    group: Annotated[
        list[str] | None,
        typer.Option("--groups", metavar="PATTERN", help="Only these consumer groups, such as payments-*. Repeatable."),
    ] = None,
    cluster: Annotated[
        list[str] | None, typer.Option("--clusters", metavar="PATTERN", help="Only these clusters. Repeatable.")
    ] = None,
    expires: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS", min=1, max=MOST_DAYS, help="Days until it expires; without this option it never expires."
        ),
    ] = None,
    file: File = None,
    audit: Audit = None,
    json: Json = False,
) -> None:
    """Create a token. It is shown once: the file has only its hash."""
    path, now_ms = _path(file), wall_clock_ms()
    expires_ms = None if expires is None else now_ms + expires * DAY_MS
    log = audit_log(audit)
    made = tokens.create(
        path, name, role, cluster or EVERYTHING, group or EVERYTHING, now_ms=now_ms, expires_ms=expires_ms
    )
    _record(log, f"Token {made.token.id} ({name}) was created for role {role}", now_ms)
    if json:
        emit_json({**_document(made.token), "token": made.secret})
        return
    note(f"The token {made.token.id} is in {path}. It is shown only now:")
    emit(made.secret)


@command.command("list")
def list_tokens(file: File = None, json: Json = False) -> None:
    """List the tokens, without their secrets."""
    found = tokens.load_tokens(_path(file)).tokens
    if json:
        emit_json({"tokens": [_document(token) for token in found]})
        return
    now_ms = wall_clock_ms()
    rows = [
        (
            token.id,
            token.name,
            token.role.value,
            " ".join(token.clusters),
            " ".join(token.groups),
            _expiry(token, now_ms),
        )
        for token in found
    ]
    emit_table(("ID", "NAME", "ROLE", "CLUSTERS", "GROUPS", "EXPIRES"), rows)


@command.command()
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID|NAME", help="The token.")],
    file: File = None,
    audit: Audit = None,
    json: Json = False,
) -> None:
    """Revoke a token: the server refuses it from the next request on."""
    log = audit_log(audit)
    gone = tokens.revoke(_path(file), token)
    _record(log, f"Token {gone.id} ({gone.name}) was revoked", wall_clock_ms())
    if json:
        emit_json({"revoked": _document(gone)})
        return
    emit(f"Revoked {gone.id} ({gone.name})")


def _path(file: Path | None) -> Path:
    """The file of the option, else of the environment. Raises ConfigError."""
    if file is not None:
        return file
    if from_environment := os.environ.get("GROUPSCOPE_TOKENS"):
        return Path(from_environment)
    raise ConfigError("No token file is given", "Give --tokens FILE, or set GROUPSCOPE_TOKENS")


def _record(log: AuditLog, detail: str, now_ms: int) -> None:
    log.append(AuditEvent(now_ms, "token", Outcome.OK, account(), detail=detail))


def _document(token: tokens.Token) -> dict[str, Any]:
    return token.model_dump(mode="json", exclude={"sha256"})


def _expiry(token: tokens.Token, now_ms: int) -> str:
    if token.expires_ms is None:
        return "never"
    if token.has_expired(now_ms):
        return "expired"
    return f"{from_ms(token.expires_ms):%Y-%m-%d %H:%MZ}"
