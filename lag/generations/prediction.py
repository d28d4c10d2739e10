"""Recognises a predicted rebalance in the recorded generations, and compares it move by move.

A prediction is a fold (`assignors.whatif.generations.fold`) of a live group with an event. It has happened when the
group rebalanced from the same assignment and the same members joined and left. Members that were there have the same
member id; those that joined are matched by client id, else in the order in which they joined.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assignors.model import Assignment, Member, TopicPartition
from assignors.whatif.generations import Generation
from assignors.whatif.moves import NOBODY, Moves
from lag.generations.changes import owners_of
from lag.generations.recorded import RecordedGeneration


@dataclass(frozen=True, slots=True)
class Prediction:
    """Predicted generations of a live group; the first one is its start. `at_ms`: when it was predicted.

    `source` says where, for example "What if".
    """

    at_ms: int
    source: str
    generations: tuple[Generation, ...]


@dataclass(frozen=True, slots=True)
class Deviation:
    """A partition whose predicted new owner is not the recorded one; None: no owner. Recorded member ids."""

    tp: TopicPartition
    predicted: str | None
    recorded: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A predicted rebalance and the recorded one, generation `number`.

    `moves`: partitions that their owner was predicted to give up; `as_predicted`: those that went where predicted.
    `deviations` has first assignments too.
    """

    prediction: Prediction
    number: int
    moves: int
    as_predicted: int
    deviations: tuple[Deviation, ...]


def outcomes(generations: Sequence[RecordedGeneration], predictions: Sequence[Prediction]) -> dict[int, Outcome]:
    """By position in `generations`: the prediction that came true there, the newest of several."""
    found: dict[int, Outcome] = {}
    for prediction in sorted(predictions, key=lambda one: one.at_ms):
        found |= _happened(generations, prediction)
    return found


def _happened(generations: Sequence[RecordedGeneration], prediction: Prediction) -> dict[int, Outcome]:
    """The outcomes of a prediction, from the first rebalance on that it fits; {} if it did not happen."""
    for at in range(1, len(generations)):
        one = generations[at].generation
        if one.at_ms >= prediction.at_ms and one.quality.rebalances:
            found = dict(_follow(generations, at, prediction))
            if found:
                return found
    return {}


def _follow(
    generations: Sequence[RecordedGeneration], at: int, prediction: Prediction
) -> Iterator[tuple[int, Outcome]]:
    """The rebalances from `at` on, as long as the same members join and leave as predicted."""
    ids: dict[str, str] = {}
    steps = prediction.generations
    if not steps or owners(steps[0].after, {}) != owners(generations[at].generation.before, {}):
        return
    pairs = zip(range(at, len(generations)), pairwise(steps), strict=False)
    for position, (old, new) in pairs:
        recorded = generations[position].generation
        matched = matched_ids(_joined(old, new), _joined(generations[position - 1].generation, recorded))
        if matched is None or not recorded.quality.rebalances:
            return
        ids |= matched
        if {ids.get(member.member_id, member.member_id) for member in new.members} != _names(recorded):
            return
        yield position, _outcome(prediction, new, recorded, ids)


def _joined(old: Generation, new: Generation) -> list[Member]:
    before = _names(old)
    return [member for member in new.members if member.member_id not in before]


def _names(generation: Generation) -> set[str]:
    return {member.member_id for member in generation.members}


def matched_ids(predicted: Sequence[Member], recorded: Sequence[Member]) -> dict[str, str] | None:
    """Predicted member id -> recorded one; None if another number of members joined."""
    if len(predicted) != len(recorded):
        return None
    left = {member.member_id: member for member in recorded}
    found: dict[str, str] = {}
    for member in predicted:
        same = next((other for other in left.values() if _is_same(member, other)), None)
        if same is not None:
            found[member.member_id] = left.pop(same.member_id).member_id
    rest = [member.member_id for member in predicted if member.member_id not in found]
    return found | dict(zip(rest, left, strict=True))


def _is_same(predicted: Member, recorded: Member) -> bool:
    names = (predicted.instance_id, predicted.client_id) == (recorded.instance_id, recorded.client_id)
    return predicted.member_id == recorded.member_id or (names and predicted.client_id is not None)


def owners(assignment: Assignment, ids: Mapping[str, str]) -> dict[TopicPartition, frozenset[str]]:
    """Partition -> its owners, by the ids in `ids` where they have one."""
    return owners_of((ids.get(member, member), partitions) for member, partitions in assignment.by_member.items())


def _outcome(prediction: Prediction, predicted: Generation, recorded: Generation, ids: Mapping[str, str]) -> Outcome:
    """Compare the owners after both of all partitions whose owner changed in either."""
    would, have = owners(predicted.after, ids), owners(recorded.after, {})
    nobody: frozenset[str] = frozenset()
    changed = _changed(predicted.moves) | _changed(recorded.moves)
    different = {tp for tp in changed if would.get(tp, nobody) != have.get(tp, nobody)}
    moves = _given_up(predicted.moves)
    deviations = tuple(Deviation(tp, _name(would.get(tp)), _name(have.get(tp))) for tp in sorted(different))
    return Outcome(prediction, recorded.number, len(moves), len(moves - different), deviations)


def _changed(moves: Moves) -> set[TopicPartition]:
    """The partitions that have another owner after the moves, or none, or had none before."""
    return set(moves.layout.decode(moves.codes[moves.sources != moves.targets]))


def _given_up(moves: Moves) -> set[TopicPartition]:
    """The partitions that an owner gives up."""
    return set(moves.layout.decode(moves.codes[(moves.sources != NOBODY) & (moves.sources != moves.targets)]))


def _name(owners: frozenset[str] | None) -> str | None:
    """The owner; of several (share groups) all."""
    return ", ".join(sorted(owners)) if owners else None
