"""Applying the plan that is shown: by the group's name and a button where the server may write, else by command."""

import shlex

import streamlit as st

from app.server import source
from app.server.access.visitor import Role
from app.server.reset_task import Step
from app.ui import state, widgets
from app.views.reset import files, runs
from lag.reset.model import Kind, Plan

BUTTONS = {Kind.OFFSETS: "Apply", Kind.DELETE_GROUP: "Delete the group", Kind.REMOVE_MEMBER: "Remove the member"}


def show_apply(plan: Plan) -> None:
    """The button, where the server may write; else the commands."""
    its = source.current()
    if not its.may(Role.OPERATOR, state.cluster() or "", plan.group_id):
        widgets.note("Applying the plan here requires the operator role for this group.")
    elif its.settings.allow_writes:
        _form(plan)
    else:
        _command(plan)


def _form(plan: Plan) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        typed = st.text_input(
            f"Type {plan.group_id} to confirm",
            key=f"reset_confirm_{plan.made_at_ms}",  # the name typed for one plan confirms no other
            max_chars=300,
            width=320,
            autocomplete="off",
        )
        label = "Undo" if plan.undoes else BUTTONS[plan.kind]
        ready = typed == plan.group_id and (plan.kind is not Kind.OFFSETS or bool(plan.changes))
        if widgets.clicked(label, "reset_apply", type="primary", disabled=not ready):
            runs.start(Step.APPLY, plan)
            st.rerun()
        if widgets.clicked("Verify", "reset_verify", help="Reads the group, and shows how much of the plan is applied"):
            runs.start(Step.VERIFY, plan)
            st.rerun()


def _command(plan: Plan) -> None:
    stop = "" if plan.kind is Kind.REMOVE_MEMBER else ", stop the group"
    st.markdown(f"**To apply the plan**, download it under Files{stop}, and run:")
    verb = "undo" if plan.undoes else "apply"
    words = ("groupscope", "reset", verb, files.file_name(plan), "--allow-writes")
    st.code(shlex.join([*words, *state.connection_options()]), language="bash", wrap_lines=True)
    widgets.note("This server is read-only. Start it with --allow-writes to apply plans here.")
