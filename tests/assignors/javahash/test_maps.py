"""Our hash maps iterate as Java's do, on the JDK that the tests run on."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle import java_maps


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_random_operations_leave_the_same_order_as_in_java(java_classes: Callable[[str], Any], seed: int) -> None:
    assert java_maps.differences(1500, seed)[:3] == []
