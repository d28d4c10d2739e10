"""The rebalances of one group on a time axis, above who owned what."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from html import escape

import streamlit as st

from app.ui import formats, state, widgets
from app.ui.charts.base import clip
from app.views.generations import charts, filters, lanes, text
from app.views.generations.cause_looks import cause_looks
from lag.generations.cause_kind import CauseKind, cause_kinds
from lag.generations.ownership import OwnershipTimeline, ownership_timeline, without_owner
from lag.generations.recorded import RecordedGeneration, Recording

KEY = "timeline"
MAX_CELLS = 2_000_000
"""Partitions times generations: of larger groups only the newest generations are drawn."""
MAX_HOVER = 90


@dataclass(frozen=True, slots=True)
class Rebalances:
    """The generations of the timeline with their positions in the page's list, and the kinds of their causes."""

    positions: Sequence[int]
    shown: Sequence[RecordedGeneration]
    kinds: Sequence[tuple[CauseKind, ...]]


def timeline(live: Recording, at: int, names: Mapping[str, str], now_ms: int, choose: Callable[[int], None]) -> None:
    """Filters, marks and lanes; a click on a mark calls `choose` with the position of its generation."""
    rebalances = _rebalances(live)
    with st.container(gap="xxsmall"):
        widgets.titled("Timeline", _legend(rebalances))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            times = [one.generation.at_ms for one in rebalances.shown]
            key = filters.time_range(_default(times, live.generations[at].generation.at_ms, now_ms))
            kinds = filters.causes(rebalances.kinds)
        owned = ownership_timeline(_newest(live), now_ms)
        since_ms = max(filters.since_ms(key, owned.until_ms), owned.since_ms)
        _draw(_figure_of(live, rebalances, owned, names, since_ms, kinds, at), choose)
        widgets.note(f"{formats.md(text.total_gap(owned))} {_zoom_hint()}")


def _default(times_ms: Sequence[int], chosen_ms: int, now_ms: int) -> str:
    """The shortest range with the newest rebalances, and the chosen one."""
    key = filters.shortest(times_ms, now_ms)
    return key if chosen_ms >= filters.since_ms(key, now_ms) else filters.shortest([chosen_ms], now_ms)


def _rebalances(live: Recording) -> Rebalances:
    """All generations but the first, which is the starting point."""
    shown = live.generations[1:]
    return Rebalances(range(1, len(live.generations)), shown, [cause_kinds(one.generation.event) for one in shown])


def _newest(live: Recording) -> Recording:
    """The recording, or its newest generations if it has too many partitions."""
    widest = max(len(one.generation.moves.layout) for one in live.generations)
    most = max(2, MAX_CELLS // max(1, widest))
    return Recording(live.origin, live.generations[-most:], live.problem, live.timeouts)


def _figure_of(
    live: Recording,
    rebalances: Rebalances,
    owned: OwnershipTimeline,
    names: Mapping[str, str],
    since_ms: int,
    kinds: frozenset[CauseKind],
    at: int,
) -> charts.Timeline:
    zone = state.zone()
    local = partial(formats.moment, tz=zone)
    labels, bars = lanes.lanes(owned, names, since_ms, local)
    marks = [
        _mark(live, position, one, _gravest(kind), names, zone)
        for position, one, kind in zip(rebalances.positions, rebalances.shown, rebalances.kinds, strict=True)
        if one.generation.at_ms >= since_ms and kinds & set(kind)
    ]
    return charts.Timeline(marks, labels, bars, local(since_ms), local(owned.until_ms), at)


def _gravest(kinds: Sequence[CauseKind]) -> CauseKind:
    """The kind that its mark shows: a member that is gone before others."""
    return CauseKind.LEFT if CauseKind.LEFT in kinds else kinds[0]


def _mark(
    live: Recording, position: int, one: RecordedGeneration, kind: CauseKind, names: Mapping[str, str], zone: tzinfo
) -> charts.Mark:
    made = one.generation
    event = " ".join(names.get(word, word) for word in made.event.split(" "))
    found = without_owner(one, live.origin, live.generations[position - 1].generation.at_ms)
    lines = [f"Generation {made.number}: {event}", formats.clock(made.at_ms, zone), text.gap(found)]
    hover = "<br>".join(escape(clip(line, MAX_HOVER), quote=False) for line in lines)
    return charts.Mark(formats.moment(made.at_ms, zone), kind, event, hover, position)


def _draw(its: charts.Timeline, choose: Callable[[int], None]) -> None:
    fig = charts.timeline(its, state.palette(), zoom=not _is_phone())
    shown = formats.plural(len(its.marks), "rebalance")
    what = "partition" if all(name.rpartition("-")[2].isdigit() for name in its.lanes) else "member"
    alt = f"{shown} from {its.since:%H:%M:%S} to {its.until:%H:%M:%S}, above {formats.plural(len(its.lanes), what)}"
    st.plotly_chart(
        fig,
        theme=None,
        config=widgets.PLOTLY,
        key=KEY,
        alt=alt,
        on_select=lambda: _clicked(choose),
        selection_mode="points",
    )


def _clicked(choose: Callable[[int], None]) -> None:
    points = st.session_state[KEY].selection.points
    data = points[0].get("customdata") if points else None
    if isinstance(data, list | tuple) and len(data) == 2:  # a mark; bars have only the hover text
        choose(int(data[1]))


def _is_phone() -> bool:
    """On a phone dragging scrolls the page."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def _zoom_hint() -> str:
    return "" if _is_phone() else "Drag to zoom, double-click for all; click a mark to select its generation."


def _legend(rebalances: Rebalances) -> str:
    """The kinds of causes that occur, and the fills of the lanes."""
    colours, there = state.palette(), {kind for kinds in rebalances.kinds for kind in kinds}
    looks = cause_looks(colours).items()
    marks = [(look.glyph, look.ink, look.word) for kind, look in looks if kind in there]
    return widgets.swatches([*marks, ("■", colours.kept_fill, "owner"), ("■", colours.unassigned, "no owner")])
