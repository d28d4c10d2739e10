"""What the History page asks, cached; and what of the past its URL names.

URL parameters: `group`, `topic` and `partition`, `range` (a key of RANGES), `until` (a minute in UTC; without it the
page follows the newest).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import streamlit as st

from app.server import source
from app.ui import state
from app.ui import verdicts as words
from lag.history.queries import Questions
from lag.history.results import (
    FINE_UP_TO,
    HOUR,
    MINUTE,
    Burn,
    Cell,
    GroupLag,
    LagLine,
    PartitionPast,
    Place,
    Span,
    Verdicts,
)
from lag.history.store import History
from lag.verdict.health import URGENCY

RANGES: dict[str, tuple[str, timedelta]] = {
    "1h": ("1 h", timedelta(hours=1)),
    "6h": ("6 h", timedelta(hours=6)),
    "24h": ("24 h", timedelta(hours=24)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
}
USUAL = "24h"
TROUBLE = tuple(status for status in URGENCY if words.needs_attention(status))
NEWS_S = 5
"""So long nobody asks again whether there is something newer."""

FRESH_S = 60
"""So long an answer is taken again; roll-ups come once a minute."""

PICKER = timedelta(hours=6)
"""Groups that can be chosen had a lag in so much of the end of the span; the one in the URL can always."""

_UNTIL = "%Y-%m-%dT%H:%MZ"
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Outside of this there is no history, and not every library can tell the time."""

_MOST_DIGITS = 10
"""No partition has a longer number."""

_DRAWN = "_history_drawn"


@dataclass(frozen=True, slots=True)
class Past:
    """The history of one cluster: the folder or URL of the tables, and the cluster's id in them."""

    root: str
    cluster: str


def past(page: state.Shown) -> Past | None:
    """That of the cluster on the page; None when the dashboard keeps none of it."""
    root, cluster = source.current().settings.history, page.report.snapshot.cluster_id
    return None if root is None or cluster is None else Past(root, cluster)


# -- the URL -----------------------------------------------------------------------------------------------------------


def range_of(span: Span) -> str:
    """The key of the range that is so long."""
    return next(key for key, (_, length) in RANGES.items() if length == span.length)


def _range(past: Past, newest: datetime | None) -> str:
    """The key of the range in the URL, else the usual one; up to the newest minute, a shorter one that has it all."""
    wanted = state.url("range")
    if wanted in RANGES:
        return wanted
    return USUAL if newest is None or until() is not None else _filled(past, newest + MINUTE)


def place() -> Place | None:
    """The group, topic and partition in the URL; None without a group."""
    group, topic, partition = (state.url(name) for name in ("group", "topic", "partition"))
    if group is None:
        return None
    if not topic or not partition or not partition.isdecimal() or len(partition) > _MOST_DIGITS:
        return Place(group, topic or None)
    return Place(group, topic, int(partition))


def choose(place: Place | None) -> None:
    """Write them."""
    told = (None, None, None) if place is None else (place.group_id, place.topic, place.partition)
    for name, value in zip(("group", "topic", "partition"), told, strict=True):
        state.set_url(name, None if value is None else str(value))


def until() -> datetime | None:
    """The end that the URL names; None: the newest minute, whichever that is."""
    try:
        found = datetime.strptime(state.url("until") or "", _UNTIL).replace(tzinfo=UTC)
    except ValueError:
        return None
    return found if _FIRST <= found < _LAST else None


def span(past: Past, newest: datetime | None) -> Span:
    """What of the past is shown, whole hours of a long range; up to now where the newest minute is not known.

    Raises HistoryError.
    """
    end, length = until() or (newest or _this_minute()) + MINUTE, RANGES[_range(past, newest)][1]
    if length > FINE_UP_TO and end.minute:
        end = end.replace(minute=0) + HOUR
    return Span(end - length, end)


def _this_minute() -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0)


def move(to: datetime | None) -> None:
    """Show the time up to that minute; None: up to the newest, and follow it."""
    state.set_url("until", None if to is None else f"{to.astimezone(UTC):{_UNTIL}}")


def drawn(newest: datetime | None) -> None:
    """Remember the newest minute when the page was drawn."""
    st.session_state[_DRAWN] = newest


def newer_is_there(past: Past) -> bool:
    """Whether a roll-up has come since, that the page would show."""
    return until() is None and latest(past) != st.session_state.get(_DRAWN)


# -- answers, shared by every session: never change them in place; all raise HistoryError ------------------------------


@st.cache_resource(max_entries=16, show_spinner=False)
def _questions(past: Past) -> Questions:
    return Questions(History(past.root), past.cluster)


@st.cache_resource(ttl=NEWS_S, max_entries=16, show_spinner=False)
def latest(past: Past) -> datetime | None:
    """The newest minute that was rolled up; None: none yet."""
    return _questions(past).latest(datetime.now(UTC))


@st.cache_resource(ttl=FRESH_S, max_entries=16, show_spinner=False)
def _filled(past: Past, end: datetime) -> str:
    """The shortest range with all that there is of the usual one."""
    usual = RANGES[USUAL][1]
    shorter = [(key, length) for key, (_, length) in RANGES.items() if length < usual]
    begin, asked = end - usual, _questions(past)
    return next((key for key, length in shorter if not asked.has_minutes(Span(begin, end - length))), USUAL)


@st.cache_resource(ttl=NEWS_S, max_entries=16, show_spinner=False)
def is_recorded(past: Past) -> bool:
    """Whether there is anything to roll up."""
    return _questions(past).is_recorded()


@st.cache_resource(ttl=FRESH_S, max_entries=16, show_spinner=False)
def names(past: Past, span: Span) -> list[str]:
    """Groups to choose from."""
    return _questions(past).groups(Span(max(span.since, span.until - PICKER), span.until))


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def topics(past: Past, group_id: str, span: Span) -> list[str]:
    """Topics of a group."""
    return _questions(past).topics(group_id, span)


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def numbers(past: Past, group_id: str, topic: str, span: Span) -> list[int]:
    """Partitions of that topic that the group had a lag on."""
    return _questions(past).numbers(group_id, topic, span)


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def lag(past: Past, place: Place, span: Span) -> LagLine:
    """The lag of the place."""
    return _questions(past).lag(place, span)


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def partitions(past: Past, place: Place, span: Span) -> list[PartitionPast]:
    """What became of its partitions."""
    return _questions(past).partitions(place, span)


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def verdicts(past: Past, group_id: str, span: Span) -> Verdicts | None:
    """The group's status and rebalances by the minute."""
    return _questions(past).verdicts(group_id, span)


@st.cache_resource(ttl=FRESH_S, max_entries=16, show_spinner="Reading the health of all groups")
def health(past: Past, span: Span) -> list[Cell]:
    """Every group by the cells of the span."""
    return _questions(past).health(span, TROUBLE)


@st.cache_resource(ttl=FRESH_S, max_entries=16, show_spinner="Reading the lag of all groups")
def lags(past: Past, span: Span) -> list[GroupLag]:
    """How far behind every group was."""
    return _questions(past).lags(span)


@st.cache_resource(ttl=FRESH_S, max_entries=64, show_spinner=False)
def burns(past: Past, span: Span, group_id: str) -> list[Burn]:
    """The group's error budgets."""
    return _questions(past).burns(span, group_id)


def clear() -> None:
    """Drop all answers."""
    its = (_questions, latest, is_recorded, names, topics, numbers, lag, partitions, verdicts, health, lags, burns)
    for cached in its:
        cached.clear()
