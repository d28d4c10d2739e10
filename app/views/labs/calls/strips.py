"""Pictures with a column for each call: the calls to a coordinator, and the assignment of a consumer."""

from collections.abc import Callable, Sequence

import plotly.graph_objects as go

from app.ui.charts import base, limits
from app.ui.charts.lanes import BLANK, CLEAR, LEAST_SLOTS, Box, Style, boxes, name_lanes
from app.ui.theme import Palette
from app.views.labs.calls.charts import LABEL_PX, MOST_LETTERS, ROW_PX
from assignors.labs.calls import Turn
from assignors.model import TopicPartition

GROUP, CALL = "group", "call"
CLUSTER = "cluster"
"""The row of calls that name no caller: time, topics, the coordinator's broker."""


def letters(turns: Sequence[Turn]) -> dict[str, str]:
    """The letter of each state of the group that occurs, by its name."""
    names = dict.fromkeys(turn.state[GROUP] for turn in turns)
    return {name: {"no group": "–", "no coordinator": "!"}.get(name, name[0].upper()) for name in names}


def requests(turns: Sequence[Turn], at: int, colours: Palette) -> go.Figure:
    """The group's state after each call, and a row for each caller: ✓ a call that succeeds, ✕ one that is refused."""
    letter, callers = letters(turns), dict.fromkeys(turn.call.who or CLUSTER for turn in turns)

    def box(name: str, step: int) -> Box:
        turn = turns[step]
        if name == GROUP:
            plain = Style(CLEAR, colours.text, colours.dim)
            return Box(letter[turn.state[GROUP]], plain, f"{turn.call.text}: {turn.state[GROUP]}")
        return _call(turn, colours) if (turn.call.who or CLUSTER) == name else BLANK

    return _strip(turns, at, [GROUP, *callers], box, colours)


def assignments(turns: Sequence[Turn], at: int, colours: Palette) -> go.Figure:
    """Whether each call succeeds, and a row for each partition: + assigned by this call, ✓ still assigned."""
    rows = {str(tp): tp for tp in partitions(turns)}

    def box(name: str, step: int) -> Box:
        turn = turns[step]
        if name == CALL:
            return _call(turn, colours)
        if rows[name] not in assigned(turn):
            return BLANK
        is_new = not step or rows[name] not in assigned(turns[step - 1])
        style = Style(colours.gained, colours.background) if is_new else _done(colours)
        return Box("+" if is_new else "✓", style, f"{turn.call.text}: {name} is assigned")

    return _strip(turns, at, [CALL, *rows], box, colours)


def assigned(turn: Turn) -> frozenset[TopicPartition]:
    """The partitions that the consumer is assigned after a call."""
    return frozenset(its.partition for its in turn.offsets if its.is_assigned)


def partitions(turns: Sequence[Turn]) -> list[TopicPartition]:
    """The partitions that are drawn: of many those that are ever assigned."""
    ever = frozenset[TopicPartition]().union(*map(assigned, turns))
    every = [its.partition for its in turns[-1].offsets]
    return sorted(every, key=lambda tp: tp not in ever)[: limits.STRIP_ROWS]


def _done(colours: Palette) -> Style:
    return Style(colours.kept_fill, colours.text)


def _call(turn: Turn, colours: Palette) -> Box:
    style = Style(colours.revoked, colours.revoked_ink) if turn.error else _done(colours)
    return Box("✕" if turn.error else "✓", style, f"{turn.call.text}: {turn.outcome}")


def _strip(
    turns: Sequence[Turn], at: int, names: Sequence[str], box: Callable[[str, int], Box], colours: Palette
) -> go.Figure:
    """A row for each name, a column for each call with the current one framed; of many calls those around it."""
    first, last = limits.window(len(turns), at, limits.LABELLED_LANE)
    rows = [[box(name, step) for step in range(first, last)] for name in names]
    slots, now = max(LEAST_SLOTS, last - first), at - first
    fig = base.figure(colours, ROW_PX * len(rows) + 24, left=LABEL_PX, right=8, top=2, bottom=22)
    boxes(fig, rows, slots)
    fig.add_vrect(x0=now - 0.5, x1=now + 0.5, line={"color": colours.gained, "width": 3}, fillcolor=CLEAR)
    steps = list(range(last - first))
    fig.update_xaxes(range=[-0.6, slots - 0.4], tickvals=steps, ticktext=[str(first + step + 1) for step in steps])
    name_lanes(fig, [base.clip(name, MOST_LETTERS) for name in names], colours.text)
    return fig
