"""What comes of a case, as the columns of its row. The figures are those of What-if, by the same functions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assignors.model import AssignorError
from assignors.whatif.comparison import SHARE, Outcome, compatible_assignors, with_change_to
from assignors.whatif.events import Scenario
from assignors.whatif.generations import fold
from assignors.whatif.quality import Quality
from lag.sweeps.cases import staged
from lag.sweeps.plan import Case, Plan

HOTTEST_BY = ("produced_per_s", "weight", "lag_records")
"""Loads that tell the busiest member, the best first, of those known of every partition; else their number does."""
PARTITIONS = "partitions"

Row = dict[str, Any]


def rows(plan: Plan, numbers: Iterable[int]) -> Iterator[Row]:
    """The rows of those cases."""
    for number in numbers:
        case = plan.case(number)
        yield row(plan.scenarios[case.group], case)


def row(base: Scenario, case: Case) -> Row:
    """The row of one case; one that cannot be has no figures, and the `reason`."""
    key = {"group_id": base.name, "assignor": case.assignor, "members": case.members, "failure": case.failure.value}
    try:
        return key | _figures(outcome(base, case))
    except AssignorError as error:
        return key | {"reason": str(error)}


def outcome(base: Scenario, case: Case) -> Outcome:
    """Where the case takes the group. Raises AssignorError when the group, its assignor or the failure forbids it."""
    if case.assignor not in compatible_assignors(base):
        raise AssignorError(f"{case.assignor} cannot plan a group of {base.assignor}.")
    scenario, first = with_change_to(staged(base, case.members, case.failure), case.assignor)
    return Outcome(case.assignor, tuple(fold(scenario, first)))


def as_it_is(base: Scenario) -> Row:
    """The group before anything happens; its own assignor plans where nobody owns anything yet."""
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
    """The figures of one plan; what is not known is missing."""
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
    """The busiest member: by what, who, its share of all, and that as a multiple of the mean."""
    for name in HOTTEST_BY:
        skew = its.skews.get(name)
        if skew is not None and skew.ratio is not None and skew.known == skew.partitions:
            shown = (name, skew.member, skew.most / skew.total, skew.ratio)
            return dict(zip(_HOTTEST, shown, strict=True))
    if is_shared or not its.assigned:  # shared partitions count for each of their owners
        return {}
    share = its.most / its.assigned
    return dict(zip(_HOTTEST, (PARTITIONS, None, share, share * its.members), strict=True))


_HOTTEST = ("hot_by", "hot_member", "hot_share", "hot_ratio")
