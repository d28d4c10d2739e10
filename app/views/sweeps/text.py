"""Sentences of the Sweeps page, and of `groupscope sweep` (Markdown only where it says so)."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from app.ui import formats
from app.views.sweeps.tables import GAINING, Gain, Measure, records
from assignors.scenario import ScenarioError

LOADS = {"produced_per_s": "rate", "weight": "weight", "lag_records": "lag", "partitions": "partitions"}
"""Display names of the measures of load."""

FAILURES = {
    "none": "nothing fails",
    "crash": "one member crashes",
    "third": "a third of the members crashes",
    "rack": "one rack is gone",
    "restart": "all restart in turn",
}


def value(measure: Measure, of: float | None) -> str:
    """A cell of that measure."""
    if of is None or pd.isna(of):
        return formats.DASH
    if measure.is_share:
        return share(of)
    return formats.duration(of) if measure.is_time else formats.count(of)


def brief(measure: Measure, of: float) -> str:
    """The same, short enough for a cell of a heat map."""
    if not measure.is_time:
        return value(measure, of).removesuffix(" %")
    if of == float("inf"):
        return "∞"
    size, unit = next((size, unit) for size, unit in _UNITS if of >= 2 * size or size == 1)
    return f"{of / size:.0f} {unit}"


_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def drains(seconds: float | None) -> str | None:
    """A drain time in a table; None where it is not known."""
    return None if seconds is None or pd.isna(seconds) else formats.duration(seconds)


def share(of: float) -> str:
    """0.3125 -> "31 %"; one decimal below ten."""
    percent = 100 * of
    return f"{percent:.0f} %" if percent >= 9.95 or not percent else f"{percent:.1f} %"


def do(row: Mapping[str, Any]) -> str:
    """The recommendation for a group, as plain text."""
    then = f"{row['to_assignor']} on {formats.plural(int(row['to_members']), 'member')}" if _has_case(row) else ""
    match Gain(row["gain"]):
        case Gain.DRAINS:
            return f"{then}: its lag drains in {formats.duration(row['to_drain_s'])}, now never"
        case Gain.STUCK:
            return "its lag never drains, in no case"
        case Gain.ASSIGNOR:
            return f"{row['to_assignor']}: {_busiest(row)} instead of {share(row['hot_share'])}"
        case Gain.FEWER:
            return f"{then}: as good as {int(row['members']):,}"
        case Gain.UNKNOWN:
            return f"unknown: {row['why']}"
    return "as good as it gets"


def _has_case(row: Mapping[str, Any]) -> bool:
    return isinstance(row["to_assignor"], str)


def _busiest(row: Mapping[str, Any]) -> str:
    return f"the busiest member has {share(row['to_share'])} of the {LOADS[row['hot_by']]}"


def fleet(frame: pd.DataFrame) -> str:
    """What a sweep finds, in one sentence."""
    counts = {kind: int((frame["gain"] == kind.value).sum()) for kind in Gain}
    said = ", ".join(f"{counts[kind]:,} {words}" for kind, words in _FROM.items() if counts[kind])
    gaining, unknown = sum(counts[kind] for kind in GAINING), counts[Gain.UNKNOWN]
    if unknown == len(frame):
        return f"The gain of {formats.plural(unknown, 'group')} is unknown"
    if gaining:
        parts = [f"{gaining:,} of {formats.plural(len(frame), 'group')} would gain: {said}"]
    else:
        parts = [f"None of {formats.plural(len(frame) - unknown, 'group')} would gain"]
    if counts[Gain.STUCK]:
        parts.append(f"the lag of {counts[Gain.STUCK]:,} never drains in any case")
    if unknown:
        parts.append(f"{unknown:,} unknown")
    return "; ".join(parts)


def refusal(error: Exception) -> str:
    """Why a case cannot be opened, in one sentence or two (Markdown); a scenario may have many faults."""
    if not isinstance(error, ScenarioError):
        return formats.md(str(error))
    first, *others = error.problems
    more = f" And {formats.plural(len(others), 'more problem')}." if others else ""
    return formats.md(f"{': '.join(part for part in (first.path, first.message) if part)}{more}")


_FROM = {
    Gain.DRAINS: "whose lag never drains now",
    Gain.ASSIGNOR: "from another assignor",
    Gain.FEWER: "from fewer members",
}


def group(row: Mapping[str, Any]) -> str:
    """What a sweep finds about one group, in one sentence (Markdown)."""
    now = f"now {formats.code(row['assignor'])} on {formats.plural(int(row['members']), 'member')}"
    if row["gain"] == Gain.UNKNOWN:
        return f"The gain of {formats.code(row['group_id'])} is unknown: {formats.md(row['why'])}; {now}"
    if not _has_case(row):
        return f"{formats.code(row['group_id'])}: {formats.md(do(row))}; {now}"
    moves = formats.plural(int(row["moved"]), "move")
    return f"{formats.code(row['group_id'])} would gain from {formats.md(do(row))}; {moves}, {now}"


def map_alt(cells: pd.DataFrame, measure: Measure) -> str:
    """The finding of the heat map."""
    known = records(cells[cells[measure.key].notna()])
    if not known:
        return f"{measure.label}: unknown in every case"
    least, *_, most = sorted([known[0], *known], key=itemgetter(measure.key))
    return f"{measure.label} by assignor and members: from {_cell(measure, least)} to {_cell(measure, most)}"


def _cell(measure: Measure, row: Mapping[str, Any]) -> str:
    members = formats.plural(int(row["members"]), "member")
    return f"{value(measure, row[measure.key])} with {row['assignor']} on {members}"


def frontier_alt(best: pd.DataFrame, measure: Measure) -> str:
    """The finding of the frontier."""
    if best.empty:
        return f"{measure.label}: unknown or never in every case"
    steps = "; ".join(_cell(measure, row) for row in records(best))
    return f"{measure.label} by number of members: {steps}"
