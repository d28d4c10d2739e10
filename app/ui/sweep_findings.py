"""What a sweep finds, in the words of the Sweeps page and of `groupscope sweep`. Plain text, no Markdown."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from app.ui import formats
from lag.sweeps.gains import GAINING, Gain

LOADS = {"produced_per_s": "rate", "weight": "weight", "lag_records": "lag", "partitions": "partitions"}
"""`hot_by` -> the word for that load."""

_GAINS = {
    Gain.DRAINS: "whose lag never drains now",
    Gain.ASSIGNOR: "from another assignor",
    Gain.FEWER: "from fewer members",
}


def recommendation(row: Mapping[str, Any]) -> str:
    """The recommendation for a group, from a row of `lag.sweeps.gains.gains`."""
    best = f"{row['to_assignor']} on {formats.plural(int(row['to_members']), 'member')}" if has_case(row) else ""
    match Gain(row["gain"]):
        case Gain.DRAINS:
            return f"{best}: its lag drains in {formats.duration(row['to_drain_s'])} instead of never"
        case Gain.STUCK:
            return "its lag never drains in any case"
        case Gain.ASSIGNOR:
            busiest = f"the busiest member has {share(row['to_share'])} of the {LOADS[row['hot_by']]}"
            return f"{row['to_assignor']}: {busiest} instead of {share(row['hot_share'])}"
        case Gain.FEWER:
            return f"{best}: as good as {int(row['members']):,}"
        case Gain.UNKNOWN:
            return f"unknown: {row['why']}"
    return "nothing to gain"


def has_case(row: Mapping[str, Any]) -> bool:
    """Whether the row recommends a case."""
    return isinstance(row["to_assignor"], str)


def share(of: float) -> str:
    """0.3125 -> "31 %"; one decimal below ten."""
    percent = 100 * of
    return f"{percent:.0f} %" if percent >= 9.95 or not percent else f"{percent:.1f} %"


def conclusion(frame: pd.DataFrame) -> str:
    """What the sweep finds about all groups, in one sentence; `frame` is of `lag.sweeps.gains.gains`."""
    counts = {kind: int((frame["gain"] == kind.value).sum()) for kind in Gain}
    gaining, unknown = sum(counts[kind] for kind in GAINING), counts[Gain.UNKNOWN]
    if unknown == len(frame):
        return f"The gain of {formats.plural(unknown, 'group')} is unknown"
    if gaining:
        kinds = ", ".join(f"{counts[kind]:,} {words}" for kind, words in _GAINS.items() if counts[kind])
        parts = [f"{gaining:,} of {formats.plural(len(frame), 'group')} would gain: {kinds}"]
    else:
        parts = [f"None of {formats.plural(len(frame) - unknown, 'group')} would gain"]
    if counts[Gain.STUCK]:
        parts.append(f"the lag of {counts[Gain.STUCK]:,} never drains in any case")
    if unknown:
        parts.append(f"{unknown:,} unknown")
    return "; ".join(parts)
