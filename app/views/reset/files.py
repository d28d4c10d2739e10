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

UNDO = "undo"
PLAN_LABELS, UNDO_LABELS = ("Plan (JSON)", "Offsets (CSV)"), ("Undo plan (JSON)", "Undo offsets (CSV)")


def of_plan(plan: Plan) -> None:
    """The plan; and, unless it is an undo plan, the one that takes it back."""
    with st.popover("Files", icon=":material/download:", type="tertiary"):
        sets_offsets = any(row.action is Action.SET for row in plan.partitions)
        if plan.undoes is not None:
            _buttons(UNDO_LABELS, (f"{UNDO}.json", f"{UNDO}.csv"), "reset_plan", lambda: plan, sets_offsets)
            return
        _buttons(PLAN_LABELS, ("plan.json", CSV_NAME), "reset_plan", lambda: plan, sets_offsets)
        of_undo(plan, "reset_undo")


def of_undo(plan: Plan, key: str) -> None:
    """The plan that takes `plan` back; nothing where it changes no offset."""
    if plan.changes:
        sets_offsets = any(row.from_offset is not None and not row.topic_is_gone for row in plan.changes)
        _buttons(UNDO_LABELS, (f"{UNDO}.json", f"{UNDO}.csv"), key, lambda: undo_of(plan), sets_offsets)


def undo_of(plan: Plan) -> Plan:
    """The plan that takes back one that changes offsets."""
    made = undo_plan(plan, state.now_ms())
    assert made is not None
    return made


def _buttons(
    labels: tuple[str, str], names: tuple[str, str], key: str, plan: Callable[[], Plan], sets_offsets: bool
) -> None:
    """The plan; and its offsets, if it sets any: Kafka's tool deletes none from a file."""
    downloads.button(
        labels[0], lambda: plan_text(plan()).encode(), names[0], "application/json", f"{key}_json", type="tertiary"
    )
    if sets_offsets:
        downloads.button(
            labels[1],
            lambda: offsets_csv(plan().partitions).encode(),
            names[1],
            "text/csv",
            f"{key}_csv",
            type="tertiary",
        )


def file_name(plan: Plan) -> str:
    """The name of its file, without the ending."""
    return UNDO if plan.undoes else "plan"


def needed(plan: Plan) -> str:
    """What to download first for Kafka's command, as the end of a sentence."""
    return f" (download {CSV_NAME} under Files first)" if CSV_NAME in plan.command.split() else ""
