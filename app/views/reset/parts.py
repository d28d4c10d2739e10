"""The plan, how to apply it, and what came of it."""

from pathlib import Path
from typing import Any

import streamlit as st

from app.server import source
from app.server.access.visitor import Role
from app.server.reset_task import Step
from app.ui import downloads, formats, state, widgets
from app.ui.table_limits import MAX_ROWS
from app.views.reset import runs, tables
from lag.errors import ConfigError
from lag.reset import summary
from lag.reset.applying.undo import undo_plan
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.files.plan_file import load_plan
from lag.reset.model import Plan
from lag.reset.remarks import record_text


def show_plan(plan: Plan) -> None:
    """Totals first, then warnings, the records to skip, the table, Kafka's command and the files."""
    frame = tables.plan_frame(plan)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        widgets.titled("Undo plan" if plan.undoes else "Plan", f":gray[{formats.md(plan.specification)}]")
        st.space("stretch")
        _files(plan)
    st.markdown(f"**{formats.md(summary.headline(plan))}**")
    for warning in summary.warnings(plan):
        widgets.line(":orange", "warning", formats.md(warning), "")
    for row in plan.partitions:
        for record in row.records:
            st.markdown(f":small[{formats.md(f'{row.tp}, offset {record.offset:,}: {record_text(record)}')}]")
    alt = (
        f"{formats.plural(len(frame), 'partition')}: committed offset before and after, records read again and skipped"
    )
    widgets.table(frame.head(MAX_ROWS), "reset_table", alt, widgets.columns(frame, tables.PLAN), most=12)
    widgets.row_count(min(len(frame), MAX_ROWS), len(frame), "partition")
    if plan.command:
        widgets.note("The same with Kafka's own tool:")
        st.code(plan.command, language="bash", wrap_lines=True)


def _files(plan: Plan) -> None:
    options = {"type": "tertiary"}
    name = "undo" if plan.undoes else "plan"
    downloads.button(
        "Plan", lambda: plan_text(plan).encode(), f"{name}.json", "application/json", "reset_json", **options
    )
    undo = undo_plan(plan, state.now_ms())
    if undo is not None and plan.undoes is None:
        data = offsets_csv(undo.partitions).encode()
        downloads.button("Undo as CSV", lambda: data, "undo.csv", "text/csv", "reset_csv", **options)


def show_apply(plan: Plan) -> None:
    """The button, where the server may write; else the commands."""
    its = source.current()
    if not its.may(Role.OPERATOR, state.cluster() or "", plan.group_id):
        widgets.note("To apply it here takes the role operator for this group.")
        return
    if not its.settings.allow_writes:
        st.markdown("**To apply it**, download the plan, stop the group, and run:")
        file = "undo.json" if plan.undoes else "plan.json"
        verb = "undo" if plan.undoes else "apply"
        st.code(f"groupscope reset {verb} {file} --allow-writes{_connection()}", language="bash", wrap_lines=True)
        widgets.note("This server only reads. Start it with --allow-writes to apply plans here.")
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        typed = st.text_input(
            f"Type {plan.group_id} to confirm", key="reset_confirm", max_chars=300, width=320, autocomplete="off"
        )
        label = "Undo" if plan.undoes else "Apply"
        matches, has_changes = typed == plan.group_id, bool(plan.changes)
        if widgets.clicked(label, "reset_apply", type="primary", disabled=not (matches and has_changes)):
            runs.start(Step.APPLY, plan)
            st.rerun()
        if widgets.clicked("Verify", "reset_verify"):
            runs.start(Step.VERIFY, plan)
            st.rerun()


def _connection() -> str:
    name, clusters = state.cluster(), source.current().settings.clusters
    cluster = next((one for one in clusters if one.name == name), None)
    if cluster is None:
        return ""
    config = f" --config {cluster.config}" if cluster.config else ""
    return f" --bootstrap-server {cluster.bootstrap_servers}{config}"


def show_result(result: dict[str, Any]) -> None:
    """What is done, partition by partition, and how to undo it."""
    frame = tables.result_frame(result)
    done = sum(row["outcome"] == "done" for row in result["partitions"])
    sentence = f"{done:,} of {formats.plural(len(frame), 'partition')} at the new offset"
    widgets.titled("Result", f":gray[{sentence}]")
    if result["done"]:
        widgets.line(":green", "check_circle", "Done", "Every planned partition is at its new offset.")
    else:
        widgets.line(":red", "error", "Not all is done", formats.md(result.get("error") or "See the table."))
    alt = f"{sentence}: before, planned and now"
    widgets.table(frame.head(MAX_ROWS), "reset_result", alt, widgets.columns(frame, tables.RESULT), most=12)
    _undo(result.get("undo"))


def _undo(path: str | None) -> None:
    if path is None:
        return
    widgets.note(f"The undo plan is stored on the server: {formats.md(path)}")
    try:
        undo = load_plan(Path(path))
    except ConfigError as error:
        widgets.line(":red", "error", formats.md(error.cause), formats.md(error.hint))
        return
    if undo.undoes is not None and widgets.clicked("Plan the undo", "reset_undo", icon=":material/undo:"):
        runs.show(undo)
        st.rerun()
