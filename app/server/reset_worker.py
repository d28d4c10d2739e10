"""The process of a `ResetRun`: does one task and prints its document, or {"cause": …, "hint": …, "refused": …}."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from app.documents.reset import applied_document, results_document
from app.processes.child import end_with_parent
from app.server.reset_task import Asked, FileRequest, GroupDeletion, MemberRemoval, ResetTask, Step, read_task
from lag.cluster.connection.settings import Settings, load_settings
from lag.cluster.group_client import GroupClient, open_group_client
from lag.errors import GroupscopeError, ResetRefused, WritesNotAllowed
from lag.reset.applying.apply import apply_plan, verify_plan
from lag.reset.applying.permission import check_writes
from lag.reset.asked.offsets_file import offsets_file
from lag.reset.files.plan_document import plan_document, plan_text
from lag.reset.files.plan_file import write_new
from lag.reset.files.undo_files import UndoFiles, make_undo_folder
from lag.reset.model import Plan
from lag.reset.planning.kafka_tool import KafkaTool
from lag.reset.planning.make_plan import Request, plan_group_deletion, plan_member_removal, plan_offsets
from lag.times import iso_time, wall_clock_ms


def main() -> None:
    """Do the task on stdin."""
    task = read_task()
    end_with_parent()
    try:
        answer: Mapping[str, Any] = _answer(task)
    except GroupscopeError as error:
        answer = {
            "cause": error.cause,
            "hint": error.hint,
            "refused": isinstance(error, (ResetRefused, WritesNotAllowed)),
        }
    print(json.dumps(answer))  # noqa: T201


def _answer(task: ResetTask) -> Mapping[str, Any]:
    env = os.environ if task.cluster.from_environment else {}
    settings = load_settings(task.cluster.bootstrap_servers, task.cluster.config, env)
    with closing(open_group_client(settings)) as client:
        if task.request is not None:
            return plan_document(_plan(task.request, client, _tool(task)))
        assert task.plan is not None
        if task.step is Step.APPLY:
            return _apply(task, task.plan, client, settings)
        return results_document(task.plan, verify_plan(task.plan, client))


def _tool(task: ResetTask) -> KafkaTool:
    config = task.cluster.config
    return KafkaTool(task.cluster.bootstrap_servers, None if config is None else str(config))


def _plan(asked: Asked, client: GroupClient, tool: KafkaTool) -> Plan:
    match asked:
        case GroupDeletion(group_id):
            return plan_group_deletion(client, group_id, tool)
        case MemberRemoval(group_id, instance_id):
            return plan_member_removal(client, group_id, instance_id)
        case FileRequest(group_id, name, data, topics):
            return plan_offsets(client, Request(group_id, offsets_file(data, name, group_id), topics), tool)
    return plan_offsets(client, asked, tool)


def _apply(task: ResetTask, plan: Plan, client: GroupClient, settings: Settings) -> Mapping[str, Any]:
    check_writes(task.allow_writes, settings.read_only)
    assert task.folder is not None
    file = plan_path(task.folder, plan)
    write_new(file, plan_text(plan))
    files = UndoFiles(file, task.folder)
    applied = apply_plan(plan, client, files, wall_clock_ms)
    return {**applied_document(applied, files.plan, files.csv), "plan": str(file)}


def plan_path(folder: Path, plan: Plan) -> Path:
    """A new file for a plan that is applied: the group's name and the time. Raises ConfigError."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", plan.group_id)[:80]
    moment = iso_time(wall_clock_ms()).replace(":", "")
    return make_undo_folder(folder) / f"{name}-{moment}.json"


if __name__ == "__main__":
    main()
