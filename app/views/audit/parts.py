"""The pieces of the Audit page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pandas as pd
import streamlit as st

from app.server import source
from app.ui import downloads, formats, link_values, state, widgets
from app.ui.fitting import has_values
from lag.audit.event import AuditEvent, Outcome
from lag.audit.log import MOST_KEPT
from lag.audit.stored import stored_events
from lag.errors import HistoryError
from lag.history.schemas import AUDIT_EVENTS
from lag.history.store import History

MOST = 1_000
LAST_MS = 7_258_118_400_000
"""The year 2200: the history has no times after 2262."""
KEPT_DAYS = AUDIT_EVENTS.keep_days
OUTCOMES = {Outcome.STARTED: "started", Outcome.OK: "done", Outcome.REFUSED: "refused", Outcome.FAILED: "failed"}


BEFORE = "before"
"""The URL parameter of the time before which events are listed, in ms since 1970."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Events, newest first. `next_ms`: the older events are before this time; None: there are none.

    `problem`: why those of the history are missing.
    """

    events: Sequence[AuditEvent]
    next_ms: int | None
    problem: str | None = None


def listed() -> Listed:
    """The newest events before the time in the URL that the visitor may see. Raises ConfigError."""
    its, before_ms = source.current(), min(link_values.at_ms(BEFORE) or LAST_MS, LAST_MS)
    own = islice((one for one in source.installed().audit.newest_first() if one.at_ms < before_ms), MOST + 1)
    found, problem = {event.event_id: event for event in own}, None
    try:
        found |= {event.event_id: event for event in _stored(before_ms)}
    except HistoryError as error:
        problem = str(error)
    newest = sorted(found.values(), key=lambda event: event.at_ms, reverse=True)
    seen = _told(its, [event for event in newest[:MOST] if _is_seen(its, event)])
    next_ms = newest[MOST].at_ms + 1 if len(newest) > MOST else None  # several events may have the same time
    return Listed(seen, next_ms, problem)


def _stored(before_ms: int) -> Sequence[AuditEvent]:
    root = source.installed().settings.history
    return [] if root is None else stored_events(History(root), before_ms, MOST + 1)


def _is_seen(its: source.Source, event: AuditEvent) -> bool:
    if event.cluster is None:
        return True
    return event.cluster in its.feeds and (event.group is None or its.sees(event.cluster, event.group))


NOT_SHOWN = "not shown: it may name a group or cluster that your roles do not cover"


def _told(its: source.Source, events: Sequence[AuditEvent]) -> list[AuditEvent]:
    """The events, for an admin of some groups without the texts that may name others: paths, patterns, errors."""
    if its.sees_everything:
        return list(events)
    hidden = _hidden_names(its)
    return [event if _is_told(event, hidden) else replace(event, plan_id=None, detail=NOT_SHOWN) for event in events]


def _is_told(event: AuditEvent, hidden: Collection[str]) -> bool:
    """Whether nothing is said, or it is about one group, and no other one is named."""
    text = f"{event.detail} {event.plan_id or ''}"
    return not text.strip() or (event.group is not None and not any(name in text for name in hidden))


def _hidden_names(its: source.Source) -> Collection[str]:
    """The clusters of this server and their groups that the visitor does not see."""
    whole = source.installed().feeds
    reports = {name: feed.latest() for name, feed in whole.items()}
    groups = {
        group.group_id
        for name, report in reports.items()
        for group in (report.snapshot.groups if report is not None else ())
        if not its.sees(name, group.group_id)
    }
    return groups | (whole.keys() - its.feeds.keys())


def pages(shown: Listed) -> None:
    """The buttons that list older events, and the newest ones."""
    with st.container(horizontal=True, gap="small"):
        if shown.next_ms is not None:
            widgets.plain_button("Older", "arrow_back", "older_events", state.set_url, BEFORE, str(shown.next_ms))
        if link_values.at_ms(BEFORE) is not None:
            widgets.plain_button("Newest", "last_page", "newest_events", state.set_url, BEFORE, None)


def conclusion(events: Sequence[AuditEvent]) -> str:
    """ "12 events, 3 of them refused"."""
    if not events:
        return "There are no events in the audit log yet"
    others = [
        f"{count:,} {word}"
        for outcome, word in OUTCOMES.items()
        if outcome not in (Outcome.STARTED, Outcome.OK) and (count := sum(event.outcome is outcome for event in events))
    ]
    return ", ".join([formats.plural(len(events), "event"), *others])


def where() -> str:
    """Where the events are kept, and for how long."""
    its = source.installed()
    file = its.audit.path
    places = [] if file is None else [f"in {formats.code(str(file))}"]
    places += [] if its.settings.history is None else [f"in the history for {KEPT_DAYS} days"]
    if places:
        kept = f"Events are kept {' and '.join(places)}. The page lists {MOST:,} at a time."
    else:
        kept = f"The newest {MOST_KEPT:,} events are kept until the server stops. `--audit FILE` keeps them in a file."
    return kept if its.settings.has_login else f"{kept} {NAMELESS}"


NAMELESS = "This server has no login, so events from its pages name no user."


def table(events: Sequence[AuditEvent]) -> None:
    """The events that pass the filters, without empty columns; the files have all columns."""
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
