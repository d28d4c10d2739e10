"""The state of the History page: its URL parameters, and cached results of its queries.

URL parameters: `group`, `topic` and `partition`, `range` (a key of RANGES), `until` (a minute in UTC; without it the
page follows the newest minute).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Concatenate, ParamSpec, TypeVar, cast

import streamlit as st

from app.ui import link_values, state, verdicts
from app.ui.cluster_history import ClusterHistory, queries
from app.ui.time_link import set_time
from lag.history.queries import HistoryQueries
from lag.history.span import HOUR, MAX_MINUTE_SPAN, MINUTE, Scope, Span, full_minute
from lag.verdict.status import URGENCY

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

RANGES: dict[str, tuple[str, timedelta]] = {
    "1h": ("1 h", timedelta(hours=1)),
    "6h": ("6 h", timedelta(hours=6)),
    "24h": ("24 h", timedelta(hours=24)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
}
DEFAULT_RANGE = "24h"
TROUBLE = tuple(status for status in URGENCY if verdicts.needs_attention(status))
NEWEST_CACHE_S = 5
CACHE_S = 60
"""Roll-ups run once a minute."""

PICKER_SPAN = timedelta(hours=6)
"""The select box offers the groups of the last part of the span; the group in the URL is always offered."""

_SHOWN_NEWEST = "_history_newest"


# -- the URL -----------------------------------------------------------------------------------------------------------


def range_of(span: Span) -> str:
    """The key of the range with the span's length."""
    return next(key for key, (_, length) in RANGES.items() if length == span.length)


def _range(history: ClusterHistory, newest: datetime | None) -> str:
    """The key of the range in the URL; by default the usual one, or a shorter one that holds as much."""
    if wanted := link_values.one_of("range", RANGES):
        return wanted
    return DEFAULT_RANGE if newest is None or until() is not None else _shortest_range(history, newest + MINUTE)


def scope() -> Scope | None:
    """The group, topic and partition in the URL; None without a group."""
    group, topic = state.url("group"), state.url("topic")
    if group is None:
        return None
    return Scope(group, topic, link_values.whole("partition")) if topic else Scope(group, None)


def set_scope(scope: Scope | None) -> None:
    """Write group, topic and partition to the URL."""
    values = (None, None, None) if scope is None else (scope.group_id, scope.topic, scope.partition)
    for name, value in zip(("group", "topic", "partition"), values, strict=True):
        state.set_url(name, None if value is None else str(value))


def until() -> datetime | None:
    """The end in the URL; None: the page follows the newest minute."""
    return link_values.minute("until")


def span(history: ClusterHistory, newest: datetime | None) -> Span:
    """The time that the page shows, up to now if the newest minute is not known. Long ranges end at a full hour.

    Raises HistoryError.
    """
    end, length = until() or (newest or full_minute(datetime.now(UTC))) + MINUTE, RANGES[_range(history, newest)][1]
    if length > MAX_MINUTE_SPAN and end.minute:
        end = end.replace(minute=0) + HOUR
    return Span(end - length, end)


def show(range_: str, to: datetime | None) -> None:
    """Write a range and its end to the URL; None: follow the newest minute."""
    state.set_url("range", range_)
    set_time("until", to)


def remember_newest(newest: datetime | None) -> None:
    """Remember the newest minute of this run of the page."""
    st.session_state[_SHOWN_NEWEST] = newest


def has_newer(history: ClusterHistory) -> bool:
    """Whether there is a newer minute that the page would show."""
    return until() is None and latest(history) != st.session_state.get(_SHOWN_NEWEST)


# -- results, shared by all sessions: never change them in place; all raise HistoryError -------------------------------


def ask(
    history: ClusterHistory,
    query: Callable[Concatenate[HistoryQueries, Arguments], Result],
    *arguments: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """The result of a method of HistoryQueries, like `ask(history, HistoryQueries.lag, scope, span)`."""
    return cast(Result, _answer(history, query.__name__, *arguments, **named))


@st.cache_resource(ttl=CACHE_S, max_entries=256, show_spinner="Reading the history")
def _answer(history: ClusterHistory, query: str, *arguments: object, **named: object) -> object:
    return getattr(queries(history), query)(*arguments, **named)


@st.cache_resource(ttl=NEWEST_CACHE_S, max_entries=16, show_spinner=False)
def latest(history: ClusterHistory) -> datetime | None:
    return queries(history).latest(datetime.now(UTC))


@st.cache_resource(ttl=NEWEST_CACHE_S, max_entries=16, show_spinner=False)
def is_recorded(history: ClusterHistory) -> bool:
    return queries(history).is_recorded()


def _shortest_range(history: ClusterHistory, end: datetime) -> str:
    """The shortest range that holds all minutes of the usual one."""
    usual = RANGES[DEFAULT_RANGE][1]
    for key, (_, length) in RANGES.items():
        if length < usual and not ask(history, HistoryQueries.has_minutes, Span(end - usual, end - length)):
            return key
    return DEFAULT_RANGE


def group_ids(history: ClusterHistory, span: Span) -> list[str]:
    """The groups of the select box."""
    return ask(history, HistoryQueries.groups, Span(max(span.since, span.until - PICKER_SPAN), span.until))
