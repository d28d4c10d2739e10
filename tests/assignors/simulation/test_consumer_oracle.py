"""Our KIP-848 coordinator and Kafka's own, put through the same requests and the same time."""

from collections.abc import Callable
from typing import Any

import pytest

from assignors.simulation.consumer.heartbeat import Turn
from tests.oracle.consumer_coordinator import ConsumerOracle, Sequence
from tests.oracle.tally import generator, run

SEQUENCES = 500


@pytest.fixture(scope="module")
def oracle(java_classes: Callable[[str], Any]) -> ConsumerOracle:
    return ConsumerOracle()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_sequences_end_as_kafka_ends_them(oracle: ConsumerOracle, seed: int) -> None:
    tally = run(oracle, seed, cases=SEQUENCES)
    assert tally.cases == {"consumer coordinator": SEQUENCES}
    assert tally.differences[:1] == []


def test_the_seed_alone_decides_the_sequence(oracle: ConsumerOracle) -> None:
    first, second = (_steps() for _ in range(2))
    assert first == second
    assert len(first) == 2 + 30  # the settings, the topics, and what was done


def _steps() -> list[object]:
    sequence = Sequence(generator(7, 3))
    assert sequence.run() == ""
    return sequence.steps


def test_a_target_computed_too_soon_is_found(oracle: ConsumerOracle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Turn, "_may_plan", lambda self: True)
    tally = run(oracle, 1, cases=40)
    assert "group" in tally.differences[0][1].difference
