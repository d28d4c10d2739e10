"""The filters of rebalances by time and by cause, in the URL as `range` and `cause`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from app.ui import link_values, state, widgets
from app.views.generations.cause_looks import cause_looks
from lag.generations.cause_kind import CauseKind

MINUTE_MS = 60_000
ALL = "all"
RANGES: Mapping[str, tuple[str, int | None]] = {
    "15m": ("15 min", 15 * MINUTE_MS),
    "1h": ("1 h", 60 * MINUTE_MS),
    "6h": ("6 h", 360 * MINUTE_MS),
    "24h": ("24 h", 1440 * MINUTE_MS),
    ALL: ("All", None),
}
"""Label and length in ms; None: as far back as generations are kept."""

RANGE, CAUSE = "range", "cause"
USUAL = 10
"""Without a range in the URL, the shortest one is used that holds this many rebalances, or all of them."""


def shortest(times_ms: Sequence[int], now_ms: int) -> str:
    """The key of the shortest range that holds the newest USUAL times, or all of them."""
    wanted = sorted(times_ms)[-USUAL:]
    if not wanted:
        return "1h"
    return next(key for key, (_, length) in RANGES.items() if length is None or wanted[0] >= now_ms - length)


def time_range(default: str) -> str:
    """The segmented control of ranges; returns the key of the chosen one."""
    chosen = link_values.one_of(RANGE, RANGES) or default
    widgets.segments(
        "Time",
        RANGES,
        chosen,
        "generations_range",
        partial(state.set_url, RANGE),
        format_func=lambda key: RANGES[key][0],
        width="content",
    )
    return chosen


def since_ms(key: str, now_ms: int) -> int:
    """The beginning of the range; 0: no limit."""
    length = RANGES[key][1]
    return 0 if length is None else now_ms - length


def causes(kinds: Iterable[Iterable[CauseKind]]) -> frozenset[CauseKind]:
    """Pills of the kinds that occur, with their counts; returns the chosen ones, all if none is."""
    counts = Counter(kind for each in kinds for kind in each)
    looks = cause_looks(state.palette())
    asked = link_values.some_of(CAUSE, list(CauseKind))
    options = [kind.value for kind in CauseKind if counts[kind] or kind.value in asked]
    labels = {kind.value: f"{looks[kind].label} {counts[kind]:,}" for kind in CauseKind}
    chosen = state.chips("Cause", options, labels.__getitem__, CAUSE)
    return frozenset(map(CauseKind, chosen)) or frozenset(CauseKind)
