"""`groupscope notices`: check the file that says who is sent notices, and send a test notice."""

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.shared.options import Json, WithArguments, new_command
from app.cli.shared.output import emit, emit_json
from app.ui.formats import plural
from lag.errors import ConfigError

if TYPE_CHECKING:
    from app.notices.targets import Target

VARIABLE = "GROUPSCOPE_NOTICES"
WITHIN_S = 120.0
"""How long all targets may take: one that sends a byte now and then would take forever."""

command = new_command(name="notices", help="Check the notices file, and send a test notice.", no_args_is_help=True)


@dataclass(slots=True)
class _Result:
    target: str
    kind: str
    error: str | None


@command.command(cls=WithArguments)
def check(file: Annotated[Path, typer.Argument(metavar="FILE", help="The notices file.")], json: Json = False) -> None:
    """Check a notices file; nothing is sent.

    Templates are tried with a sample. Exit code 1 if the file is invalid.
    """
    from app.notices.targets import load_notices

    targets = load_notices(file).targets
    if json:
        emit_json({"ok": True, "targets": [{"name": each.name, "kind": each.kind} for each in targets]})
        return
    emit(f"{file}: ok, {plural(len(targets), 'target')}{'' if targets else ': nobody is sent notices'}")


@command.command("test", cls=WithArguments)
def send_test(
    target: Annotated[
        str | None, typer.Argument(metavar="TARGET", help="The name of a target; without it, all are tried.")
    ] = None,
    notices: Annotated[
        Path | None, typer.Option(metavar="FILE", help=f"The notices file; by default that of {VARIABLE}.")
    ] = None,
    json: Json = False,
) -> None:
    """Send a notice that is marked as a test, and its end.

    Thresholds, patterns and quiet hours are ignored. Exit code 1 if a target did not accept it.
    """
    from app.notices.targets import load_notices

    loaded = load_notices(file := _file(notices))
    if not loaded.targets:
        raise ConfigError(f"{file} has no target", "Add one, for example under `webhook` or `slack`")
    chosen = loaded.targets if target is None else (loaded.target(target),)
    results = _tried(chosen, loaded.dashboard)
    if json:
        emit_json({"targets": [{"name": r.target, "kind": r.kind, "error": r.error} for r in results]})
    else:
        for result in results:
            emit(f"{result.target} ({result.kind}): {result.error or 'sent'}")
    if any(result.error for result in results):
        raise typer.Exit(1)


def _file(given: Path | None) -> Path:
    named = given or os.environ.get(VARIABLE)
    if not named:
        raise ConfigError("No notices file is given", f"Give --notices FILE, or set {VARIABLE}")
    return Path(named)


def _tried(targets: "tuple[Target, ...]", dashboard: str | None) -> list[_Result]:
    """The result of each target; they are tried at the same time."""
    results = [_Result(each.name, each.kind, f"not finished after {WITHIN_S:g} s") for each in targets]
    threads = [
        threading.Thread(target=_try, args=(each, dashboard, result), daemon=True)
        for each, result in zip(targets, results, strict=True)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + WITHIN_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return results


def _try(target: "Target", dashboard: str | None, result: _Result) -> None:
    from app.notices.messages import Undelivered
    from app.notices.templates import InvalidTemplate
    from app.notices.trial import send_trial

    try:
        send_trial(target, dashboard)
        result.error = None
    except (Undelivered, InvalidTemplate) as error:
        result.error = str(error)
    except Exception as error:  # noqa: BLE001 - its text may have a secret
        result.error = f"internal error ({type(error).__name__})"
