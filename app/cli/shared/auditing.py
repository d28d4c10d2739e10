"""The audit log of commands: where it is, and who runs the command."""

import os
from getpass import getuser
from pathlib import Path
from typing import Annotated

import typer

from lag.audit.log import AuditLog

Audit = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="The audit log, as `serve --audit` has it.", show_default=False),
]


def audit_log(file: Path | None) -> AuditLog:
    """The audit log of the option, else of the environment. Raises ConfigError if it cannot be written."""
    from_environment = os.environ.get("GROUPSCOPE_AUDIT")
    log = AuditLog(file or (Path(from_environment) if from_environment else None))
    log.check()
    return log


def account() -> str:
    """Who runs the command."""
    try:
        return getuser()
    except (KeyError, OSError):  # an account without a name, as in a container
        return f"uid {os.getuid()}"
