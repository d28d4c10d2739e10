"""Predictions kept for all sessions."""

from app.ui.groups.predictions import MAX_PREDICTIONS, Predictions
from lag.generations.prediction import Prediction


def prediction(at_ms: int) -> Prediction:
    return Prediction(at_ms, "What if", ())


def test_a_group_has_its_predictions_of_its_cluster_oldest_first() -> None:
    kept = Predictions()
    for cluster, group_id, at_ms in (("a", "g", 1), ("a", "g", 2), ("b", "g", 3), ("a", "h", 4)):
        kept.add(cluster, group_id, str(at_ms), prediction(at_ms))
    assert [one.at_ms for one in kept.of("a", "g")] == [1, 2]


def test_the_same_prediction_keeps_its_first_time() -> None:
    kept = Predictions()
    kept.add("a", "g", "k", prediction(1))
    kept.add("a", "g", "k", prediction(2))
    assert [one.at_ms for one in kept.of("a", "g")] == [1]


def test_the_oldest_predictions_are_dropped() -> None:
    kept = Predictions()
    for at_ms in range(MAX_PREDICTIONS + 1):
        kept.add("a", "g", str(at_ms), prediction(at_ms))
    assert [one.at_ms for one in kept.of("a", "g")] == list(range(1, MAX_PREDICTIONS + 1))
