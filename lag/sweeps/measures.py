"""The columns of a case's row, computed by the same functions as What if."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assignors.model import AssignorError
from assignors.simulation.fold import fold
from assignors.whatif.comparison import SHARE, Outcome, compatible_assignors, with_change_to
from assignors.whatif.events import Scenario
from assignors.whatif.quality import Quality
from lag.sweeps.cases import case_scenario
from lag.sweeps.plan import Case, Plan

LOADS = ("produced_per_s", "weight", "lag_records")
"""Loads that determine the busiest member, by preference; the first that is known for every partition."""
PARTITIONS = "partitions"

Row = dict[str, Any]


def rows(plan: Plan, numbers: Iterable[int]) -> Iterator[Row]:
    """The rows of the cases with these numbers."""
    for number in numbers:
        case = plan.case(number)
        yield row(plan.scenarios[case.group], case)


def row(base: Scenario, case: Case) -> Row:
    """The row of one case; an impossible one has only the `reason`."""
    key = {"group_id": base.name, "assignor": case.assignor, "members": case.members, "failure": case.failure.value}
    try:
        return key | _figures(outcome(base, case))
    except AssignorError as error:
        return key | {"reason": str(error)}


def outcome(base: Scenario, case: Case) -> Outcome:
    """The outcome of a case. Raises AssignorError if the case is impossible."""
    if case.assignor not in compatible_assignors(base):
        raise AssignorError(f"{case.assignor} cannot plan a group of {base.assignor}.")
    scenario, first = with_change_to(case_scenario(base, case.members, case.failure), case.assignor)
    return Outcome(case.assignor, tuple(fold(scenario, first)))


def current_row(base: Scenario) -> Row:
    """The row of the present group; its own assignor plans it if its members own nothing."""
    key = {"group_id": base.name, "assignor": base.assignor, "members": len(base.members)}
    try:
        return key | quality(fold(base)[0].quality, base.assignor)
    except AssignorError as error:
        return key | {"reason": str(error)}


def _figures(found: Outcome) -> Row:
    last = found.generations[-1].quality
    changes = {
        "moved": found.moved(),
        "stayed": found.stayed(),
        "paused": found.paused(),
        "rebalances": found.rebalances(),
    }
    return changes | quality(last, found.assignor)


def quality(its: Quality, assignor: str) -> Row:
    """The columns of one assignment; unknown values are missing or None."""
    hits, together = its.rack_hits or (None, None), its.co_partitioned or (None, None)
    return {
        "partitions": its.partitions,
        "idle": len(its.idle_members),
        "unassigned": its.unassigned,
        "most": its.most,
        "spread": its.spread,
        **_hottest(its, is_shared=assignor == SHARE),
        "rack_hits": hits[0],
        "rack_known": hits[1],
        "together": together[0],
        "together_of": together[1],
        "drain_s": its.drain.seconds,
        "drain_reason": its.drain.reason,
    }


def _hottest(its: Quality, *, is_shared: bool) -> Mapping[str, Any]:
    """The busiest member: the load, the member, its share of all load, and the share as a multiple of the mean."""
    for name in LOADS:
        skew = its.skews.get(name)
        if skew is not None and skew.ratio is not None and skew.known == skew.partitions:
            shown = (name, skew.member, skew.most / skew.total, skew.ratio)
            return dict(zip(_HOTTEST, shown, strict=True))
    if is_shared or not its.assigned:  # shared partitions count for each of their owners
        return {}
    share = its.most / its.assigned
    return dict(zip(_HOTTEST, (PARTITIONS, None, share, share * its.members), strict=True))


_HOTTEST = ("hot_by", "hot_member", "hot_share", "hot_ratio")
