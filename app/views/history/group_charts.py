"""The charts of one group on the History page: lag with its rebalances, and time lag."""

from collections.abc import Sequence
from datetime import timedelta

import pandas as pd
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.lag import Mark, over_time
from app.views.history import charts, parts, text
from app.views.history.tables import Local
from lag.history.span import DAY, HOUR, MINUTE, Scope, Span
from lag.history.trouble_periods import TroublePeriod
from lag.times import MICROSECOND, ms

MAX_MARKS = 60
"""More would hide the line: then the rebalances of an hour or a day share one mark."""


def lag(
    scope: Scope,
    series: pd.DataFrame,
    health: pd.DataFrame,
    periods: Sequence[TroublePeriod] | None,
    span: Span,
) -> None:
    """Lag over time, rebalances on the same axis, ongoing trouble shaded."""
    step = "by the minute" if span.step == MINUTE else "the highest value of each hour"
    widgets.titled("Lag", f":gray[records behind, {step}]")
    known = series["lag_records"].count()
    if known < 2:
        few = f"Not enough data for a line: {formats.plural(known, 'point')} in this time range."
        st.markdown(f":gray[{parts.UNREAD if parts.has_errors() else few}]")
        return
    marks, legend = _marks(health, span)
    local, axis = state.local(), _axis(span)
    times = [axis(at // 1000) for at in series["at_us"]]
    coverage = series[["at_us", "known", "partitions"]].itertuples(index=False)
    notes = [_note(at, known, partitions, span, local) for at, known, partitions in coverage]
    since = axis(periods[-1].since_us // 1000) if periods and periods[-1].is_ongoing else None
    fig = over_time(times, series["lag_records"].to_numpy(), since, state.palette(), marks, charts.RECORDS, notes)
    alt = text.lag_alt(scope, series, legend, parts.shown_time(span).clock)
    widgets.chart(fig, "history_lag", alt)
    if legend:
        st.markdown(f":small[{widgets.swatches([('▼', state.palette().gained, formats.md(legend))])}]")


def _axis(span: Span) -> Local:
    return state.axis(ms(span.since), ms(span.until))


def _note(at_us: int, known: int, partitions: int, span: Span, local: Local) -> str:
    part = "" if known == partitions else f"<br>known for {formats.known_for(known, partitions)}"
    return f"{parts.hover_time(at_us, span.step, local)}{part}"


def _marks(health: pd.DataFrame, span: Span) -> tuple[list[Mark], str]:
    """The marks of the rebalances, and their legend."""
    if not health["rebalances"].any():
        return [], ""
    rebalances = health[health["rebalances"] > 0]
    length, at_us = _mark_starts(rebalances["at_us"])
    local, axis = state.local(), _axis(span)
    marks = [
        Mark(axis(at // 1000), axis(at // 1000) + length, _mark_hover(at, length, n, joins, leaves, local))
        for at, n, joins, leaves in rebalances.groupby(at_us)[["rebalances", "joins", "leaves"]].sum().itertuples()
    ]
    total, last = rebalances["rebalances"].sum(), rebalances["at_us"].iloc[-1]
    by = {MINUTE: "", HOUR: ", marked by the hour", DAY: ", marked by the day"}[length]
    return marks, f"{formats.plural(total, 'rebalance')}{by}; the last at {parts.shown_time(span).clock(last)}"


def _mark_starts(at_us: pd.Series) -> tuple[timedelta, pd.Series]:
    """The shortest length with at most `MAX_MARKS` marks; for each minute with rebalances the start of its mark."""
    for length in (MINUTE, HOUR, DAY):
        size_us = length // MICROSECOND
        starts = at_us // size_us * size_us
        if starts.nunique() <= MAX_MARKS:
            break
    return length, starts


def _mark_hover(at_us: int, length: timedelta, n: int, joins: int, leaves: int, local: Local) -> str:
    members = ", ".join(filter(None, (f"{joins:,} joined" if joins else "", f"{leaves:,} left" if leaves else "")))
    return "<br>".join(filter(None, (parts.hover_time(at_us, length, local), formats.plural(n, "rebalance"), members)))


def time_lag(scope: Scope, series: pd.DataFrame, span: Span) -> None:
    """Time lag over time."""
    widgets.titled("Time lag", ":gray[age of the oldest record that is not committed]")
    if series["time_lag_s"].count() < 2:
        needs = (
            "Not known in this time range: samples of the log end show when a record was written, and they reach back "
            "at most two hours, and not beyond the start of the recording."
        )
        st.markdown(f":gray[{parts.UNREAD if parts.has_errors() else needs}]")
        return
    local, axis = state.local(), _axis(span)
    times = [axis(at // 1000) for at in series["at_us"]]
    notes = [
        f"{parts.hover_time(at, span.step, local)}<br>{formats.duration(seconds)}"
        for at, seconds in zip(series["at_us"], series["time_lag_s"], strict=True)
    ]
    fig = over_time(times, series["time_lag_s"].to_numpy(), None, state.palette(), (), charts.SECONDS, notes)
    alt = text.time_lag_alt(scope, series)
    widgets.chart(fig, "history_time_lag", alt)
