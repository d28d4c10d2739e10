"""The pieces of the Audit page."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import formats, state, widgets
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import MOST_KEPT

OUTCOMES = {Outcome.OK: "done", Outcome.REFUSED: "refused", Outcome.FAILED: "failed"}


def events() -> list[AuditEvent]:
    """The newest events about what the visitor may see, newest first. Raises ConfigError."""
    its = source.current()
    return [
        event
        for event in source.installed().audit.recent()
        if event.cluster is None or event.cluster in its.feeds
        if event.cluster is None or event.group is None or its.sees(event.cluster, event.group)
    ]


def conclusion(events: Sequence[AuditEvent]) -> str:
    """ "12 events, 3 of them refused"."""
    if not events:
        return "Nothing is in the audit log yet"
    told = [
        f"{count:,} {word}"
        for outcome, word in OUTCOMES.items()
        if outcome is not Outcome.OK and (count := sum(event.outcome is outcome for event in events))
    ]
    return ", ".join([formats.plural(len(events), "event"), *told])


def where() -> str:
    """Where the events are kept."""
    path = source.installed().audit.path
    if path is None:
        return f"The last {MOST_KEPT:,} events since the server started. `--audit FILE` keeps them in a file."
    return f"The newest {MOST_KEPT:,} events of {formats.code(str(path))}."


def table(events: Sequence[AuditEvent]) -> None:
    """The events that pass the filters."""
    with st.container(horizontal=True, gap="small"):
        actions = sorted({event.action for event in events})
        chosen = state.chips("Action", actions, str, "action")
        outcomes = state.chips("Outcome", list(OUTCOMES.values()), str, "outcome")
    local = state.local()
    rows = [
        (
            local(event.at_ms),
            event.actor,
            event.action,
            OUTCOMES[event.outcome],
            event.address,
            *_object(event),
            event.detail,
        )
        for event in events
        if not chosen or event.action in chosen
        if not outcomes or OUTCOMES[event.outcome] in outcomes
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    widgets.table(
        frame, key="audit", most=20, alt="Events with time, actor, action, outcome and address", columns=_columns()
    )
    widgets.downloads("audit", lambda: frame)


def _object(event: AuditEvent) -> tuple[str | None, str | None, str | None]:
    return event.cluster, event.group, event.plan_id


COLUMNS = ("at", "actor", "action", "outcome", "address", "cluster", "group", "plan", "detail")


def _columns() -> dict[str, object]:
    c = st.column_config
    return {
        "at": c.DatetimeColumn("When", width=150, format="YYYY-MM-DD HH:mm:ss"),
        "actor": c.TextColumn("Who", width=160),
        "action": c.TextColumn("Action", width=80),
        "outcome": c.TextColumn("Outcome", width=80),
        "address": c.TextColumn("From", width=110),
        "cluster": c.TextColumn("Cluster", width=90),
        "group": c.TextColumn("Group", width=150),
        "plan": c.TextColumn("Plan", width=90),
        "detail": c.TextColumn("Detail", width=420),
    }
