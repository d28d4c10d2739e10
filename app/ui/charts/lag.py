"""Lag over the time kept, and lag by partition."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from app.ui.charts import base, limits
from app.ui.formats import listing, short
from app.ui.theme import Palette
from assignors.model import TopicPartition

HEIGHT = 200
SHARE_WORTH_A_NAME = 0.5
SECONDS_SHOWN_BELOW_S = 360
A_DAY_S = 86_400
LEAST_SLOTS = 8
"""A group with fewer partitions gets bars of the same width, flush left, not wider ones."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What a line over time measures: the text on hover (Plotly's template), a short form of a value, round ticks."""

    hover: str
    short: Callable[[float], str]
    ticks: Callable[[float], tuple[list[float], list[str]]]
    least: float


RECORDS = Scale("%{x|%H:%M:%S} · %{y:,.0f} records behind<extra></extra>", short, base.ticks, 10.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A rebalance on the time axis: when it began and ended (as far as is known), and its hover text."""

    began: datetime
    over: datetime
    text: str


def over_time(
    times: Sequence[datetime],
    lag_records: NDArray[np.float64],
    since: datetime | None,
    colours: Palette,
    marks: Sequence[Mark] = (),
    scale: Scale = RECORDS,
    notes: Sequence[str] | None = None,
) -> go.Figure:
    """Lag of a group at its samples (records, or what `scale` says; NaN where unknown: the line breaks there).

    From `since` on, when the present verdict began, the line is drawn in the colour of trouble. `marks` are the
    rebalances within the samples. `notes` are what the scale's hover calls `customdata`, one for each sample.
    """
    fig = base.figure(colours, HEIGHT, left=46, right=56)
    split = next((i for i, t in enumerate(times) if since is not None and t >= since), len(times))
    for part, colour, width in ((slice(0, split + 1), colours.kept, 1.8), (slice(split, None), colours.revoked, 2.4)):
        if len(times[part]):
            fig.add_scatter(
                x=list(times[part]),
                y=lag_records[part],
                mode="lines",
                line={"color": colour, "width": width},
                customdata=None if notes is None else list(notes[part]),
                hovertemplate=scale.hover,
            )
    known = np.flatnonzero(~np.isnan(lag_records))
    if len(known):
        colour = colours.kept if split >= len(times) else colours.revoked
        _last(fig, times[known[-1]], float(lag_records[known[-1]]), scale, colour, colours)
    _y(fig, max(float(lag_records[known].max(initial=0.0)), scale.least), scale)
    span = [times[0], times[-1]] if len(times) > 1 else None
    fig.update_xaxes(range=span, **_ticks((times[-1] - times[0]).total_seconds() if span else 0.0))
    _mark(fig, marks, colours)
    return fig


def _last(fig: go.Figure, at: datetime, value: float, scale: Scale, colour: str, colours: Palette) -> None:
    """A point at the last known sample, with its value beside it."""
    fig.add_scatter(
        x=[at],
        y=[value],
        mode="markers+text",
        text=[scale.short(value)],
        textposition="middle right",
        textfont={"color": colours.text, "size": 12},
        cliponaxis=False,
        hoverinfo="skip",
        marker={"color": colour, "size": 7},
    )


def set_time(fig: go.Figure, since: datetime, until: datetime) -> None:
    """Set the time axis from `since` to `until`, even if the line is shorter."""
    fig.update_xaxes(range=[since, until], **_ticks((until - since).total_seconds()))


def _ticks(span_s: float) -> dict[str, Any]:
    """How times stand under the axis: with seconds, without, with the day, the day alone."""
    if 0 < span_s < SECONDS_SHOWN_BELOW_S:
        return {"tickformat": "%H:%M:%S", "nticks": 5}
    if span_s <= A_DAY_S:
        return {"tickformat": "%H:%M", "nticks": 7}
    return {"tickformat": "%d %b %H:%M" if span_s <= 3 * A_DAY_S else "%d %b", "nticks": 7}


def _mark(fig: go.Figure, marks: Sequence[Mark], colours: Palette) -> None:
    """A triangle above each rebalance, with its text on hover; below it a line as wide as it took."""
    if not marks:
        return
    top = fig.layout.yaxis.range[1]
    for mark in marks:
        fig.add_shape(
            type="rect", x0=mark.began, x1=mark.over, y0=0, y1=1, yref="paper", layer="below",
            fillcolor=colours.gained, opacity=0.35, line={"color": colours.gained, "width": 1},
        )  # fmt: skip
    fig.add_scatter(
        x=[mark.over for mark in marks],
        y=[top] * len(marks),
        mode="markers",
        customdata=[mark.text for mark in marks],
        cliponaxis=False,
        marker={"symbol": "triangle-down", "size": 10, "color": colours.gained},
        hovertemplate="%{customdata}<extra></extra>",
    )


def by_partition(
    tps: Sequence[TopicPartition], lag_records: Sequence[int | None], fills: Sequence[str], colours: Palette
) -> go.Figure:
    """One bar per partition in order of (topic, partition), in its fill; a cross where the lag is unknown.

    Beyond 400 partitions only the 400 with most lag are drawn (the caller's title says so).
    """
    tps, lag_records, fills = _largest(tps, lag_records, fills)
    fig = base.figure(colours, HEIGHT, left=46, right=8, top=20)
    x, y = list(range(len(tps))), [lag or 0 for lag in lag_records]
    top = float(max([*y, 10]))
    fig.add_bar(
        x=x,
        y=y,
        customdata=[str(tp) for tp in tps],
        marker={"color": list(fills), "line": {"width": 0}},
        hovertemplate="%{customdata} · %{y:,.0f} records behind<extra></extra>",
    )
    unknown = [i for i, lag in enumerate(lag_records) if lag is None]
    fig.add_scatter(
        x=unknown,
        y=[top * 0.03] * len(unknown),
        mode="markers",
        customdata=[str(tps[i]) for i in unknown],
        cliponaxis=False,
        marker={"symbol": "x-thin", "size": 8, "line": {"width": 1.6, "color": colours.unassigned}},
        hovertemplate="%{customdata} · lag not known<extra></extra>",
    )
    _y(fig, top * 1.06)
    _partition_ticks(fig, tps, colours)
    _name_the_worst(fig, tps, y, colours)
    fig.update_layout(bargap=0.2)
    return fig


def _largest(
    tps: Sequence[TopicPartition], lags: Sequence[int | None], fills: Sequence[str]
) -> tuple[Sequence[TopicPartition], Sequence[int | None], Sequence[str]]:
    sizes = [-1 if lag is None else lag for lag in lags]
    order = sorted(range(len(tps)), key=sizes.__getitem__, reverse=True)[: limits.BAR_PARTITIONS]
    picked = sorted(order, key=tps.__getitem__)
    return [tps[i] for i in picked], [lags[i] for i in picked], [fills[i] for i in picked]


def _partition_ticks(fig: go.Figure, tps: Sequence[TopicPartition], colours: Palette) -> None:
    """Partition numbers under one topic; a letter per topic and dividers under several."""
    n = len(tps)
    fig.update_xaxes(range=[-0.6, max(n, LEAST_SLOTS) - 0.4])
    starts = [i for i, tp in enumerate(tps) if i == 0 or tp.topic != tps[i - 1].topic]
    if len(starts) <= 1:
        shown = base.spread(n, 8)
        fig.update_xaxes(tickvals=shown, ticktext=[str(tps[i].partition) for i in shown])
        return
    for start in starts[1:]:
        fig.add_vline(x=start - 0.5, line={"color": colours.grid, "width": 1})
    ends = [*starts[1:], n]
    middles = [(a + b - 1) / 2 for a, b in zip(starts, ends, strict=True)]
    names = base.letters([tps[i].topic for i in starts])
    fig.update_xaxes(
        tickvals=middles if names else [], ticktext=[f"<b>{names[tps[i].topic]}</b>" for i in starts if names]
    )


def _name_the_worst(fig: go.Figure, tps: Sequence[TopicPartition], y: Sequence[int], colours: Palette) -> None:
    """If at most four partitions hold most of the lag, say so beside them."""
    text, at = concentration(tps, y)
    if text:
        left = at < len(tps) / 2
        fig.add_annotation(
            x=at,
            y=1,
            yref="paper",
            yanchor="bottom",
            xanchor="left" if left else "right",
            text=text,
            showarrow=False,
            font={"size": 12, "color": colours.text},
        )


def concentration(tps: Sequence[TopicPartition], lags: Sequence[int | None]) -> tuple[str, int]:
    """ "7, 8 and 9 hold 97 % of the lag" and where the first of them stands; empty if the lag is spread."""
    y = [lag or 0 for lag in lags]
    total = sum(y)
    if total < 100 or len(y) < 6:
        return "", 0
    order = sorted(range(len(y)), key=lambda i: -y[i])
    for n in range(1, 5):
        share = sum(y[i] for i in order[:n]) / total
        if (
            share >= SHARE_WORTH_A_NAME
            and share >= 4 * n / len(y)
            and y[order[n - 1]] > 3 * (y[order[n]] if n < len(y) else 0)
        ):
            names = _names([tps[i] for i in order[:n]])
            return f"{names} hold{'s' if n == 1 else ''} {share:.0%} of the lag".replace("%", " %"), min(order[:n])
    return "", 0


def _names(tps: Sequence[TopicPartition]) -> str:
    if len({tp.topic for tp in tps}) == 1:
        return listing([tp.partition for tp in tps])
    return ", ".join(str(tp) for tp in sorted(tps))


def _y(fig: go.Figure, top: float, scale: Scale = RECORDS) -> None:
    values, labels = scale.ticks(top)
    fig.update_yaxes(tickvals=values, ticktext=labels, range=[0, max(top, values[-1]) * 1.06])
