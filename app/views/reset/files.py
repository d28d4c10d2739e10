"""Downloads: the plan, its offsets, and the plan that takes it back, as the commands and Kafka's tool read them.

What is in a file is computed at the click: a plan may have ten thousand partitions.
"""

from collections.abc import Callable

import streamlit as st

from app.ui import downloads, state
from lag.reset.applying.undo import undo_plan
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.model import Action, Plan
from lag.reset.planning.kafka_tool import CSV_NAME

PLAN, UNDO = "plan.json", "undo.json"
_PLAN = (("Plan (JSON)", PLAN), ("Offsets (CSV)", CSV_NAME))
_UNDO = (("Undo plan (JSON)", UNDO), ("Undo offsets (CSV)", "undo.csv"))
"""Label and file name of the plan, and of its offsets."""

Files = tuple[tuple[str, str], tuple[str, str]]


def of_plan(plan: Plan) -> None:
    """The plan; and, unless it is an undo plan, the one that takes it back."""
    with st.popover("Files", icon=":material/download:", type="tertiary"):
        sets_offsets = any(row.action is Action.SET for row in plan.partitions)
        is_undo = plan.undoes is not None
        _buttons(_UNDO if is_undo else _PLAN, "reset_plan", lambda: plan, sets_offsets)
        if not is_undo:
            of_undo(plan, "reset_undo")


def of_undo(plan: Plan, key: str) -> None:
    """The plan that takes `plan` back; nothing where it changes no offset."""
    if plan.changes:
        sets_offsets = any(row.from_offset is not None and not row.topic_is_gone for row in plan.changes)
        _buttons(_UNDO, key, lambda: undo_of(plan), sets_offsets)


def undo_of(plan: Plan) -> Plan:
    """The plan that takes back one that changes offsets."""
    made = undo_plan(plan, state.now_ms())
    assert made is not None
    return made


def _buttons(files: Files, key: str, plan: Callable[[], Plan], sets_offsets: bool) -> None:
    """The plan; and its offsets, if it sets any: Kafka's tool deletes none from a file."""
    (label, name), (csv_label, csv_name) = files

    def document() -> bytes:
        return plan_text(plan()).encode()

    def csv() -> bytes:
        return offsets_csv(plan().partitions).encode()

    downloads.button(label, document, name, "application/json", f"{key}_json", type="tertiary")
    if sets_offsets:
        downloads.button(csv_label, csv, csv_name, "text/csv", f"{key}_csv", type="tertiary")


def file_name(plan: Plan) -> str:
    """The name under which its button downloads it."""
    return UNDO if plan.undoes else PLAN


def needed(plan: Plan) -> str:
    """What to download first for Kafka's command, as the end of a sentence."""
    return f" (download {CSV_NAME} under Files first)" if CSV_NAME in plan.command.split() else ""
