"""The targets of notices on the About page, and whether they accept what they are sent."""

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import formats, widgets

if TYPE_CHECKING:
    from app.notices.worker import TargetStatus


def targets(now_ms: int) -> None:
    """Each target with its last notice and what is wrong; nothing without a notices file."""
    notifier = source.current().notifier
    if notifier is None:
        return
    if notifier.is_standby:
        widgets.titled("Notices", ":gray[another server with the same state file sends them]")
        return
    statuses = notifier.statuses()
    widgets.titled("Notices", f":gray[to {formats.plural(len(statuses), 'target')}]")
    if (problem := notifier.file_problem) is not None:
        rest = f"{formats.md(str(problem))}. The last valid version remains in effect."
        widgets.line(":orange", "error", "The notices file is invalid", rest)
    if (problem := notifier.problem()) is not None:
        widgets.line(":orange", "error", "Incidents are not stored", formats.md(str(problem)))
    if statuses:
        _table(pd.DataFrame([_row(status, now_ms) for status in statuses]))


def _row(status: "TargetStatus", now_ms: int) -> dict[str, object]:
    return {
        "target": status.name,
        "kind": status.kind,
        "sent": status.sent,
        "refused": status.refused,
        "last": None if status.last_sent_ms is None else formats.age(status.last_sent_ms, now_ms),
        "state": _state(status, now_ms),
    }


def _state(status: "TargetStatus", now_ms: int) -> str:
    if status.sending_since_ms is not None:
        state = f"sending for {formats.duration(max(0, now_ms - status.sending_since_ms) / 1000)}"
        return state if status.error is None else f"{state}; last attempt: {status.error}"
    if status.error is None:
        return "ok"
    return f"{status.error} ({formats.plural(status.failures, 'failure')} in a row)"


def _table(frame: pd.DataFrame) -> None:
    c = st.column_config
    widgets.table(
        frame,
        key="notices",
        most=8,
        alt="Targets of notices with what they were sent, and what is wrong",
        columns={
            "target": c.TextColumn("Target", width=120),
            "kind": c.TextColumn("Kind", width=100),
            "sent": widgets.integer("Sent", 60, "Notices since the server started"),
            "refused": widgets.integer("Refused", 76, "Notices that the target refused and that are not retried"),
            "last": c.TextColumn("Last notice", width=100),
            "state": c.TextColumn("State", width=240),
        },
    )
