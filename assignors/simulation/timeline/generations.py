"""The generations of a timeline, as `fold` returns them: the same charts show both."""

from itertools import pairwise

from assignors.arrays import group_arrays
from assignors.model import Assignment, Group
from assignors.simulation.timeline.tables import INITIAL_STATE, Plan, Timeline
from assignors.whatif.events import Loads
from assignors.whatif.generations import Generation
from assignors.whatif.moves import moves
from assignors.whatif.quality import measure
from assignors.whatif.rebalance_protocol import RebalanceProtocol, paused

NO_LOADS = Loads()


def generations(timeline: Timeline, loads: Loads = NO_LOADS) -> list[Generation]:
    """One for each assignment that became Stable, at that time. Raises AssignorError as `measure` does.

    A generation that existed at the start has no moves.
    """
    after = [Assignment(plan.generation, plan.by_member) for plan in timeline.plans]
    was_there = bool(after) and timeline.plans[0].cause == INITIAL_STATE
    made = zip(timeline.plans, pairwise([after[0] if was_there else Assignment(None, {}), *after]), strict=True)
    return [_generation(plan, before, after, timeline.scenario, loads) for plan, (before, after) in made]


def _generation(plan: Plan, before: Assignment, after: Assignment, scenario: str, loads: Loads) -> Generation:
    group = Group(scenario, plan.members, plan.topics, plan.assignor)
    changes = moves(before, after, group_arrays(group).layout)
    rebalances, pauses = 1, None
    if plan.cause == INITIAL_STATE:
        rebalances = pauses = 0
    elif plan.generation == before.generation:  # another process has the place of a static member
        rebalances, pauses = 0, paused(changes, RebalanceProtocol.COOPERATIVE)
    quality = measure(before, after, group, loads, changes=changes, rebalances=rebalances, pauses=pauses)
    return Generation(
        plan.generation,
        plan.at_ms,
        plan.cause,
        plan.members,
        before,
        after,
        changes,
        quality,
        plan.assignor,
        plan.topics,
    )
