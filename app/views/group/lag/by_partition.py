"""The lag of a group by partition."""

import streamlit as st

from app.ui import formats, state, verdicts, widgets
from app.ui.charts import lag, limits
from app.views.group.charts import letter_legend
from app.views.group.view import GroupView


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
