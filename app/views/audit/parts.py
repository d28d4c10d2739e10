"""The pieces of the Audit page."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import downloads, formats, state, widgets
from app.ui.fitting import has_values
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import MOST_KEPT

OUTCOMES = {Outcome.STARTED: "started", Outcome.OK: "done", Outcome.REFUSED: "refused", Outcome.FAILED: "failed"}


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
    others = [
        f"{count:,} {word}"
        for outcome, word in OUTCOMES.items()
        if outcome not in (Outcome.STARTED, Outcome.OK) and (count := sum(event.outcome is outcome for event in events))
    ]
    return ", ".join([formats.plural(len(events), "event"), *others])


def where() -> str:
    """Where the events are kept."""
    its = source.installed()
    if its.audit.path is None:
        kept = f"At most the last {MOST_KEPT:,} events since the server started. `--audit FILE` keeps all in a file."
    else:
        kept = f"At most the newest {MOST_KEPT:,} events of {formats.code(str(its.audit.path))}."
    return kept if its.settings.has_login else f"{kept} {NAMELESS}"


NAMELESS = "This server has no login, so nobody is named for what is done on its pages."


def table(events: Sequence[AuditEvent]) -> None:
    """The events that pass the filters, without the columns in which nothing stands; the files have all columns."""
    with st.container(horizontal=True, gap="small"):
        actions = sorted({event.action for event in events})
        chosen = state.chips("Action", actions, str, "action")
        outcomes = state.chips("Outcome", list(OUTCOMES.values()), str, "outcome")
        st.space("stretch")
        files = st.container(horizontal=True, gap="small", width="content")
    local = state.local()
    rows = [
        (
            local(event.at_ms),
            event.action,
            OUTCOMES[event.outcome],
            event.group,
            event.actor,
            event.address,
            event.detail,
            event.cluster,
            event.plan_id,
        )
        for event in events
        if not chosen or event.action in chosen
        if not outcomes or OUTCOMES[event.outcome] in outcomes
    ]
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    shown = frame[[name for name in COLUMNS if has_values(frame[name])]]
    alt = "Events with time, action, outcome, group, actor and address"
    widgets.table(shown, key="audit", most=20, alt=alt, columns=_columns())
    with files:
        downloads.buttons("audit", lambda: frame)


COLUMNS = ("at", "action", "outcome", "group", "actor", "address", "detail", "cluster", "plan")


def _columns() -> dict[str, object]:
    c = st.column_config
    return {
        "at": c.DatetimeColumn("When", width=138, format="YYYY-MM-DD HH:mm:ss"),
        "action": c.TextColumn("Action", width=112),
        "outcome": c.TextColumn("Outcome", width=76),
        "actor": c.TextColumn("Who", width=160),
        "address": c.TextColumn("From", width=110),
        "cluster": c.TextColumn("Cluster", width=90),
        "group": c.TextColumn("Group", width=150),
        "plan": c.TextColumn("Plan", width=90),
        "detail": c.TextColumn("Detail", width=500),
    }
