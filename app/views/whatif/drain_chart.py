"""The lag over time under the current assignment, and under the one after the events."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts import base
from app.ui.theme import Palette
from assignors.whatif.backlog import Backlog, backlog
from assignors.whatif.comparison import Outcome
from assignors.whatif.events import Scenario

HEIGHT_PX = 130
POINTS = 121
USUAL_HORIZON_S = 600.0
UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
NOW, THEN = "now", "after the events"


def lag_over_time(outcome: Outcome, scenario: Scenario) -> None:
    """One line for each assignment whose backlog is known, and why another is not; nothing where no lag is known."""
    sides = {NOW: outcome.generations[0], THEN: outcome.generations[-1]}
    if not any("lag_records" in generation.quality.skews for generation in sides.values()):
        return
    if len(outcome.generations) == 1:
        del sides[THEN]
    found = {name: backlog(generation, scenario) for name, generation in sides.items()}
    known = {name: its for name, its in found.items() if isinstance(its, Backlog)}
    colours = state.palette()
    with st.container(gap=None):
        widgets.titled("Lag over time", widgets.swatches(_legend(known, colours)))
        if any(its.at(np.zeros(1))[0] > 0 or its.growth_per_s.max() > 0 for its in known.values()):
            widgets.chart(curves(known, colours), "lag_over_time", alt(known))
        elif known:
            widgets.note("There is no lag.")
        for name, its in found.items():
            if isinstance(its, str):
                widgets.note(f"There is no line “{name}”: {formats.md(its)}.")


def _legend(names: Mapping[str, Backlog], colours: Palette) -> list[tuple[str, str, str]]:
    looks = {NOW: ("╌", colours.kept), THEN: ("━", colours.gained)}
    return [(*looks[name], f"{name}") for name in names]


def horizon_s(known: Mapping[str, Backlog]) -> float:
    """The time shown: until the last lag that shrinks is gone, and a little more."""
    return 1.1 * max(its.drained_s() for its in known.values()) or USUAL_HORIZON_S


def curves(known: Mapping[str, Backlog], colours: Palette) -> go.Figure:
    """The group's lag in records from now on."""
    end_s = horizon_s(known)
    seconds = np.linspace(0, end_s, POINTS)
    fig = base.figure(colours, HEIGHT_PX, left=46, right=12)
    top = 10.0
    for name, its in known.items():
        lag, is_now = its.at(seconds), name == NOW
        top = max(top, float(lag.max()))
        fig.add_scatter(
            x=seconds,
            y=lag,
            mode="lines",
            line={
                "color": colours.kept if is_now else colours.gained,
                "width": 2,
                "dash": "dash" if is_now else "solid",
            },
            customdata=[f"{name}, in {formats.duration(float(at))}" for at in seconds],
            hovertemplate="%{customdata} · %{y:,.0f} records behind<extra></extra>",
        )
    values, labels = base.ticks(top, 3)
    fig.update_yaxes(range=[0, top * 1.06], tickvals=values, ticktext=labels)
    fig.update_xaxes(range=[0, end_s], **_time_ticks(end_s))
    return fig


def _time_ticks(end_s: float) -> dict[str, list[float] | list[str]]:
    size, unit = next((its for its in UNITS if its[0] * 2 <= end_s), UNITS[-1])
    values = base.ticks(end_s / size)[0]
    return {"tickvals": [value * size for value in values], "ticktext": [f"{value:g} {unit}" for value in values]}


def alt(known: Mapping[str, Backlog]) -> str:
    """What each line finds: when the lag is gone, or how much is left."""
    end_s = horizon_s(known)
    findings = []
    for name, its in known.items():
        first, last = its.at(np.array([0.0, end_s])).tolist()
        left = "0" if last < 0.5 else formats.count(last)
        at_s = its.drained_s() if last < 0.5 else end_s
        findings.append(f"{name}: from {formats.count(first)} to {left} records in {formats.duration(at_s)}")
    return f"Lag over time; {'; '.join(findings)}"
