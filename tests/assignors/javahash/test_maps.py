"""Our hash maps iterate as Java's do, on the JDK that the tests run on."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.java_maps import MapOracle
from tests.oracle.tally import run


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_operations_leave_the_same_order_as_in_java(java_classes: Callable[[str], Any], seed: int) -> None:
    tally = run(MapOracle(), seed, cases=1500)
    assert tally.cases.total() == 1500
    assert tally.differences[:3] == []
