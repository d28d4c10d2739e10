"""`groupscope reset`: plan, apply, verify and undo a change of a group's committed offsets."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from app.cli.reset_text import print_plan, print_results
from app.cli.shared.auditing import Audit, account, audit_log
from app.cli.shared.options import Bootstrap, Config, Deadline, Json, WithArguments, new_command
from app.cli.shared.output import emit, emit_json, note, report_error
from app.documents.reset import applied_document, results_document
from lag.audit.reset_events import Change
from lag.cluster.connection.settings import Settings, load_settings
from lag.cluster.group_client import GroupClient, open_group_client
from lag.errors import ResetRefused, WritesNotAllowed
from lag.reset.applying.apply import Applied, apply_plan, verify_plan
from lag.reset.applying.permission import check_writes
from lag.reset.applying.verify import Verified
from lag.reset.asked.specification import Specification
from lag.reset.asked.specification_text import Asked, NotOneTarget, specification
from lag.reset.files.plan_document import plan_document, plan_text
from lag.reset.files.plan_file import YAML_ENDINGS, load_plan, write_new
from lag.reset.files.undo_files import UndoFiles, undo_folder
from lag.reset.model import Action, Plan
from lag.reset.planning.kafka_tool import KafkaTool
from lag.reset.planning.make_plan import Request, plan_group_deletion, plan_member_removal, plan_offsets
from lag.times import wall_clock_ms

PARTIAL, NOT_ALLOWED = 3, 4
"""Exit codes: some partitions could not be planned or are not done; writes are not allowed."""

command = new_command(
    name="reset", help="Plan, apply, verify and undo a change of a group's offsets.", no_args_is_help=True
)

Group = Annotated[str, typer.Argument(metavar="GROUP", help="The group.")]
PlanPath = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan of groupscope reset plan.")]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the plan to this new file: .json, .yaml or .yml.")
]
AllowWrites = Annotated[
    bool, typer.Option("--allow-writes", help="Allow groupscope to change the cluster; without it, nothing is written.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@command.command(cls=WithArguments)
def plan(
    group: Group,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC", help="A topic, TOPIC:0,1, or a pattern of topics. Repeatable."),
    ] = None,
    all_topics: Annotated[
        bool, typer.Option("--all-topics", help="All topics for which the group has committed offsets.")
    ] = False,
    to_earliest: Annotated[bool, typer.Option("--to-earliest", help="To the log start.")] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", help="To the log end.")] = False,
    to_current: Annotated[
        bool, typer.Option("--to-current", help="To the committed offset, else the log end.")
    ] = False,
    to_datetime: Annotated[
        str | None, typer.Option(metavar="TIME", help="To the first record from this time on: ISO 8601, or epoch ms.")
    ] = None,
    by_duration: Annotated[
        str | None, typer.Option(metavar="DURATION", help="To a time before now: 90m, 1h30m, 2d, PT1H.")
    ] = None,
    shift_by: Annotated[int | None, typer.Option(metavar="N", help="By n offsets; back if negative.")] = None,
    to_offset: Annotated[int | None, typer.Option(metavar="OFFSET", help="To this offset in every partition.")] = None,
    from_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="To the offsets in a plan, or in a CSV file (topic,partition,offset)."),
    ] = None,
    from_group: Annotated[str | None, typer.Option(metavar="GROUP", help="To the offsets of another group.")] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC:PARTITION:OFFSET", help="Skip the record, or FIRST-LAST. Repeatable."),
    ] = None,
    delete_offsets: Annotated[bool, typer.Option("--delete-offsets", help="Delete the committed offsets.")] = False,
    show_value: Annotated[bool, typer.Option("--show-value", help="Show the values of skipped records too.")] = False,
    out: Out = None,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Plan a change of committed offsets; nothing is written to the cluster.

    Exit code 3 if some partitions cannot be planned.
    """
    asked = Asked(
        to_earliest, to_latest, to_current, to_datetime, by_duration, shift_by, to_offset, from_file, from_group,
        tuple(skip or ()), delete_offsets,
    )  # fmt: skip
    wanted = _target(asked, group)
    request = Request(group, wanted, tuple(topic or ()), all_topics, show_value)
    with _connected(bootstrap_server, config, deadline) as (client, settings):
        _planned(plan_offsets(client, request, _tool(settings, config)), out, json)


@command.command(cls=WithArguments)
def delete_group(
    group: Group,
    out: Out = None,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Plan the deletion of a group with all its offsets; nothing is written to the cluster."""
    with _connected(bootstrap_server, config, deadline) as (client, settings):
        _planned(plan_group_deletion(client, group, _tool(settings, config)), out, json)


@command.command(cls=WithArguments)
def remove_member(
    group: Group,
    instance_id: Annotated[str, typer.Option(metavar="ID", help="The group.instance.id of the static member.")],
    out: Out = None,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Plan the removal of a static member that does not come back; nothing is written to the cluster."""
    with _connected(bootstrap_server, config, deadline) as (client, _):
        _planned(plan_member_removal(client, group, instance_id), out, json)


@command.command(cls=WithArguments)
def apply(
    file: PlanPath,
    allow_writes: AllowWrites = False,
    yes: Yes = False,
    audit: Audit = None,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Apply a plan: check that the group is as the plan says, store an undo plan, write, read back.

    Exit code 3 if some partitions are not done, 4 if writes are not allowed.
    """
    with _allowing(allow_writes, json):
        _apply(load_plan(file), file, allow_writes, yes, (bootstrap_server, config, deadline), audit, json)


@command.command(cls=WithArguments)
def undo(
    file: Annotated[Path, typer.Argument(metavar="UNDO_PLAN", help="The undo plan that apply stored.")],
    allow_writes: AllowWrites = False,
    yes: Yes = False,
    audit: Audit = None,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Apply an undo plan: restore every offset to its previous value.

    Exit code 3 if some partitions are not done, 4 if writes are not allowed.
    """
    made = load_plan(file)
    if made.undoes is None:
        raise ResetRefused(f"{file} is not an undo plan", "Name the file that groupscope reset apply stored")
    with _allowing(allow_writes, json):
        _apply(made, file, allow_writes, yes, (bootstrap_server, config, deadline), audit, json)


@command.command(cls=WithArguments)
def verify(
    file: PlanPath,
    bootstrap_server: Bootstrap = None,
    config: Config = None,
    deadline: Deadline = 10.0,
    json: Json = False,
) -> None:
    """Show which partitions of a plan are done; nothing is written to the cluster.

    Exit code 3 if some are not.
    """
    made = load_plan(file)
    with _connected(bootstrap_server, config, deadline) as (client, _):
        found = verify_plan(made, client)
    if json:
        emit_json(results_document(made, found))
    else:
        _print_verified(made, found)
    _exit_if(not found.is_done, PARTIAL)


def _target(asked: Asked, group: str) -> Specification:
    """Where the offsets go. None or several targets are wrong usage, exit code 2."""
    try:
        return specification(asked, group, wall_clock_ms())
    except NotOneTarget as error:
        raise typer.BadParameter(str(error)) from None


@contextmanager
def _connected(bootstrap: str | None, config: Path | None, deadline_s: float) -> Iterator[tuple[GroupClient, Settings]]:
    settings = load_settings(bootstrap, config, os.environ)
    with closing(open_group_client(settings, deadline_s)) as client:
        yield client, settings


def _tool(settings: Settings, config: Path | None) -> KafkaTool:
    return KafkaTool(settings.servers.replace(" ", ""), None if config is None else str(config))


def _planned(made: Plan, out: Path | None, json: bool) -> None:
    if out is not None:
        write_new(out, plan_text(made, out.suffix in YAML_ENDINGS))
    if json:
        emit_json(plan_document(made))
    else:
        print_plan(made)
        emit()
        emit(_next_step(made, out))
    _exit_if(any(row.action is Action.NONE for row in made.partitions), PARTIAL)


def _next_step(made: Plan, out: Path | None) -> str:
    if out is None:
        return "Nothing is stored: add --out FILE, review the file, then groupscope reset apply FILE --allow-writes"
    return f"Stored in {out}. Review it, then: groupscope reset apply {out} --allow-writes"


@contextmanager
def _allowing(allow_writes: bool, json: bool) -> Iterator[None]:
    """Exit code 4 where writes are not allowed."""
    try:
        check_writes(allow_writes, read_only=False)
        yield
    except WritesNotAllowed as error:
        report_error(error, json)
        raise typer.Exit(NOT_ALLOWED) from None


def _apply(
    made: Plan,
    file: Path,
    allow_writes: bool,
    yes: bool,
    cluster: tuple[str | None, Path | None, float],
    audit: Path | None,
    json: bool,
) -> None:
    log = audit_log(audit)
    with _connected(*cluster) as (client, settings):
        check_writes(allow_writes, settings.read_only)
        if not yes:
            _confirm(made)
        files = UndoFiles(file, undo_folder(os.environ))
        change = Change(made, account(), "", settings.name, str(file))
        applied = apply_plan(made, client, files, wall_clock_ms, lambda event: log.append(change.step(event)))
    if json:
        emit_json(applied_document(applied, files.plan, files.csv))
    else:
        _print_applied(applied, files, _tool(settings, cluster[1]))
    _exit_if(not applied.is_done, PARTIAL)


def _confirm(made: Plan) -> None:
    """Raises ResetRefused if nobody can be asked, or the name is not typed."""
    if not sys.stdin.isatty():
        raise ResetRefused("The group's name must be typed to confirm, and this is not a terminal", "Add --yes")
    print_plan(made)
    if typer.prompt(f"Type the name of the group to apply this to {made.group_id}", err=True) != made.group_id:
        raise ResetRefused("That is not the group's name: nothing was written")


def _print_applied(applied: Applied, files: UndoFiles, tool: KafkaTool) -> None:
    print_results(applied.results)
    if applied.error:
        note(f"error: {applied.error}")
    elif not applied.results:
        emit(f"Done: {applied.plan.specification}")
    if files.plan is not None:
        emit()
        emit(f"Undo: groupscope reset undo {files.plan} --allow-writes")
    if files.csv is not None:
        emit(f"  or: {tool.from_file(applied.plan.group_id, str(files.csv))}")


def _print_verified(made: Plan, found: Verified) -> None:
    print_results(found.results)
    if found.error:
        note(f"Not done: {found.error}")
    elif not found.results:
        emit(f"Done: {made.specification}")


def _exit_if(failed: bool, code: int) -> None:
    if failed:
        raise typer.Exit(code)
