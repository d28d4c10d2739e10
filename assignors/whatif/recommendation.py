"""Which assignor to choose for a scenario, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce

from assignors.whatif.comparison import Outcome
from assignors.whatif.rebalance_protocol import is_classic, protocol_of

LEAST_GAIN = 0.1
"""A drain time counts as shorter from 10 % on: it rests on estimated rates."""


class Measure(StrEnum):
    """What a recommendation compares; the lower value is better."""

    UNASSIGNED = "unassigned"
    IDLE = "idle"
    DRAIN = "drain"
    SPREAD = "spread"
    SPLIT = "split"
    OTHER_RACK = "other_rack"
    PAUSED = "paused"
    MOVES = "moves"
    REBALANCES = "rebalances"


LASTING = (Measure.UNASSIGNED, Measure.IDLE, Measure.DRAIN, Measure.SPREAD)
"""What lasts after the scenario, most important first: it decides before what is paid once."""
LOCALITY = (Measure.SPLIT, Measure.OTHER_RACK)
"""What only some consumers need: no reason to change the assignor, but a reason to keep it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The values of one measure with the recommended assignor and with the other one.

    DRAIN is in seconds (infinite = never). SPREAD is the most partitions of a member minus the fewest. SPLIT counts
    partition numbers whose topics have different owners, OTHER_RACK partitions without a replica in the owner's rack.
    """

    measure: Measure
    value: float
    other: float


@dataclass(frozen=True, slots=True)
class Change:
    """What the rebalances of a change to another assignor cost."""

    moves: int
    paused: int
    rebalances: int

    @classmethod
    def of(cls, outcome: Outcome) -> "Change | None":
        """None if the group had the assignor at the start."""
        its = [made.quality for made in outcome.change]
        if not its:
            return None
        return cls(sum(one.moved for one in its), sum(one.paused for one in its), sum(one.rebalances for one in its))


@dataclass(frozen=True, slots=True)
class Recommendation:
    """`assignor` rather than `other`: the group's own, or the best one that it could change to.

    `gains` and `costs` are the measures in which it is better and worse; both are empty for equal results, and for an
    `other` that cannot assign the group. Paused partitions, moves and rebalances are those of the events: `change` is
    what the change to `assignor` costs, once; None where the group has it, or owns nothing yet.
    """

    assignor: str
    other: str
    gains: tuple[Difference, ...]
    costs: tuple[Difference, ...]
    change: Change | None = None


def recommendation(outcomes: Sequence[Outcome], own: str) -> Recommendation | None:
    """The assignor to choose; None when no other assignor for this type of group has a result.

    Another one is better when it has the advantage in the first measure that differs: what lasts before paused
    partitions, moves and rebalances of the events. Without a lasting advantage it must not lose locality. What the
    change to it costs once is no part of these counts.
    """
    others = [its for its in outcomes if its.assignor != own and its.generations and _fits(its.assignor, own)]
    mine = next((its for its in outcomes if its.assignor == own), None)
    if mine is None or not others:
        return None
    if not mine.generations:
        return Recommendation(reduce(_better, others).assignor, own, (), ())
    better = [its for its in others if _better(mine, its) is its]
    chosen = reduce(_better, better) if better else mine
    other = mine if better else reduce(_better, others)
    found = _differences(chosen, other)
    gains = tuple(one for one in found if one.value < one.other)
    costs = tuple(one for one in found if one.value > one.other)
    return Recommendation(chosen.assignor, other.assignor, gains, costs, Change.of(chosen))


def _fits(assignor: str, own: str) -> bool:
    """Whether a group with its own assignor can use the other one without a change of its type."""
    return is_classic(protocol_of(assignor)) == is_classic(protocol_of(own))


def _better(one: Outcome, other: Outcome) -> Outcome:
    """The better of two; the first unless the second has the advantage."""
    found = _differences(other, one)
    lasting = [its for its in found if its.measure in LASTING]
    loses_locality = any(its.measure in LOCALITY and its.value > its.other for its in found)
    deciding = lasting or [its for its in found if its.measure not in LOCALITY and not loses_locality]
    return other if deciding and deciding[0].value < deciding[0].other else one


def _differences(one: Outcome, other: Outcome) -> list[Difference]:
    """The measures that are known for both and differ, in the order of `Measure`."""
    values, others = _values(one), _values(other)
    found = [Difference(key, values[key], others[key]) for key in Measure if key in values and key in others]
    return [its for its in found if its.value != its.other and _counts(its)]


def _counts(its: Difference) -> bool:
    if its.measure is Measure.SPREAD:
        return max(its.value, its.other) > 1  # 0 and 1 are both as even as the number of partitions allows
    if its.measure is not Measure.DRAIN:
        return True
    low, high = sorted((its.value, its.other))
    return low < high * (1 - LEAST_GAIN)


def _values(outcome: Outcome) -> dict[Measure, float]:
    last, once = outcome.generations[-1].quality, Change.of(outcome) or Change(0, 0, 0)
    values = {
        Measure.UNASSIGNED: last.unassigned,
        Measure.IDLE: len(last.idle_members),
        Measure.DRAIN: last.drain.seconds,
        Measure.SPREAD: last.spread,
        Measure.SPLIT: _missed(last.co_partitioned),
        Measure.OTHER_RACK: _missed(last.rack_hits),
        Measure.PAUSED: outcome.paused() - once.paused,
        Measure.MOVES: outcome.moved() - once.moves,
        Measure.REBALANCES: outcome.rebalances() - once.rebalances,
    }
    return {measure: value for measure, value in values.items() if value is not None}


def _missed(pair: tuple[int, int] | None) -> int | None:
    return None if pair is None else pair[1] - pair[0]
