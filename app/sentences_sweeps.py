"""Sentences of the Sweeps page, and of `groupscope sweep` (Markdown only where it says so)."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from app import formats
from app.tables.sweeps import Gain, Measure, records

LOADS = {"produced_per_s": "rate", "weight": "weight", "lag_records": "lag", "partitions": "partitions"}
"""Measures of a member's load, and what people call them."""

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


def share(of: float) -> str:
    """0.3125 -> "31 %"; one decimal below ten."""
    percent = 100 * of
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %"


def do(row: Mapping[str, Any]) -> str:
    """What is to be done about a group, as plain text."""
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
            return str(row["reason"]) if isinstance(row["reason"], str) else "no case of it can be planned"
    return "as good as it gets"


def _has_case(row: Mapping[str, Any]) -> bool:
    return isinstance(row["to_assignor"], str)


def _busiest(row: Mapping[str, Any]) -> str:
    return f"the busiest member has {share(row['to_share'])} of the {LOADS[row['hot_by']]}"


def fleet(frame: pd.DataFrame) -> str:
    """What a sweep finds, in one sentence."""
    counts = frame["gain"].value_counts()
    said = [
        words.format(n=formats.count(count))
        for kind, words in _FLEET.items()
        if (count := int(counts.get(kind.value, 0)))
    ]
    gaining = sum(int(counts.get(kind.value, 0)) for kind in (Gain.DRAINS, Gain.ASSIGNOR, Gain.FEWER))
    groups = formats.plural(len(frame), "group")
    head = f"{formats.count(gaining)} of {groups} would gain" if gaining else f"None of {groups} would gain anything"
    return f"{head}: {', '.join(said)}" if said else head


_FLEET = {
    Gain.DRAINS: "{n} with lag that never drains now, and then would",
    Gain.ASSIGNOR: "{n} from another assignor",
    Gain.FEWER: "{n} do as well with fewer members",
    Gain.STUCK: "{n} never drain in any case",
}


def group(row: Mapping[str, Any]) -> str:
    """What a sweep finds about one group, in one sentence (Markdown)."""
    now = f"{formats.code(row['assignor'])} on {formats.plural(int(row['members']), 'member')}"
    said = f"{formats.code(row['group_id'])}, now {now}: {formats.md(do(row))}"
    if _has_case(row) and not pd.isna(row["moved"]):
        said += f", {formats.plural(int(row['moved']), 'move')} on the way"
    return said


def map_alt(cells: pd.DataFrame, measure: Measure) -> str:
    """The finding of the heat map."""
    known = records(cells[cells[measure.key].notna()])
    if not known:
        return f"{measure.label}: not known for any case"
    least, *_, most = sorted([known[0], *known], key=itemgetter(measure.key))
    return f"{measure.label} by assignor and members: from {_cell(measure, least)} to {_cell(measure, most)}"


def _cell(measure: Measure, row: Mapping[str, Any]) -> str:
    members = formats.plural(int(row["members"]), "member")
    return f"{value(measure, row[measure.key])} with {row['assignor']} on {members}"


def frontier_alt(best: pd.DataFrame, measure: Measure) -> str:
    """The finding of the frontier."""
    if best.empty:
        return f"{measure.label}: not known, or never, in every case"
    steps = "; ".join(_cell(measure, row) for row in records(best))
    return f"{measure.label} that members buy: {steps}"
