"""The sentences about the lag of a group over time: what the chart shows, and what it does not cover."""

from dataclasses import dataclass
from datetime import tzinfo

import numpy as np
from numpy.typing import NDArray

from app.ui import formats, verdicts
from app.views.group.lag.history import LagHistory
from app.views.group.view import GroupView
from lag.offsets import PartitionProblem
from lag.verdict.offset_terms import offset_terms

HOUR_S = 3600
NEARLY_S = 60
"""A time that is shorter than the hour by at most this is called the last hour."""

RECORD = "groupscope serve --history PATH"


@dataclass(frozen=True, slots=True)
class Clock:
    """Formats times in the viewer's zone, with the day if it is not today."""

    now_ms: int
    zone: tzinfo

    def at(self, at_ms: int) -> str:
        """A time of day."""
        return formats.clock_and_day(at_ms, self.now_ms, self.zone)

    def between(self, since_ms: int, until_ms: int) -> str:
        """Two times of day."""
        return f"{self.at(since_ms)} to {formats.clock(until_ms, self.zone)}"


def title(found: LagHistory, clock: Clock) -> str:
    """ "Lag, last hour", "Lag, last 5 min", "Lag, 20:10:00 to 20:25:00"."""
    if found.shown.is_chosen:
        return f"Lag, {clock.between(found.shown.since_ms, found.shown.until_ms)}"
    at_ms = found.polls.at_ms
    if len(at_ms) < 2:
        return "Lag"
    seconds = (int(at_ms[-1]) - int(at_ms[0])) / 1000
    return f"Lag, last {'hour' if HOUR_S - NEARLY_S <= seconds <= HOUR_S else formats.duration(seconds)}"


def coverage(found: LagHistory) -> str:
    """For how many partitions the lag is known."""
    known = formats.coverage(found.known, found.partitions)
    return f"known for {known}" if found.partitions else "not known for any partition now"


def no_line(known: int, found: LagHistory, view: GroupView) -> str:
    """Why there is no line; the lag is known at `known` polls."""
    if found.shown.is_chosen:
        return f"The lag is known at {formats.plural(known, 'poll')} in this time range; the chart needs two."
    if not view.lags:
        offset = offset_terms(view.group.type).offset
        return f"The group has no partitions: it has no {offset}, assignment or subscription."
    if all(row.problem is PartitionProblem.TOPIC_DELETED for row in view.lags):
        return f"{'Its topic was' if len(view.topics) == 1 else 'Its topics were'} deleted: there is no lag."
    if len(found.polls.at_ms) > 1:
        polls = formats.plural(len(found.polls.at_ms), "poll")
        return f"The lag is known in {known} of {polls}; the chart needs two." if known else _not_known(view, polls)
    return "The chart appears after the second poll."


def _not_known(view: GroupView, polls: str) -> str:
    """The lag is known in none of these polls; why, if it is the same for all partitions."""
    problems = {row.problem for row in view.lags}
    only = next(iter(problems)) if len(problems) == 1 else None
    return f"No lag known in {polls}{'' if only is None else f': {verdicts.problem(only, view.group.type)}'}."


def beginning(found: LagHistory, clock: Clock, is_recorded: bool) -> str:
    """Since when there are polls; "" if they cover the time shown. `is_recorded`: the dashboard has a history."""
    at_ms = found.polls.at_ms
    if not len(at_ms) or int(at_ms[0]) - found.shown.since_ms <= 1000 * NEARLY_S:
        return ""
    since = f"Polls since {clock.at(int(at_ms[0]))}."
    return since if is_recorded else f"{since} To see the last hour, record a history: {formats.code(RECORD)}"


def gaps(found: LagHistory, clock: Clock) -> str:
    """The times without a poll."""
    if not found.gaps:
        return ""
    lengths_ms = [until - since for since, until in found.gaps]
    longest, total = clock.between(*found.gaps[int(np.argmax(lengths_ms))]), formats.duration(sum(lengths_ms) / 1000)
    if len(found.gaps) == 1:
        return f"No polls from {longest} ({total})."
    return f"{len(found.gaps):,} gaps in the polls, {total} in total; the longest from {longest}."


def trend_alt(known: NDArray[np.float64]) -> str:
    """The known lags (float64[n], n > 0) for screen readers: first, last, lowest and highest."""
    first, last, low, high = known[0], known[-1], known.min(), known.max()
    if low == high:
        return f"Lag stayed at {first:,.0f} records"
    word = "rose" if last > first else "fell" if last < first else "went"
    extremes = [f"{name} {lag:,.0f}" for name, lag in (("lowest", low), ("highest", high)) if lag not in (first, last)]
    return ", ".join([f"Lag {word} from {first:,.0f} to {last:,.0f} records", *extremes])
