"""The charts of a group's lag: over time with its rebalances, and by partition."""

import numpy as np
import streamlit as st

from app.ui import formats, state, verdicts, widgets
from app.ui.charts import lag, limits
from app.ui.groups import predictions, recorded_text, recordings
from app.views.group.charts import letter_legend
from app.views.group.view import GroupView
from lag.offsets import PartitionProblem


def over_time(page: state.Shown, view: GroupView) -> None:
    """The lag at the last samples, with the rebalances."""
    colours, tz = state.palette(), state.zone()
    times = [formats.moment(int(ms), tz) for ms in view.times_ms]
    values, known = view.health.lag_trend, view.health.lag
    seen = values[~np.isnan(values)]
    span = f", last {formats.duration((view.times_ms[-1] - view.times_ms[0]) / 1000)}" if len(times) > 1 else ""
    widgets.titled(f"Lag{span}", f":gray[records behind, known for {formats.coverage(known.known, known.partitions)}]")
    if len(seen) < 2:
        st.markdown(_no_trend(len(seen), view))
        return
    marks, summary = _rebalances(page, view)
    onset = view.health.finding.onset if verdicts.needs_attention(view.health.finding.status) else None
    begins = None if onset is None else formats.moment(max(onset.at_ms, int(view.times_ms[0])), tz)
    fig = lag.over_time(times, values, begins, colours, marks)
    widgets.chart(fig, "lag_over_time", f"{_trend_alt(seen)}{summary}")
    if marks:
        legend = widgets.swatches([("▼", colours.gained, formats.md(summary.lstrip("; ")))])
        st.markdown(f":small[{legend}]")
    _predicted(page, view)


def _rebalances(page: state.Shown, view: GroupView) -> tuple[list[lag.Mark], str]:
    """The rebalances between the first and last sample as marks, and a summary of them."""
    live = recordings.recording(page, view.group.group_id)
    if live is None:
        return [], ""
    rebalances, tz = recorded_text.rebalances(live), state.zone()
    within = [
        one
        for one in rebalances
        if one.generation.quality.rebalances and view.times_ms[0] <= one.generation.at_ms <= view.times_ms[-1]
    ]
    marks = [
        lag.Mark(
            formats.moment(one.began_ms or one.generation.at_ms, tz),
            formats.moment(one.settled_ms or one.generation.at_ms, tz),
            recorded_text.hover(one, live.origin, view.names, one is rebalances[-1]),
        )
        for one in within
    ]
    return marks, f"; {recorded_text.summary(within, live.origin, tz)}" if within else ""


def _predicted(page: state.Shown, view: GroupView) -> None:
    """Whether the last rebalance was predicted."""
    live = recordings.recording(page, view.group.group_id)
    if live is not None:
        found = predictions.came_true(page, view.group.group_id, live)
        predictions.show(found.get(len(live.generations) - 1), view.names)


def _no_trend(samples: int, view: GroupView) -> str:
    if not view.lags:
        return ":gray[The group has no partitions: it has no committed offsets, assignments or subscriptions.]"
    if all(row.problem is PartitionProblem.TOPIC_DELETED for row in view.lags):
        return f":gray[{'Its topic was' if len(view.topics) == 1 else 'Its topics were'} deleted: there is no lag.]"
    if len(view.times_ms) > 1:
        return f":gray[The lag is known in {samples} of {len(view.times_ms)} polls; the chart needs two.]"
    return ":gray[The chart appears after the second poll.]"


def _trend_alt(seen: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> str:
    first, last, low, high = seen[0], seen[-1], seen.min(), seen.max()
    if low == high:
        return f"Lag stayed at {first:,.0f} records"
    word = "rose" if last > first else "fell" if last < first else "went"
    extremes = [f"{name} {lag:,.0f}" for name, lag in (("lowest", low), ("highest", high)) if lag not in (first, last)]
    return ", ".join([f"Lag {word} from {first:,.0f} to {last:,.0f} records", *extremes])


def by_partition(view: GroupView) -> None:
    """One bar per partition."""
    topics = view.topics
    what = formats.code(topics[0]) if len(topics) == 1 else letter_legend(topics)
    is_cut = len(view.lags) > limits.BAR_PARTITIONS
    more = f", the {limits.BAR_PARTITIONS} of {len(view.lags):,} partitions with the highest lag" if is_cut else ""
    unknown = " · × unknown" if any(row.lag_records is None for row in view.lags) else ""
    widgets.titled("Lag by partition", f":gray[{what + more + unknown}]" if topics else "")
    if not view.lags:
        st.markdown(":gray[No partitions.]")
        return
    tps, lags = [row.tp for row in view.lags], [row.lag_records for row in view.lags]
    colours, statuses = state.palette(), [health.finding.status for health in view.healths]
    troubles = view.troubles()
    fills = [verdicts.fill(status, colours) if status in troubles else colours.kept for status in statuses]
    concentration, _ = lag.concentration(tps, lags)
    highest = f"Lag of {formats.plural(len(tps), 'partition')}, at most {formats.count(max((v or 0) for v in lags))}"
    alt = f"Partitions {concentration}" if concentration else highest
    fig = lag.by_partition(tps, lags, fills, colours)
    widgets.chart(fig, "lag_by_partition", alt)
    if troubles:
        st.markdown(f":small[{widgets.verdict_legend(troubles)}]")
