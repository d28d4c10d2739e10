"""The charts of one group on the History page: lag with its rebalances, and time lag."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.lag import Mark, over_time
from app.views.history import charts, parts, text
from lag.history.results import DAY, HOUR, MINUTE, HealthSeries, LagSeries, Scope, Span
from lag.history.trouble_periods import TroublePeriod
from lag.offsets import Ints

MAX_MARKS = 60
"""More would hide the line: then the rebalances of an hour or a day share one mark."""


def lag(
    scope: Scope,
    series: LagSeries,
    health: HealthSeries | None,
    periods: Sequence[TroublePeriod] | None,
    span: Span,
) -> None:
    """Lag over time, rebalances on the same axis, ongoing trouble shaded."""
    step = "by the minute" if span.step == MINUTE else "the highest minute of each hour"
    widgets.titled("Lag", f":gray[records behind, {step}]")
    known = int((~np.isnan(series.lag_records)).sum())
    if known < 2:
        st.markdown(f":gray[Not enough data for a line: {formats.plural(known, 'point')} in this time.]")
        return
    marks, legend = _marks(health, span)
    times = [parts.local(at // 1000) for at in series.at_us.tolist()]
    notes = [_note(series, index, span) for index in range(len(times))]
    since = parts.local(periods[-1].since_us // 1000) if periods and periods[-1].is_ongoing else None
    fig = over_time(times, series.lag_records, since, state.palette(), marks, charts.RECORDS, notes)
    alt = text.lag_alt(scope, series, legend, parts.shown_time(span).clock)
    widgets.chart(fig, "history_lag", alt)
    if legend:
        st.markdown(f":small[{widgets.swatches([('▼', state.palette().gained, formats.md(legend))])}]")


def _note(series: LagSeries, index: int, span: Span) -> str:
    known = int(series.known[index])
    part = "" if known == series.partitions else f"<br>known for {formats.known_for(known, series.partitions)}"
    return f"{parts.hover_time(int(series.at_us[index]), span.step)}{part}"


def _marks(health: HealthSeries | None, span: Span) -> tuple[list[Mark], str]:
    """The marks of the rebalances, and their legend."""
    if health is None or not health.rebalances.any():
        return [], ""
    length, at_us = _mark_starts(health)
    frame = pd.DataFrame({"at": at_us, "n": health.rebalances, "joins": health.joins, "leaves": health.leaves})
    sums = frame[health.rebalances > 0].groupby("at").sum()
    marks = [
        Mark(parts.local(at // 1000), parts.local(at // 1000) + length, _mark_hover(at, length, n, joins, leaves))
        for at, n, joins, leaves in sums.itertuples()
    ]
    total, last = int(health.rebalances.sum()), int(health.at_us[health.rebalances > 0][-1])
    by = {MINUTE: "", HOUR: ", marked by the hour", DAY: ", marked by the day"}[length]
    return marks, f"{formats.plural(total, 'rebalance')}{by}; the last at {parts.shown_time(span).clock(last)}"


def _mark_starts(health: HealthSeries) -> tuple[timedelta, Ints]:
    """The shortest length with at most `MAX_MARKS` marks; for each minute the start of its mark, int64[n_minutes]."""
    for length in (MINUTE, HOUR, DAY):
        size_us = round(length.total_seconds() * 1e6)
        at_us = health.at_us // size_us * size_us
        if len(np.unique(at_us[health.rebalances > 0])) <= MAX_MARKS:
            break
    return length, at_us


def _mark_hover(at_us: int, length: timedelta, n: int, joins: int, leaves: int) -> str:
    members = ", ".join(filter(None, (f"{joins:,} joined" if joins else "", f"{leaves:,} left" if leaves else "")))
    return "<br>".join(filter(None, (parts.hover_time(at_us, length), formats.plural(n, "rebalance"), members)))


def time_lag(scope: Scope, series: LagSeries, span: Span) -> None:
    """Time lag over time."""
    widgets.titled("Time lag", ":gray[age of the oldest record that is not committed]")
    if int((~np.isnan(series.time_lag_s)).sum()) < 2:
        st.markdown(
            ":gray[Not known in this time: it needs samples of the log end, which reach back two hours at most.]"
        )
        return
    times = [parts.local(at // 1000) for at in series.at_us.tolist()]
    notes = [
        f"{parts.hover_time(at, span.step)}<br>{formats.duration(seconds)}"
        for at, seconds in zip(series.at_us.tolist(), series.time_lag_s.tolist(), strict=True)
    ]
    fig = over_time(times, series.time_lag_s, None, state.palette(), (), charts.SECONDS, notes)
    alt = text.time_lag_alt(scope, series)
    widgets.chart(fig, "history_time_lag", alt)
