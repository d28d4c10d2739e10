"""What came of applying or verifying a plan, and how to take it back."""

from pathlib import Path
from typing import Any

import streamlit as st

from app.ui import formats, widgets
from app.views.reset import files, runs, tables
from app.views.reset.parts import show_table
from lag.errors import ConfigError
from lag.reset.files.plan_file import load_plan
from lag.reset.model import Kind, Plan


def show_result(plan: Plan, result: dict[str, Any]) -> None:
    """Whether all is done, partition by partition, and how to undo it."""
    widgets.titled("Result", f":gray[{_counted(plan, result)}]")
    if result["done"]:
        widgets.line(":green", "check_circle", "Done", _done(plan))
    else:
        widgets.line(":red", "error", "Not all is done", formats.md(result["error"] or "See the table."))
    if result["partitions"]:
        show_table(tables.result_frame(result), "result", "offsets before, planned and now", tables.RESULT)
    _undo(result.get("undo"))


def _counted(plan: Plan, result: dict[str, Any]) -> str:
    done = sum(row["outcome"] == "done" for row in result["partitions"])
    of = formats.plural(len(result["partitions"]), "partition")
    return {
        Kind.OFFSETS: f"{done:,} of {of} at the new offset",
        Kind.DELETE_GROUP: f"committed offsets deleted in {done:,} of {of}",
        Kind.REMOVE_MEMBER: "",
    }[plan.kind]


def _done(plan: Plan) -> str:
    return {
        Kind.OFFSETS: "Every planned partition is at its new offset.",
        Kind.DELETE_GROUP: f"The group {formats.code(plan.group_id)} does not exist any more.",
        Kind.REMOVE_MEMBER: f"The static member {formats.code(plan.instance_id or '')} is no longer in the group.",
    }[plan.kind]


def _undo(path: str | None) -> None:
    """The stored undo plan: its files, and a button that shows it."""
    if path is None:
        return
    widgets.note(f"The undo plan is stored on the server: {formats.md(path)}")
    try:
        undo = load_plan(Path(path))
    except ConfigError as error:
        widgets.line(":red", "error", formats.md(error.cause), formats.md(error.hint))
        return
    with st.container(horizontal=True, gap="small"):
        if widgets.clicked("Plan the undo", "reset_undo", icon=":material/undo:"):
            runs.show(undo)
            st.rerun()
        files.plan_and_csv(undo, f"stored_{files.UNDO}", f"{files.UNDO}.csv")
