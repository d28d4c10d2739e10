"""The last rebalances of all groups: recorded or inferred, newest first, within a budget."""

from collections.abc import Sequence
from dataclasses import replace

from lag.generations.cause_kind import CauseKind
from lag.generations.ownership import FROM_POLLS, UNFINISHED, WithoutOwner
from lag.generations.recent import rebalance_counts, recent_rebalances
from lag.generations.recorded import GenerationRecorder, Origin, TimedEvent
from lag.generations.recorded.model import RecordedState
from lag.generations.state_buffer import AssignmentState
from tests.lag.generations.recorded.events import NAMES, classic
from tests.lag.generations.recorded.test_classic import FIRST, SECOND
from tests.lag.generations.recorded.test_consumer import BEGIN


def states(*events: TimedEvent) -> Sequence[RecordedState]:
    recorder = GenerationRecorder(NAMES.get)
    recorder.take(events, whole=True)
    return recorder.states("g")


def test_rebalances_of_all_groups_come_newest_first_with_cause_moves_gap_and_members() -> None:
    found = recent_rebalances({"billing": states(FIRST, SECOND), "orders": states(*BEGIN)}, {}).rebalances
    assert [(one.group_id, one.number, one.at_ms) for one in found] == [
        ("orders", 3, 3000),
        ("billing", 2, 2000),
        ("billing", 1, 1000),
        ("orders", 2, 1000),
    ]
    joined = found[1]
    assert (joined.event, joined.kinds, joined.origin) == ("c-b joined", (CauseKind.JOINED,), Origin.RECORDED)
    assert (joined.moved, joined.partitions, joined.members_before, joined.members_after) == (1, 3, 1, 2)
    assert joined.without_owner == WithoutOwner(3, 12, 36, at_least=True)


def test_the_second_round_of_a_cooperative_rebalance_has_the_gap_since_the_first() -> None:
    rounds = (
        classic(1000, 1, {"a": [0, 1]}, protocol="cooperative-sticky"),
        classic(2000, 2, {"a": [0], "b": []}, protocol="cooperative-sticky"),
        classic(2100, 3, {"a": [0], "b": [1]}, protocol="cooperative-sticky"),
    )
    newest, *_ = recent_rebalances({"g": states(*rounds)}, {}).rebalances
    assert (newest.event, newest.without_owner) == ("c-b joined (rebalance 2)", WithoutOwner(1, 100, 100))


def test_only_the_newest_within_the_time_and_the_budget_are_computed() -> None:
    known = {"g": states(*(classic(1000 * n, n, {"a": [0]} if n % 2 else {"a": [0], "b": [1]}) for n in range(1, 9)))}
    found = recent_rebalances(known, {}, most=4)
    assert ([one.number for one in found.rebalances], found.has_older) == ([8, 7, 6, 5], True)
    found = recent_rebalances(known, {}, most_cells=400)
    assert ([one.number for one in found.rebalances], found.has_older) == ([8], True)


def test_those_up_to_a_time_are_listed_and_those_from_a_time_on_are_counted() -> None:
    its = {"g": states(*(classic(1000 * n, n, {"a": [0]} if n % 2 else {"a": [0], "b": [1]}) for n in range(1, 9)))}
    found = recent_rebalances(its, {}, most=2, until_ms=5000)
    assert ([one.number for one in found.rebalances], found.has_older) == ([5, 4], True)
    assert rebalance_counts(its, {"g": [], "h": states(FIRST, SECOND)}, 2000) == {"g": 7, "h": 1}


def test_a_group_without_recorded_states_is_inferred_and_its_gaps_are_unknown() -> None:
    seen = [AssignmentState(one.number, one.at_ms, one.event, one.group) for one in states(FIRST, SECOND)]
    found = recent_rebalances({"orders": states(*BEGIN)}, {"billing": seen, "orders": seen}).rebalances
    assert [(one.group_id, one.origin) for one in found] == [
        ("orders", Origin.RECORDED),
        ("billing", Origin.INFERRED),
        ("billing", Origin.INFERRED),
        ("orders", Origin.RECORDED),
    ]
    assert found[1].without_owner == WithoutOwner(reason=FROM_POLLS)


def test_the_return_of_a_static_member_is_no_rebalance() -> None:
    before, after = states(FIRST, SECOND)[-2:]
    assert recent_rebalances({"g": [before, replace(after, number=before.number)]}, {}).rebalances == ()


def test_known_rebalances_are_not_computed_again_until_their_times_are_known() -> None:
    kept = {"orders": states(*BEGIN[:-1]), "billing": states(FIRST, SECOND)}
    before = recent_rebalances(kept, {}).rebalances
    assert before[0].without_owner.reason == UNFINISHED
    after = recent_rebalances({**kept, "orders": states(*BEGIN)}, {}, before).rebalances
    assert after[0].without_owner == WithoutOwner(2, 400, 800, at_least=True)
    assert all(new is old for new, old in zip(after[1:], before[1:], strict=True))
