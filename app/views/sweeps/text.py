"""Sentences and values of the Sweeps page (Markdown where it says so)."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pandas as pd

from app.server.sweep_run import SweepRun
from app.ui import formats
from app.ui.sweep_findings import has_case, recommendation, share
from app.views.sweeps.tables import Measure
from assignors.scenario import ScenarioError
from lag.sweeps.fleet import Fleet
from lag.sweeps.gains import Gain, records
from lag.sweeps.plan import Plan

FAILURES = {
    "none": "nothing fails",
    "crash": "one member crashes",
    "third": "a third of the members crash",
    "rack": "one rack fails",
    "restart": "all members restart, one by one",
}
MEMBERS_HELP = "Member counts: `1..20`, `3,6,12`, or multiples of the present number: `x0.5,x1,x2`"
LARGER = ":gray[For a larger fleet, run the sweep on Spark. This command includes every group of the cluster:]"
NO_CLUSTER = "No cluster is configured, so there are no live groups to sweep."
NO_POLL = "The groups appear here after the first poll of the cluster. Then reload the page."
NO_HISTORY = (
    "This dashboard has no history, so sweeps are kept until you close or reload this page. To store them, start it "
    "with `--history PATH`."
)
MAX_PROBLEMS = 3
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def value(measure: Measure, of: float | None) -> str:
    """A value of the measure."""
    if of is None or pd.isna(of):
        return formats.DASH
    if measure.is_share:
        return share(of)
    return formats.duration(of) if measure.is_time else formats.count(of)


def brief(measure: Measure, of: float) -> str:
    """A value short enough for a cell of the heat map."""
    if not measure.is_time:
        return value(measure, of).removesuffix(" %")
    if of == float("inf"):
        return "∞"
    size, unit = next((size, unit) for size, unit in _UNITS if of >= 2 * size or size == 1)
    return f"{of / size:.0f} {unit}"


def drains(seconds: float | None) -> str | None:
    """A drain time in a table; None: not known."""
    return None if seconds is None or pd.isna(seconds) else formats.duration(seconds)


def refusal(error: Exception) -> str:
    """Why a case cannot be opened (Markdown); of a scenario's problems the first and the number of others."""
    if not isinstance(error, ScenarioError):
        return formats.md(str(error))
    first, *others = error.problems
    more = f" And {formats.plural(len(others), 'more problem')}." if others else ""
    return formats.md(f"{': '.join(part for part in (first.path, first.message) if part)}{more}")


def group(row: Mapping[str, Any]) -> str:
    """What the sweep finds about one group, in one sentence (Markdown)."""
    now = f"now {formats.code(row['assignor'])} on {formats.plural(int(row['members']), 'member')}"
    if row["gain"] == Gain.UNKNOWN:
        return f"The gain of {formats.code(row['group_id'])} is unknown: {formats.md(row['why'])}; {now}"
    if not has_case(row):
        return f"{formats.code(row['group_id'])}: {formats.md(recommendation(row))}; {now}"
    moves = formats.plural(int(row["moved"]), "move")
    return f"{formats.code(row['group_id'])} would gain from {formats.md(recommendation(row))}; {moves}, {now}"


def map_alt(cells: pd.DataFrame, measure: Measure) -> str:
    """Describes the heat map."""
    known = records(cells[cells[measure.key].notna()])
    if not known:
        return f"{measure.label}: unknown in every case"
    lowest, highest = min(known, key=itemgetter(measure.key)), max(known, key=itemgetter(measure.key))
    return f"{measure.label} by assignor and members: from {_case(measure, lowest)} to {_case(measure, highest)}"


def _case(measure: Measure, row: Mapping[str, Any]) -> str:
    members = formats.plural(int(row["members"]), "member")
    return f"{value(measure, row[measure.key])} with {row['assignor']} on {members}"


def frontier_alt(best: pd.DataFrame, measure: Measure) -> str:
    """Describes the frontier."""
    if best.empty:
        return f"{measure.label}: unknown or never in every case"
    steps = "; ".join(_case(measure, row) for row in records(best))
    return f"{measure.label} by number of members: {steps}"


def size(plan: Plan) -> str:
    """How large a sweep is."""
    return f"{formats.plural(len(plan.scenarios), 'group')}, {formats.plural(len(plan), 'case')}"


def left_out(found: Fleet) -> list[str]:
    """Which groups a sweep of the cluster leaves out, and what could not be read (Markdown)."""
    sentences = [formats.md(str(problem)) for problem in found.problems[:MAX_PROBLEMS]]
    if found.skipped:
        groups = formats.plural(len(found.skipped), "group")
        sentences.append(f"{groups} cannot be planned: {formats.md(str(found.skipped[0]))}")
    return sentences


def progress(run: SweepRun) -> str:
    """How far a run is."""
    parts = [
        f"{run.groups_done:,} of {formats.plural(run.groups, 'group')}",
        f"{run.cases_done:,} of {formats.plural(run.cases, 'case')}",
        "" if run.left_s is None else f"about {formats.duration(max(1.0, run.left_s))} left",
        f"stops after {formats.duration(run.deadline_s)}" if run.is_too_slow else "",
    ]
    return formats.joined(*parts)
