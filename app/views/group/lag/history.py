"""The time that the chart of a group's lag shows, and what is known of the group in that time.

URL parameters: `from` and `to` (minutes in UTC); without them the chart shows the last hour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pandas as pd
import streamlit as st

from app.ui import link_values, state
from app.ui.cluster_history import ClusterHistory, cluster_history, queries
from app.ui.time_link import set_time
from app.views.group.view import GroupView
from lag import times
from lag.errors import HistoryError
from lag.history import frames
from lag.history.recent_polls import LagPolls, VerdictPeriod, join, stored_lag, verdict_periods
from lag.history.span import DAY, HOUR, MINUTE, Span, full_minute

CACHE_S = 60
LONGEST = DAY
"""The chart draws each poll: a longer time in the URL is ignored."""


@dataclass(frozen=True, slots=True)
class TimeShown:
    """From `since_ms` to `until_ms`. `is_chosen`: by the URL; else it is the last hour."""

    since_ms: int
    until_ms: int
    is_chosen: bool

    @property
    def end(self) -> datetime:
        """The end as a whole minute, rounded up."""
        until = times.from_ms(self.until_ms)
        return until if until == full_minute(until) else full_minute(until) + MINUTE

    @property
    def length(self) -> timedelta:
        """The length of the time chosen, else an hour."""
        return timedelta(milliseconds=self.until_ms - self.since_ms) if self.is_chosen else HOUR


@dataclass(frozen=True, slots=True, eq=False)
class StoredPolls:
    """Rows of `frames.POLLS`, and why they could not be read, if so."""

    rows: pd.DataFrame
    problem: HistoryError | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LagHistory:
    """What is known of a group in the time shown.

    `gaps` are the polls around each time without one, in ms since 1970. `known` of `partitions` have a known lag at
    every poll.
    """

    shown: TimeShown
    polls: LagPolls
    gaps: Sequence[tuple[int, int]]
    verdicts: Sequence[VerdictPeriod]
    known: int
    partitions: int
    problem: HistoryError | None

    @property
    def axis(self) -> tuple[int, int]:
        """The ends of the time axis: the time chosen, else from the first poll on."""
        first_ms = self.polls.at_ms[:1].tolist()
        since_ms = self.shown.since_ms if self.shown.is_chosen or not first_ms else first_ms[0]
        return since_ms, self.shown.until_ms


def time_shown(view: GroupView) -> TimeShown:
    """The time in the URL, else the last hour; longer if the polls of this process reach back further."""
    since, until = link_values.minute("from"), link_values.minute("to")
    if since is not None and until is not None and since < until <= since + LONGEST:
        return TimeShown(times.ms(since), times.ms(until), is_chosen=True)
    first_ms, last_ms = int(view.times_ms[0]), int(view.times_ms[-1])
    return TimeShown(min(first_ms, last_ms - HOUR // timedelta(milliseconds=1)), last_ms, is_chosen=False)


def show_time(until: datetime, length: timedelta) -> None:
    """Write the time of that length up to `until`, a whole minute, to the URL."""
    set_time("from", until - length)
    set_time("to", until)


def show_last_hour() -> None:
    """Remove the time from the URL."""
    set_time("from", None)
    set_time("to", None)


def lag_history(page: state.Shown, view: GroupView) -> LagHistory:
    """The lag and the verdicts of the group in the time shown: from the history, then from this process's polls."""
    shown, history = time_shown(view), cluster_history(page)
    stored = StoredPolls(frames.empty(frames.POLLS))
    if history is not None:
        stored = _stored(history, view.group.group_id, _minutes(shown))
    every = join(stored_lag(stored.rows), LagPolls(view.times_ms, view.health.lag_trend))
    polls = every.within(shown.since_ms, shown.until_ms)
    interval_ms = round(page.status.interval_s * 1000)
    every_gap = every.gaps(interval_ms)  # also the one that the time shown ends in
    verdicts = verdict_periods(stored.rows, view.health.finding, int(view.times_ms[-1]), every_gap)
    known, partitions = _coverage(view, stored.rows, shown)
    return LagHistory(shown, polls, polls.gaps(interval_ms), verdicts, known, partitions, stored.problem)


@st.cache_resource(ttl=CACHE_S, max_entries=64, show_spinner=False)
def _stored(history: ClusterHistory, group_id: str, span: Span) -> StoredPolls:
    """The stored polls; an error is cached too, so that a broken history is not read again at each poll."""
    try:
        return StoredPolls(queries(history).polls(group_id, span))
    except HistoryError as error:
        return StoredPolls(frames.empty(frames.POLLS), error)


def _minutes(shown: TimeShown) -> Span:
    """The whole minutes of the time shown: a result is cached for each group and minute."""
    since, until = (full_minute(times.from_ms(ms)) for ms in (shown.since_ms, shown.until_ms))
    return Span(since, until + MINUTE)


def _coverage(view: GroupView, stored: pd.DataFrame, shown: TimeShown) -> tuple[int, int]:
    """Of the snapshot, unless the time shown ended before the polls of this process: then the lowest."""
    if shown.until_ms >= view.times_ms[0] or stored.empty:
        return view.health.lag.known, view.health.lag.partitions
    return int(stored["known"].min()), int(stored["partitions"].max())
