"""The lag of a group over time: the last hour, or the time in the URL, with its rebalances and verdicts."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from app.server import source
from app.ui import formats, state, verdicts, widgets
from app.ui.charts import lag
from app.ui.charts.verdict_band import VerdictSpan, add_verdicts
from app.ui.groups import predictions, recorded_text, recordings
from app.views.group.lag import history, text, time_range
from app.views.group.lag.history import LagHistory
from app.views.group.lag.text import Clock
from app.views.group.view import GroupView
from lag.verdict.catalogue import VERDICTS


def over_time(page: state.Shown, view: GroupView) -> None:
    """The chart, what it covers, and why not more."""
    found, clock = history.lag_history(page, view), Clock(view.group.at_ms, state.zone())
    known = found.polls.lag_records[~np.isnan(found.polls.lag_records)]
    widgets.titled(text.title(found, clock), f":gray[records behind, {text.coverage(found)}]")
    time_range.controls(found.shown)
    if len(known) < 2:
        st.markdown(f":gray[{text.no_line(len(known), found, view)}]")
    else:
        _chart(page, view, found, known)
    _limits(found, clock)
    _predicted(page, view)


def _limits(found: LagHistory, clock: Clock) -> None:
    """What the chart does not cover."""
    if found.problem is not None:
        widgets.line(":red", "error", "The lag before these polls cannot be read", formats.md(str(found.problem)))
    is_recorded = source.current().settings.history is not None
    notes = [text.beginning(found, clock, is_recorded), text.gaps(found, clock)]
    if any(notes):
        widgets.note(" ".join(filter(None, notes)))


def _chart(page: state.Shown, view: GroupView, found: LagHistory, known: NDArray[np.float64]) -> None:
    colours, line, (since_ms, until_ms) = state.palette(), found.polls.with_breaks(found.gaps), found.axis
    marks, summary = _rebalances(page, view, found)
    local = state.axis(since_ms, until_ms)
    finding = view.health.finding
    onset = finding.onset if verdicts.needs_attention(finding.status) else None
    begins = None if onset is None else local(max(onset.at_ms, since_ms))
    fig = lag.over_time([local(int(at_ms)) for at_ms in line.at_ms], line.lag_records, begins, colours, marks)
    lag.set_time(fig, local(since_ms), local(until_ms))
    spans = _spans(found, Clock(view.group.at_ms, state.zone()))
    if spans:
        add_verdicts(fig, spans, colours)
    widgets.chart(fig, "lag_over_time", f"{text.trend_alt(known)}{summary}")
    _legend(spans, summary)


def _legend(spans: Sequence[VerdictSpan], summary: str) -> None:
    """The verdicts of the band, and how many rebalances are marked."""
    statuses = {span.status for span in spans}
    rebalances = [("▼", state.palette().gained, formats.md(summary.lstrip("; ")))] if summary else []
    if legend := [entry for entry in (widgets.verdict_legend(statuses), widgets.swatches(rebalances)) if entry]:
        st.markdown(":small[" + "\u2003".join(legend) + "]")


def _spans(found: LagHistory, clock: Clock) -> list[VerdictSpan]:
    """The verdicts on the time axis."""
    spans, (since_ms, until_ms) = [], found.axis
    local = state.axis(since_ms, until_ms)
    for one in found.verdicts:
        begin_ms, end_ms = max(one.since_ms, since_ms), min(one.until_ms, until_ms)
        if begin_ms < end_ms:
            hover = f"{VERDICTS[one.status].label}<br>{clock.between(one.since_ms, one.until_ms)}"
            spans.append(VerdictSpan(local(begin_ms), local(end_ms), one.status, hover))
    return spans


def _rebalances(page: state.Shown, view: GroupView, found: LagHistory) -> tuple[list[lag.Mark], str]:
    """The rebalances on the time axis as marks, and a summary of them."""
    since_ms, until_ms = found.axis
    live = recordings.recording(page, view.group.group_id)
    if live is None:
        return [], ""
    if found.shown.is_chosen and (not live.generations or since_ms < live.generations[0].generation.at_ms):
        live = recordings.with_history(page, view.group.group_id, live)
    rebalances, local = recorded_text.rebalances(live), state.axis(since_ms, until_ms)
    within = [
        one for one in rebalances if one.generation.quality.rebalances and since_ms <= one.generation.at_ms <= until_ms
    ]
    marks = [
        lag.Mark(
            local(one.began_ms or one.generation.at_ms),
            local(one.settled_ms or one.generation.at_ms),
            recorded_text.hover(one, live.origin, view.names, one is rebalances[-1]),
        )
        for one in within
    ]
    return marks, f"; {recorded_text.summary(within, live.origin, state.zone())}" if within else ""


def _predicted(page: state.Shown, view: GroupView) -> None:
    """Whether the last rebalance was predicted."""
    live = recordings.recording(page, view.group.group_id)
    if live is not None:
        found = predictions.came_true(page, view.group.group_id, live)
        predictions.show(found.get(len(live.generations) - 1), view.names)
