"""A predicted rebalance is recognised when it happens, and compared move by move."""

import assignors
from assignors.model import Member, Topic, TopicPartition
from assignors.whatif.events import AddPartitions, Event, Join, Leave, Scenario
from lag.generations.prediction import Deviation, Prediction, matched_ids, outcomes
from lag.generations.recorded import RecordedGeneration, TimedEvent
from tests.lag.generations.recorded.events import classic, recorded

TOPICS = {"orders": Topic("orders", 4)}


def member(name: str, *owned: int) -> Member:
    return Member(
        name,
        client_id=f"c-{name}",
        topics=("orders",),
        owned=tuple(TopicPartition("orders", number) for number in owned),
        generation=2 if owned else None,
    )


def predicted(*events: Event, assignor: str = "range", at_ms: int = 2500) -> Prediction:
    scenario = Scenario("g", assignor, TOPICS, (member("a", 0, 1), member("b", 2, 3)), events)
    return Prediction(at_ms, "What if", tuple(assignors.fold(scenario)))


def happened(*events: TimedEvent, protocol: str = "range") -> list[RecordedGeneration]:
    return recorded(classic(2000, 2, {"a": [0, 1], "b": [2, 3]}, protocol=protocol), *events)


JOIN = Event(30_000, Join(member("z")))
LEAVE = Event(30_000, Leave("b"))


def test_a_leave_that_goes_as_predicted_is_recognised() -> None:
    found = outcomes(happened(classic(3000, 3, {"a": [0, 1, 2, 3]})), [predicted(LEAVE)])
    assert {at: (one.as_predicted, one.moves, one.deviations) for at, one in found.items()} == {1: (2, 2, ())}


def test_a_member_that_joined_is_matched_by_its_client_id() -> None:
    found = outcomes(happened(classic(3000, 3, {"a": [0, 1], "b": [2], "c-z-17": [3]})), [predicted(JOIN)])
    assert [(one.as_predicted, one.moves) for one in found.values()] == [(1, 1)]


def test_a_partition_that_went_elsewhere_is_named() -> None:
    *_, one = outcomes(happened(classic(3000, 3, {"a": [0, 1], "b": [3], "z": [2]})), [predicted(JOIN)]).values()
    assert (one.as_predicted, one.moves) == (0, 1)
    assert one.deviations == (
        Deviation(TopicPartition("orders", 2), "b", "z"),
        Deviation(TopicPartition("orders", 3), "z", "b"),
    )


def test_another_event_is_not_the_predicted_one() -> None:
    assert outcomes(happened(classic(3000, 3, {"b": [0, 1, 2, 3]})), [predicted(LEAVE)]) == {}
    assert outcomes(happened(classic(3000, 3, {"a": [0, 1], "b": [2], "z": [3]})), [predicted(LEAVE)]) == {}


def test_a_rebalance_before_the_prediction_is_not_the_predicted_one() -> None:
    assert outcomes(happened(classic(3000, 3, {"a": [0, 1, 2, 3]})), [predicted(LEAVE, at_ms=3500)]) == {}


def test_a_rebalance_from_another_assignment_is_not_the_predicted_one() -> None:
    grown = classic(2200, 3, {"a": [0, 1, 4], "b": [2, 3]})
    assert outcomes(happened(grown, classic(3000, 4, {"a": [0, 1, 2, 3, 4]})), [predicted(LEAVE)]) == {}


def test_both_rounds_of_a_cooperative_join_are_recognised() -> None:
    rounds = (
        classic(3000, 3, {"a": [0, 1], "b": [2], "z": []}, protocol="cooperative-sticky"),
        classic(3100, 4, {"a": [0, 1], "b": [2], "z": [3]}, protocol="cooperative-sticky"),
    )
    guess = predicted(JOIN, assignor="cooperative-sticky")
    found = outcomes(happened(*rounds, protocol="cooperative-sticky"), [guess])
    assert {at: (one.as_predicted, one.moves) for at, one in found.items()} == {1: (1, 1), 2: (0, 0)}


def test_a_first_assignment_is_no_move_but_can_go_elsewhere() -> None:
    grown = predicted(Event(30_000, AddPartitions("orders", 5)), assignor="cooperative-sticky")
    went_to_b = classic(3000, 3, {"a": [0, 1], "b": [2, 3, 4]}, protocol="cooperative-sticky")
    found = outcomes(happened(went_to_b, protocol="cooperative-sticky"), [grown])
    assert [(one.as_predicted, one.moves) for one in found.values()] == [(0, 0)]
    assert [one.deviations for one in found.values()] == [(Deviation(TopicPartition("orders", 4), "a", "b"),)]


def test_of_several_predictions_the_newest_counts() -> None:
    made = happened(classic(3000, 3, {"a": [0, 1, 2, 3]}))
    found = outcomes(made, [predicted(LEAVE, at_ms=2600), predicted(LEAVE, at_ms=2100)])
    assert found[1].prediction.at_ms == 2600


def test_new_members_are_matched_by_client_id_else_in_the_order_of_joining() -> None:
    joined = [Member("x-1", client_id="x"), Member("y-1", client_id="y")]
    assert matched_ids([Member("p", client_id="y"), Member("q", client_id="p")], joined) == {"p": "y-1", "q": "x-1"}
    assert matched_ids([Member("p")], joined) is None
