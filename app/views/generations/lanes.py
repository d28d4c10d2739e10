"""The lanes of the timeline: partitions with their owners, or members with their counts where there are too many."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape

from app.ui import formats
from app.ui.movement.encoding import lane_names
from app.views.generations.charts import Bar, Fill, Lanes
from lag.generations.ownership import Holding, OwnershipTimeline, Span

MAX_PARTITIONS = 60
"""Beyond it, lanes are members with the number of their partitions."""
MAX_MEMBERS = 60

FILLS: Mapping[Holding, Fill] = {
    Holding.OWNED: Fill.OWNED,
    Holding.UNOWNED: Fill.UNOWNED,
    Holding.UNKNOWN: Fill.UNKNOWN,
}

Local = Callable[[int], datetime]
"""From ms since 1970 to the viewer's time."""


def lanes(owned: OwnershipTimeline, names: Mapping[str, str], since_ms: int, local: Local) -> Lanes:
    """The lanes from `since_ms` on."""
    if len(owned.layout) <= MAX_PARTITIONS:
        return _by_partition(owned, names, since_ms, local)
    return _by_member(owned, names, since_ms, local)


def _by_partition(owned: OwnershipTimeline, names: Mapping[str, str], since_ms: int, local: Local) -> Lanes:
    members = list(owned.history.members)
    short = dict(zip(members, lane_names([names.get(member, member) for member in members], 12), strict=True))
    partitions = owned.partitions()
    labels = [str(tp.partition) for tp in partitions]
    if len(owned.layout.names) > 1:
        labels = [str(tp) for tp in partitions]
    bars: list[Bar] = []
    for lane, tp in enumerate(partitions):
        for span in _within(owned.spans(lane), since_ms):
            text = short[span.owner] if span.owner is not None else ""
            bars.append(_bar(lane, span, text, f"{tp} · {_owner(span, names)}", local))
    return Lanes("partition", labels, bars)


def _within(spans: Sequence[Span], since_ms: int) -> Iterator[Span]:
    for span in spans:
        if span.end_ms > since_ms and span.holding is not Holding.ABSENT:
            yield Span(max(span.start_ms, since_ms), span.end_ms, span.holding, span.owner)


def _owner(span: Span, names: Mapping[str, str]) -> str:
    if span.holding is Holding.OWNED and span.owner is not None:
        return names.get(span.owner, span.owner)
    return span.holding.value


def _bar(lane: int, span: Span, text: str, what: str, local: Local) -> Bar:
    lasted = formats.brief(span.end_ms - span.start_ms)
    hover = escape(f"{what} · {lasted}", quote=False)
    return Bar(lane, local(span.start_ms), local(span.end_ms), FILLS[span.holding], text, hover)


def _by_member(owned: OwnershipTimeline, names: Mapping[str, str], since_ms: int, local: Local) -> Lanes:
    """The count of each member from when an assignment was written to the next; members with most partitions first."""
    counts, times = owned.history.counts, [*owned.owned.max(axis=1).tolist(), owned.until_ms]
    order = sorted(range(counts.shape[1]), key=lambda at: -int(counts[:, at].max()))[:MAX_MEMBERS]
    labels = [names.get(owned.history.members[at], owned.history.members[at]) for at in order]
    bars: list[Bar] = []
    for lane, member in enumerate(order):
        for start_ms, end_ms, count in _runs(counts[:, member].tolist(), times):
            if end_ms > since_ms and count:
                hover = escape(f"{labels[lane]} · {formats.plural(count, 'partition')}", quote=False)
                begin = local(max(start_ms, since_ms))
                bars.append(Bar(lane, begin, local(end_ms), Fill.OWNED, f"{count:,}", hover))
    return Lanes("member", lane_names(labels), bars, counts.shape[1] - len(order))


def _runs(counts: Sequence[int], times: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """(start, end, count) of times with the same count."""
    start = 0
    for at in range(1, len(counts) + 1):
        if at == len(counts) or counts[at] != counts[start]:
            yield times[start], times[at], counts[start]
            start = at
