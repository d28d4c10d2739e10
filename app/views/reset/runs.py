"""The step that this session runs, and what the last ones gave: a plan, and the results of applying or verifying it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from app.server import source
from app.server.access.visitor import Role
from app.server.reset_audit import AuditedChange
from app.server.reset_task import Asked, ResetRun, ResetTask, Step
from app.server.settings import ClusterSettings
from app.ui import formats, state
from app.views.reset.link import Choice
from lag.errors import ConfigError, GroupscopeError, ResetRefused
from lag.reset.files.plan_file import plan_from_document
from lag.reset.model import Plan
from lag.reset.planning.make_plan import Request

LOOK_EVERY = "1s"
WORDS = {
    Step.PLAN: "Reading the group and its logs…",
    Step.APPLY: "Applying the plan…",
    Step.VERIFY: "Reading the group…",
}
_RUN, _PLAN, _CHOICE = "_reset_run", "_reset_plan", "_reset_choice"
_RESULT, _ERROR = "_reset_result", "_reset_error"


@dataclass(frozen=True, slots=True)
class MadePlan:
    """A plan, the cluster that it is for, and the choice that it was made from; an undo plan has none."""

    cluster: str | None
    plan: Plan
    choice: Choice | None = None


def plan() -> Plan | None:
    """The plan that is shown, if it is for the group and cluster that are chosen."""
    found = _made()
    return None if found is None else found.plan


def _made() -> MadePlan | None:
    found: MadePlan | None = st.session_state.get(_PLAN)
    if found is None or found.cluster != state.cluster() or found.plan.group_id != state.url("group"):
        return None
    return found


def is_outdated(choice: Choice) -> bool:
    """Whether the plan that is shown was made from another choice."""
    found = _made()
    return found is not None and found.choice not in (None, choice)


def result() -> dict[str, Any] | None:
    """The document of the last results for the plan that is shown."""
    found: dict[str, Any] | None = st.session_state.get(_RESULT)
    return found if plan() is not None else None


def start_plan(choice: Choice) -> None:
    """Make a new plan; what was shown before goes. An error is kept for `last_error`."""
    _forget(_PLAN, _RESULT)
    try:
        wanted = choice.asked(state.now_ms())
        _check_seen(*choice.groups)
        _start(ResetTask(Step.PLAN, _cluster(), _for_visitor(wanted)))
        st.session_state[_CHOICE] = choice
    except ConfigError as error:
        st.session_state[_ERROR] = error


def _for_visitor(wanted: Asked) -> Asked:
    """Keys and headers of records are data of the topic, which viewers of its groups may not read."""
    if not isinstance(wanted, Request):
        return wanted
    return replace(wanted, with_records=source.current().may(Role.OPERATOR, state.cluster() or "", wanted.group_id))


def start(step: Step, made: Plan) -> None:
    """Apply or verify the plan that is shown."""
    settings = source.current().settings
    try:
        _check_seen(made.group_id)
        task = ResetTask(step, _cluster(), None, made, settings.allow_writes, settings.undo_folder)
        if step is Step.APPLY:
            _apply(task, made)
        else:
            _start(task)
    except GroupscopeError as error:
        st.session_state[_ERROR] = error


def _apply(task: ResetTask, made: Plan) -> None:
    change = AuditedChange(source.current(), task.cluster.name, made)
    change.start()
    try:
        _start(task, change.end)
    except ConfigError as error:
        change.not_started(error)
        raise


def _check_seen(*group_ids: str) -> None:
    """Raises ConfigError for a group that the visitor's roles do not cover, whether it exists or not."""
    for group_id in group_ids:
        if not source.current().sees(state.cluster() or "", group_id):
            raise ConfigError(f"Your roles do not cover group {group_id}", "Ask for a role for this group")


def show(made: Plan) -> None:
    """Show a plan instead of the present one: to undo what was done."""
    st.session_state[_PLAN] = MadePlan(state.cluster(), made)
    _forget(_RESULT)


def _start(task: ResetTask, on_end: Callable[[ResetRun], None] = lambda run: None) -> None:
    _forget(_ERROR)
    st.session_state[_RUN] = ResetRun(task, on_end)


def _forget(*keys: str) -> None:
    for key in keys:
        st.session_state.pop(key, None)


def _cluster() -> ClusterSettings:
    """The settings of the chosen cluster. Raises ConfigError."""
    name = state.cluster()
    found = source.current().settings.cluster(name)
    if found is None:
        raise ConfigError(f"The cluster {name} has no settings on this server", "Use groupscope reset plan")
    return found


def watch() -> bool:
    """Show that a step is running, if one is; take what it gave once it has ended."""
    run: ResetRun | None = st.session_state.get(_RUN)
    if run is None:
        return False
    if run.is_running:
        _progress()
        return True
    _forget(_RUN)
    _take(run)
    return False


def _take(run: ResetRun) -> None:
    if run.document is None:
        st.session_state[_ERROR] = run.error or GroupscopeError("The step gave no result")
    elif run.task.step is Step.PLAN:
        made = plan_from_document(run.document)
        st.session_state[_PLAN] = MadePlan(run.task.cluster.name, made, st.session_state.get(_CHOICE))
    else:
        before = st.session_state.get(_RESULT) or {}
        kept = {key: before[key] for key in ("undo", "undo_csv", "plan") if key in before}
        st.session_state[_RESULT] = {**kept, **run.document}


@st.fragment(run_every=LOOK_EVERY)
def _progress() -> None:
    run: ResetRun | None = st.session_state.get(_RUN)
    if run is None or not run.is_running:
        st.rerun()
        return
    st.markdown(f":material/hourglass_top: {WORDS[run.task.step]}")


def last_error() -> None:
    """Why the last step failed or was refused, if so, and what to do."""
    error: GroupscopeError | None = st.session_state.get(_ERROR)
    if error is None:
        return
    refused = "**Refused: nothing was written.** " if isinstance(error, ResetRefused) else ""
    st.markdown(f":red[:material/error: {refused}{formats.md(error.cause.rstrip('.'))}.] {formats.md(error.hint)}")
