"""The picture of a group's lag over the samples kept, with its rebalances on the time axis."""

import numpy as np
import streamlit as st

from app.ui import formats, recordings, state, verdicts, widgets
from app.ui import recorded_text as text
from app.ui.charts import lag
from app.views.group.tables import GroupView


def draw(page: state.Shown, view: GroupView) -> None:
    """The group's lag over the samples kept, and its rebalances."""
    colours, tz = state.palette(), state.zone()
    times = [formats.moment(int(ms), tz) for ms in view.times_ms]
    values, known = view.health.trend, view.health.lag
    seen = values[~np.isnan(values)]
    kept = f", last {formats.duration((view.times_ms[-1] - view.times_ms[0]) / 1000)}" if len(times) > 1 else ""
    widgets.titled(f"Lag{kept}", f":gray[records behind, known for {formats.coverage(known.known, known.partitions)}]")
    if len(seen) < 2:
        st.markdown(_no_trend(len(seen), bool(view.lags)))
        return
    marks, said = _rebalances(page, view)
    since = view.health.finding.since_ms if verdicts.needs_attention(view.health.finding.status) else None
    fig = lag.over_time(times, values, None if since is None else formats.moment(since, tz), colours, marks)
    st.plotly_chart(fig, theme=None, config=widgets.PLOTLY, key="lag_over_time", alt=f"{_trend_alt(seen)}{said}")
    if marks:
        legend = widgets.swatches([("▼", colours.gained, formats.md(said.lstrip("; ")))])
        st.markdown(f":small[{legend}]")


def _rebalances(page: state.Shown, view: GroupView) -> tuple[list[lag.Mark], str]:
    """The rebalances within the samples, for the time axis; and how many there are, as the end of a sentence."""
    live = recordings.recording(page, view.group.group_id)
    if live is None:
        return [], ""
    told, tz = text.rebalances(live), state.zone()
    last = told[-1] if told else None
    within = [
        one
        for one in told
        if one.generation.quality.rebalances and view.times_ms[0] <= one.generation.at_ms <= view.times_ms[-1]
    ]
    marks = [
        lag.Mark(
            formats.moment(one.began_ms or one.generation.at_ms, tz),
            formats.moment(one.settled_ms or one.generation.at_ms, tz),
            text.hover(one, live.how, view.names, one is last),
        )
        for one in within
    ]
    return marks, f"; {text.seen(within, live.how, tz)}" if within else ""


def _no_trend(samples: int, has_partitions: bool) -> str:
    if not has_partitions:
        return ":gray[This group has no partition: nothing is committed, assigned or subscribed.]"
    return f":gray[A line needs two samples, {samples} so far. The next poll adds one.]"


def _trend_alt(seen: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    word = "rose" if seen[-1] > seen[0] else "fell" if seen[-1] < seen[0] else "stayed"
    return f"Lag {word} from {seen[0]:,.0f} to {seen[-1]:,.0f} records, between {seen.min():,.0f} and {seen.max():,.0f}"
