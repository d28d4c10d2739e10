"""Our classic coordinator and Kafka's own, put through the same requests and the same time."""

from collections.abc import Callable
from typing import Any

import pytest

from assignors.simulation.classic.rebalance import Rebalance
from tests.oracle.classic_coordinator import ClassicOracle, Sequence
from tests.oracle.tally import generator, run

SEQUENCES = 500


@pytest.fixture(scope="module")
def oracle(java_classes: Callable[[str], Any]) -> ClassicOracle:
    return ClassicOracle()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_sequences_end_as_kafka_ends_them(oracle: ClassicOracle, seed: int) -> None:
    tally = run(oracle, seed, cases=SEQUENCES)
    assert tally.cases == {"classic coordinator": SEQUENCES}
    assert tally.differences[:1] == []


def test_the_seed_alone_decides_the_sequence(oracle: ClassicOracle) -> None:
    first, second = (_steps() for _ in range(2))
    assert first == second
    assert len(first) == 1 + 30  # the settings, and what was done


def _steps() -> list[str]:
    sequence = Sequence(generator(7, 3))
    assert sequence.run() == ""
    return sequence.steps


def test_a_millisecond_too_much_is_found(oracle: ClassicOracle, monkeypatch: pytest.MonkeyPatch) -> None:
    delay = Rebalance._delay
    monkeypatch.setattr(Rebalance, "_delay", lambda self, delay_ms, left_ms: delay(self, delay_ms + 1, left_ms))
    tally = run(oracle, 1, cases=20)
    assert "timers" in tally.differences[0][1].difference
