"""What came of applying or verifying a plan, and how to take it back."""

from typing import Any

import streamlit as st

from app.ui import formats, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.reset import files, runs, tables
from app.views.reset.parts import show_table
from lag.reset.model import Kind, Plan


def show_result(plan: Plan, result: dict[str, Any]) -> None:
    """Whether all is done, partition by partition, and how to undo it."""
    widgets.titled("Result", f":gray[{_counted(plan, result)}]")
    if result["done"]:
        widgets.line(":green", "check_circle", "Done", _done(plan))
    else:
        widgets.line(":red", "error", "The plan was not fully applied", formats.md(result["error"] or "See the table."))
    if result["partitions"]:
        rows = result["partitions"]
        alt = "offsets before, planned and now"
        show_table(tables.result_frame(rows[:MAX_ROWS]), len(rows), "result", alt, tables.RESULT)
    _undo(plan, result.get("undo"))


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
        Kind.DELETE_GROUP: f"The group {formats.code(plan.group_id)} no longer exists.",
        Kind.REMOVE_MEMBER: f"The static member {formats.code(plan.instance_id or '')} is no longer in the group.",
    }[plan.kind]


def _undo(plan: Plan, path: str | None) -> None:
    """Where the undo plan is stored, its files, and a button that shows it."""
    if path is None:
        return
    widgets.note(f"The undo plan is stored on the server: {formats.md(path)}")
    with st.container(horizontal=True, gap="small"):
        if widgets.clicked("Plan the undo", "reset_undo", icon=":material/undo:"):
            runs.show(files.undo_of(plan))
            st.rerun()
        files.of_undo(plan, "reset_applied")
