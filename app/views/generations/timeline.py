"""The rebalances of one group on a time axis, above who owned what."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from html import escape

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.base import clip
from app.ui.groups import recorded_text
from app.views.generations import charts, filters, lanes, text
from app.views.generations.cause_looks import cause_looks
from lag.generations.cause_kind import CauseKind, cause_kinds
from lag.generations.ownership import OwnershipTimeline, ownership_timeline, without_owner_in
from lag.generations.recorded import Recording

KEY = "timeline"
MAX_CELLS = 2_000_000
"""Partitions times generations: of larger groups only the newest generations are drawn."""
MAX_HOVER = 90


def timeline(live: Recording, at: int, names: Mapping[str, str], now_ms: int, choose: Callable[[int], None]) -> None:
    """Filters, marks and lanes; a click on a mark calls `choose` with the position of its generation."""
    rebalances = recorded_text.rebalances(live)
    causes = [cause_kinds(one.generation.event) for one in rebalances]
    with st.container(gap="xxsmall"):
        widgets.titled("Timeline", _legend(causes))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            times = [one.generation.at_ms for one in rebalances]
            key = filters.time_range(_default(times, live.generations[at].generation.at_ms, now_ms))
            kinds = filters.causes(causes)
        owned = ownership_timeline(_newest(live), now_ms)
        since_ms = max(filters.since_ms(key, owned.until_ms), owned.since_ms)
        its = _figure_of(live, causes, owned, names, since_ms, kinds, at)
        _draw(its, choose)
        hint = (
            "" if state.is_phone() else "Drag to zoom, double-click to show all; click a mark to select its generation."
        )
        widgets.note(f"{formats.md(text.total_gap(owned))} {text.left_out(its.lanes)} {hint}")


def _default(times_ms: Sequence[int], chosen_ms: int, now_ms: int) -> str:
    """The shortest range with the newest rebalances, and the chosen one."""
    key = filters.shortest(times_ms, now_ms)
    return key if chosen_ms >= filters.since_ms(key, now_ms) else filters.shortest([chosen_ms], now_ms)


def _newest(live: Recording) -> Recording:
    """The recording, or its newest generations if it has too many partitions."""
    widest = max(len(one.generation.moves.layout) for one in live.generations)
    most = max(2, MAX_CELLS // max(1, widest))
    return Recording(live.origin, live.generations[-most:], live.problem, live.timeouts)


def _figure_of(
    live: Recording,
    causes: Sequence[Sequence[CauseKind]],
    owned: OwnershipTimeline,
    names: Mapping[str, str],
    since_ms: int,
    kinds: frozenset[CauseKind],
    at: int,
) -> charts.Timeline:
    """The marks of the rebalances, of the causes of each a member that is gone first, and the lanes below them."""
    zone, local = state.zone(), state.axis(since_ms, owned.until_ms)
    marks = [
        _mark(live, position, CauseKind.LEFT if CauseKind.LEFT in cause else cause[0], names, zone, local)
        for position, cause in enumerate(causes, 1)
        if live.generations[position].generation.at_ms >= since_ms and kinds & set(cause)
    ]
    below = lanes.lanes(owned, names, since_ms, local)
    return charts.Timeline(marks, below, local(since_ms), local(owned.until_ms), at)


def _mark(
    live: Recording, position: int, kind: CauseKind, names: Mapping[str, str], zone: tzinfo, local: lanes.Local
) -> charts.Mark:
    made = live.generations[position].generation
    event = " ".join(names.get(word, word) for word in made.event.split(" "))
    lines = [
        f"Generation {made.number}: {event}",
        formats.clock(made.at_ms, zone),
        text.gap(without_owner_in(live, position)),
    ]
    hover = "<br>".join(escape(clip(line, MAX_HOVER), quote=False) for line in lines)
    return charts.Mark(local(made.at_ms), kind, event, hover, position)


def _draw(its: charts.Timeline, choose: Callable[[int], None]) -> None:
    fig = charts.timeline(its, state.palette(), zoom=not state.is_phone())
    shown = formats.plural(len(its.marks), "rebalance")
    below = formats.plural(len(its.lanes.names), its.lanes.kind)
    alt = f"{shown} from {its.since:%H:%M:%S} to {its.until:%H:%M:%S}, above {below}"
    widgets.chart(fig, KEY, alt, on_select=lambda: _clicked(choose), selection_mode="points")


def _clicked(choose: Callable[[int], None]) -> None:
    points = st.session_state[KEY].selection.points
    data = points[0].get("customdata") if points else None
    if isinstance(data, list | tuple) and len(data) == 2:  # a mark; bars have only the hover text
        choose(int(data[1]))


def _legend(causes: Iterable[Iterable[CauseKind]]) -> str:
    """The kinds of causes that occur, and the fills of the lanes."""
    colours, there = state.palette(), {kind for kinds in causes for kind in kinds}
    looks = cause_looks(colours).items()
    marks = [(look.glyph, look.ink, look.word) for kind, look in looks if kind in there]
    return widgets.swatches([*marks, ("■", colours.kept_fill, "owner"), ("■", colours.unassigned, "no owner")])
