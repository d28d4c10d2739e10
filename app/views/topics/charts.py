"""The map of groups and topics: who reads what."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from app.ui import verdicts
from app.ui.charts import base, lanes
from app.ui.charts.lanes import Box, Style
from app.ui.formats import plural, short
from app.ui.theme import Palette
from app.views.topics.tables import Reader
from lag.verdict.catalogue import VERDICTS

ROW_PX = 22
TOPIC_CHARS = 16


def who_reads_what(topics: Sequence[str], rows: Mapping[str, Mapping[str, Reader]], colours: Palette) -> go.Figure:
    """Groups (rows) x topics (columns), in the colour of the group's verdict, with its lag in the topic.

    `rows` has the readers of each group by topic. The symbol of the verdict is part of the row's label.
    """
    names = [_label(name, its) for name, its in rows.items()]
    below = round(base.MONO_CHAR_PX * TOPIC_CHARS + 12)
    fig = base.figure(colours, ROW_PX * len(rows) + below + 4, left=base.lane_px(names), top=2, bottom=below)
    width = max(len(topics), lanes.LEAST_SLOTS)
    lanes.boxes(fig, [[_box(its.get(topic), colours) for topic in topics] for its in rows.values()], width)
    lanes.name_lanes(fig, names, colours.text)
    fig.update_xaxes(
        range=[-0.5, width - 0.5],
        tickvals=list(range(len(topics))),
        ticktext=[base.clip(topic, TOPIC_CHARS) for topic in topics],
        tickangle=-90,
        tickfont={"family": base.MONO},
    )
    return fig


def _label(group: str, its: Mapping[str, Reader]) -> str:
    status = next(iter(its.values())).status
    return f"{VERDICTS[status].symbol} {base.clip(group, 20)}"


def _box(reader: Reader | None, colours: Palette) -> Box:
    if reader is None:
        return Box("", Style(colours.ramp[0][1], colours.text), "")
    lag = "lag unknown" if reader.lag is None else f"{plural(reader.lag, 'record')} behind"
    hover = f"{reader.group}<br>{VERDICTS[reader.status].label} · {lag}"
    style = Style(verdicts.fill(reader.status, colours), verdicts.ink(reader.status, colours))
    return Box(short(reader.lag), style, hover)
