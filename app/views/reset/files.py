"""Downloads: the plan, its offsets, and the plan that takes it back, as the commands and Kafka's tool read them."""

import streamlit as st

from app.ui import downloads, state
from lag.reset.applying.undo import undo_plan
from lag.reset.files.offsets_csv import offsets_csv
from lag.reset.files.plan_document import plan_text
from lag.reset.model import Plan
from lag.reset.planning.kafka_tool import CSV_NAME

TERTIARY = {"type": "tertiary"}
UNDO = "undo"


def of_plan(plan: Plan) -> None:
    """The plan; and, unless it is an undo plan, the one that takes it back."""
    with st.popover("Files", icon=":material/download:", type="tertiary"):
        name = file_name(plan)
        plan_and_csv(plan, name, CSV_NAME if plan.undoes is None else f"{name}.csv")
        undo = None if plan.undoes else undo_plan(plan, state.now_ms())
        if undo is not None and undo.partitions:
            plan_and_csv(undo, UNDO, f"{UNDO}.csv")


def file_name(plan: Plan) -> str:
    """The name of its file, without the ending."""
    return UNDO if plan.undoes else "plan"


def plan_and_csv(plan: Plan, name: str, csv: str) -> None:
    """Two buttons; without a CSV if no offset is set."""
    word = "Undo plan" if plan.undoes else "Plan"
    downloads.button(
        f"{word} (JSON)",
        lambda: plan_text(plan).encode(),
        f"{name}.json",
        "application/json",
        f"reset_{name}_json",
        **TERTIARY,
    )
    if lines := offsets_csv(plan.partitions):
        word = "Undo offsets" if plan.undoes else "Offsets"
        downloads.button(f"{word} (CSV)", lambda: lines.encode(), csv, "text/csv", f"reset_{name}_csv", **TERTIARY)


def needed(plan: Plan) -> str:
    """What to download first for Kafka's command, as the end of a sentence."""
    return f" (download {CSV_NAME} under Files first)" if CSV_NAME in plan.command.split() else ""
